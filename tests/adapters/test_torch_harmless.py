"""What the recorder does not do to the program: crash it, show itself to it, or take Ctrl-C from it."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
import warnings
import weakref
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import graphscope as gs
from graphscope.eventlog import record as recording

pytestmark = pytest.mark.torch

THREADS = """\
import sys, threading, torch
import graphscope as gs

sys.setswitchinterval(1e-5)
torch.set_num_threads(1)
with gs.record():
    weight = torch.randn(256, 256, requires_grad=True)
    first = weight * 2
    loss = (first.tanh() * first.sin() + first).sum()  # values so large that other threads run while they are written
    threads = [threading.Thread(target=lambda: [loss.backward(retain_graph=True) for _ in range(60)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
"""


@pytest.mark.slow
def test_threads_that_go_back_through_one_graph_do_no_harm(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", THREADS], check=True, timeout=60, cwd=tmp_path)


MODULES = """\
import sys, threading, torch
import graphscope as gs

sys.setswitchinterval(1e-6)
torch.set_num_threads(1)

kept = []  # what is known of them is looked through, too

def work():
    for _ in range(100):
        kept.append(torch.nn.Linear(8, 2))
        kept[-1](torch.ones(1, 8))

with gs.record(values="none") as log:
    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
log.refresh()
print(sum(node.op == "linear" for node in log.graph.nodes))
"""


@pytest.mark.slow
def test_threads_that_make_modules_are_recorded_to_the_end(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MODULES]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert (ran.stdout, ran.stderr) == ("800\n", "")


class Seeing(TorchFunctionMode):
    """A mode of the program's."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(f"{func.__name__} of {getattr(getattr(func, '__self__', None), '__name__', '')}")
        return func(*args, **(kwargs or {}))


def passes(weight: Any) -> None:
    for run in (torch.Tensor.backward, torch.autograd.backward):
        run((weight @ weight).tanh()[0].sum())


def test_a_mode_around_the_recording_sees_what_the_program_does_and_no_more() -> None:
    weight = torch.randn(4, 4, requires_grad=True)
    with Ops() as plain_ops, Seeing() as plain:
        passes(weight)
    weight.grad = None
    with Ops() as ops, Seeing() as recorded, gs.record():
        passes(weight)
    assert recorded.seen == plain.seen
    assert ops.seen == plain_ops.seen


@pytest.mark.parametrize("memory", [False, True])
def test_no_python_runs_when_a_tensor_goes(memory: bool) -> None:
    ran: list[str] = []
    with gs.record(memory=memory):
        weight = torch.ones(3, requires_grad=True)
        result = (weight * weight).sum()
        result.backward()
        sys.setprofile(lambda frame, event, _: ran.append(frame.f_code.co_name) if event == "call" else None)
        del result, weight
        sys.setprofile(None)
    assert ran == []


@pytest.mark.parametrize("policy", ["none", "summary", "full"])
def test_no_python_of_ours_runs_in_a_step_like_the_one_before(policy: str) -> None:
    """The costs on docs/benchmarks.md need the compiled ways through a call and through a pass to be those taken."""
    ran: list[str] = []

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and f"{os.sep}graphscope{os.sep}" in frame.f_code.co_filename:
            ran.append(frame.f_code.co_qualname)

    weight = torch.randn(4, 4, requires_grad=True)
    with gs.record(values=policy):
        for step in range(4):
            if step == 3:
                sys.setprofile(look)
            (weight @ weight).tanh().sum().backward()
            weight.grad = None
        sys.setprofile(None)
    assert ran == []


def forward(weight: Any) -> None:
    with torch.no_grad():
        (weight @ weight).tanh()


def backward(weight: Any) -> None:
    first = weight * 2
    (first * first + first).sum().backward()
    weight.grad = None


def often(step: Any, weight: Any) -> None:
    for _ in range(3000):
        step(weight)


@pytest.mark.parametrize("step", [forward, backward])
@pytest.mark.parametrize("late", [1, 2])
def test_what_interrupts_the_recorder_reaches_the_program(step: Any, late: int) -> None:
    with gs.record():
        weight = torch.randn(4, 4, requires_grad=True)
        step(weight)
        writer: Any = recording.writer
        append, count = writer._append, 0

        def interrupted(*args: Any, **kwargs: Any) -> int:
            nonlocal count
            count += 1
            if count == late:
                raise KeyboardInterrupt
            found: int = append(*args, **kwargs)
            return found

        writer._append = interrupted  # what compiled code leaves to Python: rows of which the pages are not there yet
        with pytest.raises(KeyboardInterrupt):
            often(step, weight)
        end = writer.end
        step(weight)
        assert writer.end > end


def test_what_goes_wrong_in_compiled_code_ends_the_recording_and_not_the_program() -> None:
    with gs.record():
        weight = torch.randn(4, 4)
        forward(weight)
        writer: Any = recording.writer

        def broken(*args: Any, **kwargs: Any) -> int:
            raise MemoryError

        writer._append = broken
        with pytest.warns(RuntimeWarning, match="recording PyTorch ended"):
            often(forward, weight)


class Coming:
    """A debugger that comes in the middle of a pass."""

    wants_before = False

    def __init__(self) -> None:
        self.told: list[str] = []

    def after(self, row: int, value: Any, frame: Any, cuts: bool = False) -> None:
        self.told.append("after")

    def passed(self, frame: Any) -> None:
        self.told.append(f"passed {frame.f_code.co_name}")


def test_a_debugger_that_comes_during_a_pass_is_told_of_its_end() -> None:
    gate: Any = Coming()
    with gs.record():
        writer: Any = recording.writer
        for turn in range(3):
            weight = torch.randn(4, requires_grad=True)
            first = weight * 2
            if turn == 2:
                first.register_hook(lambda _: setattr(writer, "gate", gate))
            first.tanh().sum().backward()
        writer.gate = None
    assert gate.told[-1] == "passed test_a_debugger_that_comes_during_a_pass_is_told_of_its_end"
    assert "after" in gate.told


WRITTEN_DOWN = """\
import contextlib, importlib.util, io, sys, warnings
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
import graphscope as gs

warnings.simplefilter("ignore")
torch.manual_seed(0)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.rest = nn.Linear(4, 8), nn.Sequential(nn.ReLU(), nn.BatchNorm1d(8), nn.Linear(8, 2))
    def forward(self, x):
        return self.rest(self.first(x)).softmax(-1)

with gs.record(sys.argv[1]) if sys.argv[1:] else contextlib.nullcontext():
    net, x = Net(), torch.ones(3, 4)
    net(x).sum().backward()
    print(torch.jit.trace(net, x).inlined_graph)
    print(torch.jit.trace(lambda a: (a * a.size(0)).sum(), x).graph)
    print(torch.jit.trace_module(net, {"forward": x}).code)
    print(torch.jit.script(net).inlined_graph)
    print(torch.fx.symbolic_trace(net).code)
    for mode in ("real", "fake", "symbolic"):
        print(make_fx(lambda a: (a.tanh() @ a.T).sum(), tracing_mode=mode)(x).code)
    print(torch.export.export(net.eval(), (x,)).graph_module.code)
    if importlib.util.find_spec("onnx"):  # torch needs it to write its files
        torch.onnx.export(net, (x,), file := io.BytesIO(), dynamo=False)
        print(file.getvalue())
    print(torch.compile(net, backend="eager")(x))
"""


@pytest.mark.slow
def test_what_writes_a_program_down_writes_the_same_while_it_is_recorded(tmp_path: Path) -> None:
    program = tmp_path / "program.py"  # in a file: TorchScript reads the source
    program.write_text(WRITTEN_DOWN, "utf-8")

    def written(*arguments: str) -> str:
        command = [sys.executable, str(program), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout

    alone = written()
    assert "aten::linear" in alone
    assert written(str(tmp_path / "run.gscope")) == alone


REMEMBERED = """\
import sys, torch
import graphscope as gs

made = torch.nn.Module.__call__, torch.nn.Module._call_impl, torch.nn.Module.__getattr__
assert "torch._dynamo" not in sys.modules
finders, options = list(sys.meta_path), {"every": int(sys.argv[2])} if sys.argv[2:] else {}
with gs.record(sys.argv[1], **options) as log:
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)  # which loads the compiler
    recorded = torch.nn.Module.__call__
    model(torch.ones(3)).sum().backward()
    optimizer.step()
assert recorded is not made[0]
import torch._dynamo.utils as utils
found = utils.unpatched_nn_module_call, utils.unpatched_nn_module_call_impl, utils.unpatched_nn_module_getattr
assert found == made, found
assert sys.meta_path == finders
assert torch._dynamo.__loader__ is torch._dynamo.__spec__.loader
assert type(torch._dynamo.__loader__) is type(torch.__loader__)
log.refresh()
assert "linear" in [log.op(op).name for op in log.column("op")]
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["10"]])
def test_a_compiler_that_is_loaded_within_a_recording_remembers_what_torch_is(
    tmp_path: Path, options: list[str]
) -> None:
    program = tmp_path / "program.py"
    program.write_text(REMEMBERED, "utf-8")
    command = [sys.executable, str(program), str(tmp_path / "run.gscope"), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def told(capture: str | None) -> list[tuple[str, int]]:
    """Where the program is warned of what it does."""
    one, other = torch.ones(2, 1), torch.ones(2)
    late = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([torch.nn.Parameter(one)], lr=1.0), 1)

    def run() -> None:
        late.step()  # ahead of the optimizer's
        torch.nn.functional.mse_loss(one, other)
        torch.nn.functional.softmax(one)
        torch.nn.MSELoss()(one, other)
        warnings.warn("its own", stacklevel=2)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if capture is None:
            run()
        else:
            with gs.record(capture=capture):
                run()
    return [(each.filename, each.lineno) for each in caught if "compiled" not in str(each.message)]


def test_what_warns_is_told_of_the_line_that_it_is_told_of_unrecorded() -> None:
    plain = told(None)
    assert len(plain) == 5
    assert told("calls")[:4] == told("calls+backward")[:4] == plain[:4]
    assert told("ops")[:4] == plain[:4]


def test_what_a_function_lets_go_is_gone() -> None:
    gone: list[weakref.ref[Any]] = []
    alive: list[Any] = []

    class Layer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            held = torch.ones(3)
            gone.append(weakref.ref(held))
            self.inner = torch.nn.Linear(3, 1)
            del held
            alive.append(gone[-1]())

    def train() -> None:
        held = torch.ones(3)
        gone.append(weakref.ref(held))
        layer = Layer()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        layer.inner(held).sum().backward()
        optimizer.step()
        del held
        alive.append(gone[0]())

    with gs.record():
        train()
    assert alive == [None, None]


def test_what_stands_in_the_place_of_functions_can_be_pickled_and_copied() -> None:
    functions = [torch.Tensor.backward, torch.nn.Module.__call__]
    with gs.record():
        recorded = [torch.Tensor.backward, torch.nn.Module.__call__]
        assert copy.deepcopy(recorded) == recorded
        pickled = pickle.dumps(recorded)
    assert pickle.loads(pickled) == functions


class Ops(TorchDispatchMode):
    """A mode of the program's that counts ops."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_a_mode_of_the_program_sees_no_op_of_the_recorder(values: str) -> None:
    def run() -> list[str]:
        x = torch.ones(3, requires_grad=True)
        with Ops() as ops:
            torch.nn.functional.linear(x, torch.ones(2, 3)).sum().backward()
            (x.detach().expand(4, 3).t() + 1).sum()
        return ops.seen

    plain = run()
    with gs.record(values=values):
        assert run() == plain
