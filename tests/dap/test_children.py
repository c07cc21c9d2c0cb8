"""Processes that a program starts: each has a session of its own, where the client can begin one."""

from __future__ import annotations

import queue
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.dap.talking import Client

Write = Callable[[str], Path]

FAMILY = """\
import multiprocessing

import graphscope as torch


def work(number):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * number
    y.sum().backward()
    print("child", x.grad.numpy().tolist(), flush=True)


if __name__ == "__main__":
    child = multiprocessing.get_context("METHOD").Process(target=work, args=(3,))
    child.start()
    child.join()
    print("joined", child.exitcode)
"""


def begin(
    client: Client, program: Path, *, wishes: dict[str, Any] | None = None, cwd: str = "", **said: Any
) -> queue.Queue[dict[str, Any]]:
    """Launch a program; what it asks the client for arrives in the queue."""
    asked: queue.Queue[dict[str, Any]] = queue.Queue()

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        asked.put(request)
        return {"success": True, **said}

    client.asked = answer
    client.initialize(supportsStartDebuggingRequest=True)
    client.request("launch", {"program": str(program), **({"cwd": cwd} if cwd else {}), **(wishes or {})})
    client.event("initialized")
    client.request("configurationDone")
    return asked


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_breakpoint_in_a_child_stops_it(client: Client, write: Write, method: str) -> None:
    program = write(FAMILY.replace("METHOD", method))
    asked = begin(client, program)
    client.until(lambda: not asked.empty())
    request = asked.get_nowait()
    assert request["command"] == "startDebugging"
    child = Client(inside=True)
    try:
        child.initialize()
        child.request("attach", request["arguments"]["configuration"])
        child.event("initialized")
        lines = [{"line": 9, "condition": "forward"}, {"line": 8, "condition": "backward"}]
        child.request("setBreakpoints", {"source": {"path": str(program)}, "breakpoints": lines})
        child.request("configurationDone")
        child.event("stopped")
        top = child.stack()[0]
        assert (top["name"], top["line"]) == ("work", 9)
        assert child.evaluate("number", "hover", frameId=top["id"]) == "3"
        assert "MulBackward" in child.move("continue")["description"]
        child.leave()
    finally:
        child.close()
    client.event("terminated")
    assert "child [3.0, 3.0]" in client.output
    assert "joined 0" in client.output
    assert client.leave() == 0


@pytest.mark.slow
def test_a_child_that_the_client_does_not_want_goes_on_and_that_is_said(client: Client, write: Write) -> None:
    begin(client, write(FAMILY.replace("METHOD", "fork")), success=False, message="no room", body={})
    client.event("terminated")
    assert "child [3.0, 3.0]" in client.output
    assert "breakpoints don't hold in process" in client.said
    assert "no room" in client.said
    client.leave()


PARENT = """\
import subprocess
import sys

done = subprocess.run([sys.executable, "-u", *PROGRAM, "3"], capture_output=True, text=True)
print(done.stdout, done.stderr, done.args[1:], "status", done.returncode)
for words in (["-c", "print('left alone')"], ["-m", "this"]):
    print(subprocess.run([sys.executable, *words], capture_output=True, text=True).stdout)
"""

OTHER = """\
import sys

import graphscope as torch

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * int(sys.argv[1])
y.sum().backward()
print("other", x.grad.numpy().tolist(), sys.argv, __name__)
sys.exit(7)
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [["other.py"], ["-m", "other"]], ids=["script", "module"])
def test_a_breakpoint_in_a_program_that_is_started_by_subprocess_stops_it(
    client: Client, write: Write, words: list[str]
) -> None:
    program = write(PARENT.replace("PROGRAM", repr(words)))
    other = program.with_name("other.py")
    other.write_text(OTHER)
    asked = begin(client, program, cwd=str(program.parent))
    client.until(lambda: not asked.empty())
    configuration = asked.get_nowait()["arguments"]["configuration"]
    assert configuration["name"].startswith("other")
    child = Client(inside=True)
    try:
        child.initialize()
        child.request("attach", configuration)
        child.event("initialized")
        lines = [{"line": 7, "condition": "forward"}, {"line": 6, "condition": "backward"}]
        child.request("setBreakpoints", {"source": {"path": str(other)}, "breakpoints": lines})
        child.request("configurationDone")
        child.event("stopped")
        top = child.stack()[0]
        assert (top["name"], top["line"]) == ("<module>", 7)
        assert child.evaluate("sys.argv[1:]", "hover", frameId=top["id"]) == "['3']"
        assert "MulBackward" in child.move("continue")["description"]
        child.leave()
    finally:
        child.close()
    client.event("terminated")
    argv = [words[0] if words[0] != "-m" else str(other), "3"]
    assert f"other [3.0, 3.0] {argv} __main__\n  {['-u', *words, '3']} status 7" in client.output
    assert "left alone" in client.output
    assert "The Zen of Python" in client.output
    assert asked.empty()
    assert client.leave() == 0


@pytest.mark.slow
@pytest.mark.parametrize("wanted", [True, False])
def test_a_program_that_is_not_held_runs_as_if_nobody_had_asked(client: Client, write: Write, wanted: bool) -> None:
    program = write(PARENT.replace("PROGRAM", "['other.py']"))
    program.with_name("other.py").write_text(OTHER)
    refusal = {"success": False, "message": "no room", "body": {}}
    begin(client, program, cwd=str(program.parent), wishes={"subProcess": wanted}, **refusal)
    client.event("terminated")
    said = "other [3.0, 3.0] ['other.py', '3'] __main__\n  ['-u', 'other.py', '3'] status 7"
    assert said in client.output
    assert ("no room" in client.said) == wanted
    client.leave()
