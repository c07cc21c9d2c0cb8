"""A PyTorch program is debugged as it is: at the prompt, forward and backward."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphscope as gs
from graphscope.console.prompt_entry import open_console

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

Debug = Callable[..., str]

PROGRAM = """\
import torch
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
def layer(x):
    h = x * w
    return h.sqrt()
y = layer(torch.tensor([1.0, 2.0, 3.0]))
loss = y.sum()
loss.backward()
print("grad", w.grad.tolist(), "loss", loss.item())
"""


def test_a_value_replaced_forward_keeps_its_gradient(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:mul forward", "c", "set value = [4.0, 9.0, 16.0]", "c", "q")
    # d sqrt(h) = 1 / (2 sqrt(h)) at the new h, times x
    assert "grad [0.25, 0.3333333432674408, 0.375] loss 9.0" in said


def test_the_program_waits_in_its_own_frames(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:mul forward", "c", "p x.sum()", "where", "!x = x * 0", "c", "q")
    assert "tensor(6.)" in said
    assert "program.py(4)layer" in said
    assert "torch/" not in said


def test_a_gradient_is_looked_at_and_replaced(debug: Debug) -> None:
    said = debug(
        PROGRAM, "b op:sqrt backward", "c", "p grad", "p torch.autograd.grad(w.sum() * 3, w)",
        "set grad = [2.0, 4.0, 8.0]", "c", "q",
    )  # fmt: skip
    assert "tensor([1., 1., 1.])" in said
    assert "tensor([3., 3., 3.])" in said
    assert "grad [1.0, 2.0, 4.0] loss 6.0" in said


def test_a_contribution_to_a_leaf_is_replaced(debug: Debug) -> None:
    said = debug(PROGRAM, "b accumulate", "c", "set grad = [7.0, 7.0, 7.0]", "c", "q")
    assert "grad [7.0, 7.0, 7.0]" in said


def test_words_of_a_node_are_tensors_of_the_program_now_and_in_its_past(debug: Debug) -> None:
    program = PROGRAM + "half = torch.tensor([1.5, -2.5], dtype=torch.bfloat16).abs()\nprint(half)\n"
    said = debug(
        program, "b op:sqrt backward if grad.abs().max() > 0.5", "c", "p grad.abs().max()", "p value.shape",
        "p (nodes['op:mul'] - value).norm()", "p [each.dtype for each in inputs]", "rn", "rn", "p value.numel()",
        "p grad.abs()", "b op:abs", "c", "c", "p value", "set value = value * 2", "c",
        "p w.grad.norm().item() > 0", "q",
    )  # fmt: skip
    assert "(breakpoint 1: op:sqrt backward, grad.abs().max() > 0.5)" in said
    assert "(gs) p grad.abs().max()\ntensor(1.)" in said
    assert "torch.Size([3])" in said
    assert "(gs) p (nodes['op:mul'] - value).norm()\ntensor(6.3246)" in said  # [1, 4, 9] - [1, 2, 3]
    assert "[torch.float32]" in said
    assert "p value.numel()\n1\n" in said
    assert "`grad` is None here: no gradient has reached it up to now" in said
    assert "tensor([1.5000, 2.5000], dtype=torch.bfloat16)" in said
    assert "tensor([3., 5.], dtype=torch.bfloat16)\n> #" in said  # what the program prints
    assert "(gs) p w.grad.norm().item() > 0\nTrue" in said


def test_a_word_shares_no_memory_with_the_program(debug: Debug) -> None:
    said = debug(PROGRAM, "b op:mul forward", "c", "p value.zero_()", "c", "q")
    assert "loss 6.0" in said


def test_a_log_of_another_process_holds_arrays(
    debug: Debug, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    debug(PROGRAM, "c", "q", options=["--log", "run.gscope"])
    (tmp_path / "run.gscope").rename(tmp_path / "copy.gscope")  # nobody here has recorded what lies there
    open_console("copy.gscope", commands=["b op:sqrt backward", "c", "p type(grad)", "p grad.abs()", "q"])
    said = capsys.readouterr().out
    assert "<class 'numpy.ndarray'>" in said
    assert "a NumPy array is what the log holds: np.abs(...)" in said


CUT = """\
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
v = torch.tensor([3.0, 4.0], requires_grad=True)
h = w * w
y = (h * v).sum()
y.backward()
print("grads", w.grad, v.grad.tolist())
"""


@pytest.mark.parametrize(("command", "value"), [("cut", [1.0, 4.0]), ("cut value + 1", [2.0, 5.0])])
def test_a_value_is_cut_off_from_what_it_was_computed_from(debug: Debug, command: str, value: list[float]) -> None:
    said = debug(CUT, "tbreak op:mul forward", "c", command, "c", "q")
    assert f"grads None {value}" in said  # what y.detach() would have led to: d y / d v is h


@pytest.mark.parametrize("where", ["op:tensor", "op:mul backward"])
def test_what_can_not_be_cut_off_is_told(debug: Debug, where: str) -> None:
    said = debug(CUT, f"tbreak {where}", "c", "cut", "c", "q")
    assert "This value can't be cut off" in said
    assert "grads tensor([ 6., 16.]) [1.0, 4.0]" in said


@pytest.mark.parametrize(("where", "left"), [("op:sqrt forward", "layer\nmodule\n"), ("op:sqrt backward", "module\n")])
def test_a_program_that_is_left_ends_at_its_line(debug: Debug, where: str, left: str) -> None:
    program = """\
import torch
w = torch.ones(2, requires_grad=True)
def layer(x):
    try:
        return x.sqrt()
    finally:
        print("layer", end="\\n")
try:
    loss = layer(w * 2).sum()
    loss.backward()
    print("not reached")
finally:
    print("module")
"""
    said = debug(program, f"b {where}", "c", "q")
    assert said.endswith(f"(gs) q\n{left}")


def test_an_exception_is_told_at_the_line_of_the_program(debug: Debug) -> None:
    program = "import torch\nw = torch.ones(2)\ny = w * 2\ny.sum().backward()\n"
    said = debug(program, "c", "where", "p y", "q")
    assert "> raised at program.py:4\n-> y.sum().backward()\n(RuntimeError: " in said
    assert "site-packages" not in said
    assert "tensor([2., 2.])" in said


@pytest.mark.parametrize(("capture", "ops"), [("calls", {"linear"}), ("ops", {"linear", "addmm", "t"})])
def test_levels_of_debug(debug: Debug, capture: str, ops: set[str]) -> None:
    program = "import torch\nw = torch.ones(2, 3)\ntorch.nn.functional.linear(w, w, w[:, 0])\n"
    debug(program, "c", "q", options=["--capture", capture, "--log", "run.gscope"])
    found = {node.op for node in gs.load("run.gscope").graph.nodes}
    assert ops <= found
    assert capture == "ops" or "addmm" not in found


def test_what_a_person_computes_is_not_recorded(debug: Debug) -> None:
    debug(PROGRAM, "b op:sqrt backward", "c", "p (w * 5).sum().backward()", "c", "q", options=["--log", "run.gscope"])
    assert [node.op for node in gs.load("run.gscope").graph.nodes if node.kind == "op"] == ["mul", "sqrt", "sum"]


def test_the_first_value_that_is_not_finite_stops_the_program(debug: Debug) -> None:
    program = "import torch\nx = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x.log().sum()\ny.backward()\n"
    said = debug(program, "break nan", "c", "q")
    assert "#1 log (2 float32) forward program.py:3" in said


@pytest.mark.slow
def test_a_framework_imported_in_the_middle_is_seen_and_none_is_loaded_before(debug: Debug) -> None:
    program = """\
import sys
import graphscope as gs
with gs.record() as empty:
    pass
assert "torch" not in sys.modules
with gs.record() as log:
    import torch
    torch.ones(2) * 2
log.refresh()
assert [node.op for node in log.graph.nodes] == ["ones", "mul"], log
assert type(torch.__spec__.loader).__name__ == "SourceFileLoader"
assert "exec_module" not in vars(torch.__spec__.loader)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_an_op_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    import torch

    import graphscope as gs

    with gs.record() as log, pytest.raises(RuntimeError):
        torch.ones(2, 3) @ torch.ones(2, 3)
    log.refresh()
    last = log.event(log.end - 1)
    assert last.kind.name == "EXCEPTION"
    assert log.op(log.event(log.inputs(last.row)[0][0]).op).name == "matmul"


def test_a_program_may_go_to_another_folder(debug: Debug, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    program = "import os\nimport torch\na = torch.ones(3)\nos.chdir('other')\nb = a * 2\nc = b.sum()\n"
    said = debug(program, "b op:sum", "c", "p value", "p #1 + 1", "q", options=["--log", "run.gscope"])
    assert "tensor(6.)" in said
    assert "tensor([3., 3., 3.])" in said
    assert gs.load(tmp_path / "run.gscope").closed


USED_TWICE = """\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x * 3
one, other = h + 1, h + 2
loss = (one + other).sum()
loss.backward()
print("grad", x.grad.tolist())
"""


@pytest.mark.parametrize("before", [1, 2])
def test_one_of_two_contributions_is_replaced_alone(debug: Debug, before: int) -> None:
    moves = ["c"] * before
    said = debug(USED_TWICE, "b accumulate", *moves, "set grad = [10.0, 20.0]", *["c"] * 4, "q")
    assert f"grad {_by_hand(lambda one, other: (one, other)[before % 2].grad_fn)}" in said
    stops = re.findall(r"^> (#\d+) accumulate", said.partition("grad [")[0], re.MULTILINE)
    assert len(stops) == len(set(stops)) == 3  # two of h, one of x


def _by_hand(chosen: Callable[..., Any]) -> list[float]:
    """The gradient of x where a hook of PyTorch's puts another result in the place of a node's."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 3
    one, other = h + 1, h + 2
    chosen(one, other).register_hook(lambda results, _: (torch.tensor([10.0, 20.0]), *results[1:]))
    (one + other).sum().backward()
    assert x.grad is not None
    return x.grad.tolist()


def test_of_two_slots_with_one_cotangent_the_first_is_replaced(debug: Debug) -> None:
    program = USED_TWICE.replace("h + 1, h + 2", "h.unbind()")
    said = debug(program, "b op:unbind backward", "c", "set grad = 10.0", "c", "q")
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    one, other = (x * 3).unbind()
    one.grad_fn.register_prehook(lambda given: (torch.tensor(10.0), *given[1:]))  # type: ignore[union-attr]
    (one + other).backward()
    assert x.grad is not None
    assert f"grad {x.grad.tolist()}" in said
