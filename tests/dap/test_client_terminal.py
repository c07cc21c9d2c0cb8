"""A program in a terminal of the client's own, which starts it there when the adapter asks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from tests.dap.talking import PATIENCE, ROOT, Client, Refused


class Terminals:
    """What a client does when it is asked to run something in a terminal: pipes do for one here."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.programs: list[subprocess.Popen[str]] = []

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        assert request["command"] == "runInTerminal"
        self.asked.append(wanted := request["arguments"])
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **wanted["env"]}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.programs.append(subprocess.Popen(wanted["args"], cwd=wanted["cwd"], env=environment, **pipes))
        return {"success": True, "body": {"processId": self.programs[-1].pid}}


ENTRY = {"stopOnEntry": True, "granularity": "node"}


def begin(client: Client, program: Path, **more: Any) -> None:
    client.initialize(supportsRunInTerminalRequest=True)
    client.request(
        "launch",
        {"program": str(program), "console": "integratedTerminal", **ENTRY, **more},
    )
    client.event("initialized")
    client.request("configurationDone")
    client.event("stopped")


@pytest.mark.slow
def test_a_program_runs_in_the_terminal_of_the_client(client: Client, chain: Path) -> None:
    client.asked = terminals = Terminals()
    begin(client, chain, env={"GREETING": "hello"}, cwd=str(chain.parent))
    (wanted,) = terminals.asked
    assert (wanted["kind"], wanted["cwd"], wanted["env"]) == ("integrated", str(chain.parent), {"GREETING": "hello"})
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:tanh"}]})
    client.move("continue")
    assert client.stack()[0]["line"] == 6
    client.move("stepBack")
    client.command("restart")
    client.event("stopped")
    assert len(terminals.programs) == 2
    client.request("setFunctionBreakpoints", {"breakpoints": []})
    client.request("continue", {"threadId": 1})
    client.event("terminated")
    first, second = terminals.programs
    assert second.communicate(timeout=PATIENCE)[0].count("done") == 3  # and what it prints is in that terminal
    assert client.output == ""
    assert first.communicate(timeout=PATIENCE)[0] == ""
    assert (first.returncode, second.returncode) == (0, 0)
    log = Path(client.position()["log"])
    client.leave()
    assert not log.exists()


@pytest.mark.slow
def test_a_program_ends_with_the_client_and_a_terminal_may_be_refused(client: Client, chain: Path) -> None:
    client.asked = lambda _: {"success": False, "message": "no terminals here", "body": {}}
    with pytest.raises(Refused, match="The client refused runInTerminal: no terminals here"):
        begin(client, chain)
    client.asked = terminals = Terminals()
    client.request("launch", {"program": str(chain), "console": "externalTerminal", **ENTRY})
    client.event("initialized")
    client.request("configurationDone")
    client.event("stopped")
    client.leave()
    assert terminals.programs[0].communicate(timeout=PATIENCE)[0] == ""
    assert terminals.programs[0].returncode == 0


TRIPLED = """\
import graphscope as gs

x = gs.tensor([1.0, 2.0])
y = x * 3
z = y + 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["", "run.gscope"])
def test_a_program_that_runs_again_there_is_compared_with_the_run_before(
    client: Client, tmp_path: Path, name: str
) -> None:
    program = tmp_path / "tripled.py"
    program.write_text(TRIPLED)
    client.asked = terminals = Terminals()
    begin(client, program, **({"log": str(tmp_path / name)} if name else {}))
    client.request("setFunctionBreakpoints", {"breakpoints": [{"name": "op:mul"}]})
    client.move("continue")
    before = Path(client.position()["log"])
    client.evaluate("again value = value * 10", "repl")
    client.event("stopped")
    assert terminals.programs[0].poll() == 0  # it was waited for
    assert client.evaluate("value") == "float32 2 [30., 60.]"
    assert "changed by hand" in client.evaluate("diff earlier", "repl")
    if name:
        assert [gs.load(tmp_path / each).end for each in ("run-1.gscope", name)] == [2, 3]
    after = Path(client.position()["log"])
    client.leave()
    assert [program.communicate(timeout=PATIENCE)[0] for program in terminals.programs] == ["", ""]
    assert (before.exists(), after.exists()) == (bool(name), bool(name))
