"""`--json` of every command: what is printed keeps to the published schema, and says what the words say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from referencing import Registry, Resource

import graphscope as gs
from graphscope.cli import COMMANDS

from .conftest import ROOT, Run

REFERENCE: Final = ROOT / "docs" / "reference"
CONVERSATIONS: Final = {"debug", "open", "dap", "mcp"}
"""Commands that answer nothing: one talks with them."""

PUBLISHED: Final[dict[str, dict[str, Any]]] = {
    path.name: json.loads(path.read_text()) for path in REFERENCE.glob("*.schema.json")
}
REGISTRY: Final = Registry().with_resources(
    (name, Resource.from_contents(schema)) for name, schema in PUBLISHED.items()
)


def told(command: str, printed: str) -> Any:
    """The data that was printed, which keeps to the schema of its command."""

    def refuse(name: str) -> None:
        raise AssertionError(f"JSON has no {name}")

    found = json.loads(printed, parse_constant=refuse)
    jsonschema.Draft202012Validator(PUBLISHED[f"{command}.schema.json"], registry=REGISTRY).validate(found)
    return found


def test_every_command_that_answers_has_a_schema() -> None:
    assert {name.partition(".")[0] for name in PUBLISHED} == {*COMMANDS} - CONVERSATIONS


def test_what_reads_a_log_prints_data(tmp_path: Path, read: Run) -> None:
    for name in ("it.gscope", "again.gscope"):
        with gs.record(tmp_path / name):
            x = gs.tensor([0.0, -1.0], requires_grad=True)
            x.log().sum().backward()
    summary = told("summary", read("summary", "it.gscope", "--json").stdout)
    assert summary["nonfinite"]["kind"] == "nan"
    assert "inf" in str(summary["nonfinite"]["evidence"])
    assert told("doctor", read("doctor", "it.gscope", "--json").stdout)["events"] == summary["events"]
    assert told("diff", read("diff", "it.gscope", "again.gscope", "--json").stdout)["same"]
    packed = told("pack", read("pack", "it.gscope", "--json").stdout)
    assert Path(packed["out"]).stat().st_size == packed["bytes"]
    drawn = told("export", read("export", "it.gscope", "-o", "it.svg", "--json").stdout)
    assert Path(drawn["out"]).stat().st_size == drawn["bytes"]


def test_tables_and_queries_print_data(tmp_path: Path, read: Run) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    with gs.record(tmp_path / "it.gscope"):
        x = gs.tensor([2.0, 3.0], requires_grad=True)
        (x * x).sum().backward()
    written = told("export", read("export", "-o", "tables", "--format", "parquet", "--json").stdout)
    answer = told(
        "query", read("query", written["out"], "SELECT count(*) AS rows, 'nan'::DOUBLE FROM nodes", "--json").stdout
    )
    assert answer["columns"][0] == "rows"
    assert answer["rows"] == [[written["rows"]["nodes"], "nan"]]
    assert answer["is_whole"]


PROGRAM: Final = """
import os
import torch
print("from Python")
os.write(1, b"from below\\n")
os.system("echo from a child")
x = torch.ones(64, requires_grad=True)
torch.tanh(x).sum().backward()
raise SystemExit(3)
"""


@pytest.mark.slow
@pytest.mark.torch
def test_record_prints_nothing_else_whatever_the_program_prints(tmp_path: Path, read: Run) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "graphscope", "record", "--json", "--memory", "train.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    recorded = told("record", done.stdout)
    assert recorded == {"log": "train.gscope", "events": recorded["events"], "status": 3}
    assert done.returncode == 3
    for words in ("from Python", "from below", "from a child"):
        assert words in done.stderr
    assert told("summary", read("summary", "--json").stdout)["events"] == recorded["events"]
    memory = told("memory", read("memory", "--json").stdout)
    assert memory["held"][0]["bytes"] >= 64 * 4
