"""Programs that a client runs: recorded, stepped through, changed, ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
from tests.mcp_server.talking import Caller, Refused, talk

pytestmark = [pytest.mark.torch, pytest.mark.slow]

STEPS = """
import torch
W = torch.tensor([1.0, 2.0], requires_grad=True)
h = torch.tanh(W)
loss = (3 * h).sum()
loss.backward()
print("gradient", W.grad.tolist())
torch.save(W.grad, "grad.pt")
"""

ENDLESS = """
import os, pathlib, time
pathlib.Path("pid").write_text(str(os.getpid()))
import torch
x = torch.ones(2, requires_grad=True)
while True:
    x.sum().backward()
    time.sleep(0.01)
"""


def test_a_client_stops_in_backward_goes_back_and_changes_a_gradient(tmp_path: Path) -> None:
    """What PyTorch computes behind the change is what the change makes of it."""
    torch = pytest.importorskip("torch")
    (tmp_path / "steps.py").write_text(STEPS)

    async def conversation(call: Caller) -> None:
        begun = await call("debug", program="steps.py", breakpoints=["op:tanh backward"])
        session = begun["session"]
        assert begun["state"] == "waits"
        assert begun["result"]["node"]["graph_pass"] == "backward"
        assert "[3., 3.]" in (await call("command", where=session, line="p grad"))["text"]
        past = await call("command", where=session, line="rn")
        assert past["is_past"]
        assert past["row"] < begun["row"]
        assert not (await call("command", where=session, line="continue"))["is_past"]
        await call("command", where=session, line="set grad = torch.tensor([10.0, 20.0])")
        ended = await call("command", where=session, line="continue")
        assert (ended["state"], ended["exit_status"]) == ("ended", 0)
        assert "gradient [" in ended["printed"]
        with pytest.raises(Refused, match="There is no session"):
            await call("end", session="another")
        assert (await call("end", session=session, keep="kept.gscope"))["log"] == "kept.gscope"
        assert (await call("doctor", log="kept.gscope"))["events"] > 5

    talk(tmp_path, conversation, "--run")
    slope = 1 - torch.tanh(torch.tensor([1.0, 2.0])) ** 2
    assert torch.allclose(torch.load(tmp_path / "grad.pt"), torch.tensor([10.0, 20.0]) * slope)


def test_a_program_that_fails_hangs_or_is_not_there_is_told(tmp_path: Path) -> None:
    """Its exit status, what it printed, and the log of what it did until then."""
    (tmp_path / "fails.py").write_text("import torch\ntorch.ones(2, requires_grad=True).sum().backward()\n1 / 0\n")
    (tmp_path / "endless.py").write_text(ENDLESS)

    async def conversation(call: Caller) -> None:
        failed = await call("record", program="fails.py")
        assert failed["exit_status"] == 1
        assert "ZeroDivisionError" in failed["printed"]
        assert (await call("nodes", log=failed["log"], select="op:sum"))["total"] == 2
        hung = await call("record", program="endless.py", seconds=8)
        assert hung["timed_out"]
        assert (await call("nodes", log=hung["log"]))["total"] > 2
        with pytest.raises(Refused, match="There is no script"):
            await call("record", program="nowhere.py")
        with pytest.raises(Refused, match="There is no script"):
            await call("debug", program="nowhere.py")

    talk(tmp_path, conversation, "--run")
    assert _is_gone(int((tmp_path / "pid").read_text()))


def test_a_client_that_is_killed_leaves_no_program(tmp_path: Path) -> None:
    """The server ends what it has started, and itself."""
    (tmp_path / "endless.py").write_text(ENDLESS)
    client = tmp_path / "client.py"
    client.write_text(
        """
import os, pathlib, sys
from tests.mcp_server.talking import talk
async def conversation(call):
    begun = await call("debug", program="endless.py", seconds=30)
    await call("command", where=begun["session"], line="continue", seconds=1)
    os.kill(os.getpid(), 9)
talk(pathlib.Path(sys.argv[1]), conversation, "--run")
"""
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    # The server inherits this pipe: it reads to its end when nobody of them is left.
    with subprocess.Popen(
        [sys.executable, str(client), str(tmp_path)], env=environment, stderr=subprocess.PIPE, cwd=root
    ) as process:
        _, said = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert b"Traceback" not in said
    assert _is_gone(int((tmp_path / "pid").read_text()))


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False
