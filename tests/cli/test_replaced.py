"""A recorded program that replaces itself by another one: what it did is in its log, which says so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.eventlog.step_series import SERIES

from .conftest import Run

PROGRAM = """
import os, subprocess, sys
import graphscope as gs

weight = gs.tensor([1.0, 2.0], requires_grad=True)
optimizer = gs.optim.SGD([weight], lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    (weight * weight).sum().backward()
    optimizer.step()
    print(step, weight.tolist(), flush=True)
{call}
"""

RING = ["--keep-last", "3"]
EXECV = "os.execv(sys.executable, [sys.executable, '-c', 'print(\"behind\")'])"
EXECLPE = "os.execlpe(sys.executable, sys.executable, '-c', 'print(\"behind\")', {**os.environ, 'A': 'b'})"
FAILS = """
try:
    os.execv("/", ["/"])
except OSError:
    (weight * 3.0).sum()
"""
CHILD = "subprocess.run([sys.executable, '-c', 'print(\"behind\")'])"
FORKED = """
if os.fork() == 0:
    os.execv(sys.executable, [sys.executable, '-c', 'print("behind")'])
os.wait()
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows starts another process and ends this one"),
]


@pytest.mark.parametrize("options", [[], RING, ["--every", "7"]])
@pytest.mark.parametrize("call", [EXECV, EXECLPE])
def test_the_log_of_a_program_that_replaced_itself_is_whole_and_says_so(
    call: str, options: list[str], tmp_path: Path, graphscope: Run, run: Run
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(call=call))
    plain = run("train.py")
    done = graphscope("record", *options, "train.py")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    assert done.stdout.endswith("behind\n")
    assert done.stderr.count("the program replaced itself by") == 1
    log = gs.load(tmp_path / "train.gscope")
    assert log.closed
    weights = [node for node in log.graph.nodes if node.name == "weight" and node.value is not None]
    *_, last = plain.stdout.splitlines()[:-1]
    if not options:
        assert weights[-1].value.tolist() == pytest.approx(eval(last.partition(" ")[2]))
    told = graphscope("doctor", "train.gscope").stdout
    assert "the program replaced itself by" in " ".join(told.split())
    assert f"(os.{'execv' if call is EXECV else 'execve'})" in " ".join(graphscope("summary").stdout.split())
    if options == RING:
        assert log.files.array("series.npy", SERIES)["step"].max() == 20


@pytest.mark.parametrize("call", [FAILS, CHILD, FORKED])
def test_what_does_not_replace_the_program_is_none_of_that(
    call: str, tmp_path: Path, graphscope: Run, run: Run
) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.format(call=call))
    assert graphscope("record", "train.py").stdout == run("train.py").stdout
    log = gs.load(tmp_path / "train.gscope")
    assert log.closed
    assert not log.stopped
    if call is FAILS:
        assert log.graph.nodes[-1].op == "sum"


def test_the_calls_are_pythons_own_again_when_the_recording_has_ended(tmp_path: Path, run: Run) -> None:
    (tmp_path / "train.py").write_text("""
import os
before = os.execv, os.execve
import graphscope as gs
with gs.record("run.gscope"):
    assert (os.execv, os.execve) != before
    gs.ones(2)
assert (os.execv, os.execve) == before
""")
    done = run("train.py")
    assert (done.returncode, done.stderr) == (0, "")
