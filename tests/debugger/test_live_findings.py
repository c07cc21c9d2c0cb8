"""`b finding` on programs that run: each kind stops one at its line, and nothing stops a healthy one."""

from __future__ import annotations

import contextlib
import io
import sys
import textwrap
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.gate import LiveGate
from graphscope.debugger.motion import CONTINUE
from graphscope.debugger.results import Stop
from graphscope.diagnose import Check, every
from graphscope.eventlog import record
from graphscope.eventlog.schema import Kind

MODULES = ["graphscope", pytest.param("torch", marks=pytest.mark.torch)]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor"),  # torch asks for it as it compiles
]


def stops(
    program: str, module: str, spec: str, folder: Path, capture: str = "calls+backward"
) -> tuple[list[Stop], list[Stop], gs.Log]:
    """Where a program stops at a breakpoint as it runs, and when it has ended; and what it recorded."""
    pytest.importorskip(module)
    if capture == "compiled" and module != "torch":
        pytest.skip("it compiles nothing")
    script = folder / "prog.py"
    script.write_text(textwrap.dedent(program).strip().replace("import torch", f"import {module} as torch") + "\n")
    seen: list[Stop] = []
    with gs.record(folder / "run.gscope", capture=capture) as log:
        debugger = Debugger(log)
        debugger.breakpoints.add(spec)
        writer = record.active()
        assert writer is not None
        gate = writer.gate = LiveGate(debugger, lambda _, stop: seen.append(stop), first=CONTINUE)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(script.read_text(), str(script), "exec"), {"__name__": "__main__"})
        except Exception as error:
            record.exception(error)
        running = len(seen)
        gate.finished(sys._getframe())
    return seen[:running], seen[running:], gs.load(folder / "run.gscope")


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("check", every().values(), ids=lambda check: check.name)
def test_each_kind_stops_a_program_that_runs_at_the_line_that_the_doctor_names(
    check: Check, module: str, tmp_path: Path
) -> None:
    running, ended, log = stops(check.sample, module, f"finding:{check.name}", tmp_path, check.capture)

    first, *_ = ended if check.shows == "end" else running
    assert first.cause == "breakpoint"
    assert {each.kind for each in first.findings} == {check.name}
    assert {each.line for each in first.findings} <= {each.line for each in check.findings(log.graph)}
    assert first.row < log.end
    assert ended == [] or check.shows == "end"


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("check", every().values(), ids=lambda check: check.name)
def test_a_healthy_program_runs_through(check: Check, module: str, tmp_path: Path) -> None:
    assert stops(check.healthy, module, "finding", tmp_path, check.capture)[:2] == ([], [])


ONE_STEP_AMONG_MANY = """
    import torch

    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for step in range({steps}):
        if step < {forgets}:
            optimizer.zero_grad()
        net(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    """


@pytest.mark.parametrize("module", MODULES)
def test_what_begins_late_stops_at_the_step_that_shows_it(module: str, tmp_path: Path) -> None:
    program = ONE_STEP_AMONG_MANY.format(steps=14, forgets=8)
    (stop,), ended, log = stops(program, module, "finding:zero_grad", tmp_path)

    steps = log.graph.index.marks(Kind.STEP)
    assert 8 <= (steps < stop.row).sum() < 14
    assert ended == []


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_what_shows_after_the_last_look_stops_when_the_program_has_ended(module: str, tmp_path: Path) -> None:
    program = ONE_STEP_AMONG_MANY.format(steps=33, forgets=26)
    running, (stop,), _ = stops(program, module, "finding", tmp_path)

    assert running == []
    assert [each.kind for each in stop.findings] == ["zero_grad"]
    assert stop.remark == "the program has ended"
