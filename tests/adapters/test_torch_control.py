"""A PyTorch program is debugged as it is: at the prompt, forward and backward."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.torch

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


def debug(program: str, tmp_path: Path, *commands: str) -> str:
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    words = [word for command in commands for word in ("-c", command)]
    run = subprocess.run(
        [sys.executable, "-m", "graphscope", "debug", "--console", *words, str(script)],
        capture_output=True, text=True, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip
    assert "Traceback" not in run.stdout + run.stderr, run.stdout + run.stderr
    return run.stdout


def test_a_value_replaced_forward_keeps_its_gradient(tmp_path: Path) -> None:
    said = debug(PROGRAM, tmp_path, "b op:mul forward", "c", "set value = [4.0, 9.0, 16.0]", "c", "q")
    # d sqrt(h) = 1 / (2 sqrt(h)) at the new h, times x
    assert "grad [0.25, 0.3333333432674408, 0.375] loss 9.0" in said


def test_the_program_waits_in_its_own_frames(tmp_path: Path) -> None:
    said = debug(PROGRAM, tmp_path, "b op:mul forward", "c", "p x.sum()", "where", "!x = x * 0", "c", "q")
    assert "tensor(6.)" in said
    assert "program.py(4)layer" in said
    assert "torch/" not in said


def test_a_gradient_is_looked_at_and_replaced(tmp_path: Path) -> None:
    said = debug(
        PROGRAM, tmp_path, "b op:sqrt backward", "c", "p grad", "p torch.autograd.grad(w.sum() * 3, w)",
        "set grad = [2.0, 4.0, 8.0]", "c", "q",
    )  # fmt: skip
    assert "array([1., 1., 1.]" in said
    assert "tensor([3., 3., 3.])" in said
    assert "grad [1.0, 2.0, 4.0] loss 6.0" in said


def test_a_contribution_to_a_leaf_is_replaced(tmp_path: Path) -> None:
    said = debug(PROGRAM, tmp_path, "b accumulate", "c", "set grad = [7.0, 7.0, 7.0]", "c", "q")
    assert "grad [7.0, 7.0, 7.0]" in said


def test_what_a_person_computes_is_not_recorded(tmp_path: Path) -> None:
    log = tmp_path / "run.gscope"
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    words = ["-c", "b op:sqrt backward", "-c", "c", "-c", "p (w * 5).sum().backward()", "-c", "c", "-c", "q"]
    subprocess.run(
        [sys.executable, "-m", "graphscope", "debug", "--console", "--log", str(log), *words, str(script)],
        capture_output=True, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=120, check=True,
    )  # fmt: skip
    import graphscope as gs

    assert [node.op for node in gs.load(log).graph.nodes if node.kind == "op"] == ["mul", "sqrt", "sum"]


def test_the_first_value_that_is_not_finite_stops_the_program(tmp_path: Path) -> None:
    program = "import torch\nx = torch.tensor([0.0, 1.0], requires_grad=True)\ny = x.log().sum()\ny.backward()\n"
    said = debug(program, tmp_path, "break nan", "c", "q")
    assert "#1 log (2 float32) forward program.py:3" in said


def test_a_framework_imported_in_the_middle_is_seen_and_none_is_loaded_before(tmp_path: Path) -> None:
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
