"""What a client reads of logs that PyTorch made, against what PyTorch says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("mcp")
from tests.mcp_server.talking import Caller, Refused, talk

pytestmark = [pytest.mark.torch, pytest.mark.slow]

PROGRAM = """
import torch
torch.manual_seed(0)
W = torch.randn(4, 3, requires_grad=True)
unused = torch.randn(2, requires_grad=True)
x = torch.randn(5, 4)
h = torch.tanh(x @ W)
y = h.log()
y.sum().backward()
torch.save({"W": W.detach(), "h": h.detach(), "grad": W.grad}, "truth.pt")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recording of a program, and what the program itself has kept."""
    place = tmp_path_factory.mktemp("mcp")
    (place / "train.py").write_text(PROGRAM)
    subprocess.run(
        [sys.executable, "-m", "graphscope", "record", "train.py"], cwd=place, check=True, capture_output=True
    )
    return place


def test_a_client_reads_all_of_a_log(folder: Path) -> None:
    """One conversation: what is there, where, and its numbers, in parts, none of them other than PyTorch's."""
    torch = pytest.importorskip("torch")
    truth: dict[str, Any] = torch.load(folder / "truth.pt")

    async def conversation(call: Caller) -> None:
        tools = (await call.client.list_tools()).tools
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert "record" not in {tool.name for tool in tools}
        assert all(tool.description for tool in tools)

        (log,) = (await call("recordings"))["items"]
        tanh = (await call("nodes", log=log, select="op:tanh and forward"))["items"]
        assert [(each["name"], each["shape"], each["source"]) for each in tanh] == [
            ("h", [5, 3], "h = torch.tanh(x @ W)")
        ]
        row = tanh[0]["row"]
        first = await call("value", log=log, row=row, limit=10)
        second = await call("value", log=log, row=row, offset=first["next_offset"], limit=10)
        assert first["items"] + second["items"] == truth["h"].reshape(-1).tolist()
        assert (first["total"], second["next_offset"]) == (15, None)
        assert (await call("value", log=log, row=row, index="1:3, -1"))["items"] == truth["h"][1:3, -1].tolist()
        statistics = first["statistics"]
        assert statistics["max"] == pytest.approx(truth["h"].max().item())

        leaf = (await call("nodes", log=log, select="name:W and leaf"))["items"][0]
        gradient = await call("value", log=log, row=leaf["row"], of="grad", limit=500)
        assert [float(each) for each in gradient["items"]] == pytest.approx(
            truth["grad"].reshape(-1).tolist(), nan_ok=True
        )

        told = await call("source", log=log, file="train.py", first=2, limit=3)
        assert list(told["lines"].values()) == PROGRAM.splitlines()[1:4]
        assert told["next_first"] == 5
        assert (await call("why", log=log, tensor="unused"))["symptom"] == "none"
        report = await call("doctor", log=log)
        assert PROGRAM.splitlines()[report["items"][0]["line"] - 1] == "y = h.log()"
        assert (await call("diff", log=log, other=log))["same"]
        assert (await call("node", log=log, row=row))["inputs"]["items"][0].split()[1] == "matmul"

    talk(folder, conversation)


REFUSED: Final = (
    ("doctor", {"log": "nowhere.gscope"}, "there is no log"),
    ("node", {"log": "train.gscope", "row": 10_000}, "10000"),
    ("value", {"log": "train.gscope", "row": 0, "index": "__import__('os')"}, "is no index"),
    ("value", {"log": "train.gscope", "row": 0, "index": "7, 7, 7"}, "does not fit"),
    ("nodes", {"log": "train.gscope", "select": "line:"}, "line:"),
    ("why", {"log": "train.gscope", "tensor": "nobody"}, "nobody"),
    ("source", {"log": "train.gscope", "file": "other.py"}, "recorded: "),
    ("recordings", {"folder": "nowhere"}, "There is no folder"),
)


def test_what_can_not_be_answered_is_said(folder: Path) -> None:
    """In a sentence, without a traceback, and the server serves on."""

    async def conversation(call: Caller) -> None:
        for tool, arguments, said in REFUSED:
            with pytest.raises(Refused) as refused:
                await call(tool, **arguments)
            assert said in str(refused.value)
            assert "Traceback" not in str(refused.value)
        assert (await call("recordings"))["total"] == 1

    talk(folder, conversation)


def test_each_answer_of_a_cut_log_says_so(folder: Path, tmp_path: Path) -> None:
    (whole,) = folder.glob("*.gscope")
    log = str(shutil.copytree(whole, tmp_path / "cut.gscope"))
    os.truncate(tmp_path / "cut.gscope" / "tables" / "sites-000.npy", 200)
    stopped = shutil.copytree(whole, tmp_path / "stopped.gscope")
    about = json.loads((stopped / "log.json").read_text())
    (stopped / "log.json").write_text(json.dumps({**about, "stopped": "the disk is full"}))
    said = {"missing": {log: "its tables/sites-000.npy is cut: the log was cut, or copied in part"}}

    async def conversation(call: Caller) -> None:
        row = (await call("nodes", log=str(whole)))["items"][-1]["row"]
        for more in ({"tool": "nodes"}, {"tool": "steps"}, {"tool": "node", "row": row}, {"tool": "value", "row": row}):
            assert "missing" not in await call(**more, log=str(whole))
            told = await call(**more, log=log)
            assert {"missing": told["missing"]} == said
        for logs in ({"log": log, "other": str(whole)}, {"log": str(whole), "other": log}):
            assert (await call("diff", **logs))["missing"] == said["missing"]
        assert (await call("command", where=log, line="when"))["missing"] == said["missing"]
        told = await call("steps", log=str(stopped))
        assert told["missing"] == {str(stopped): "the recording ended before the program did: the disk is full"}

    talk(folder, conversation, "--run")
