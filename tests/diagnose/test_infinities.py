"""An infinity that a program computes with is told where it came to be, where a NaN comes of it later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import graphscope as gs

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

INFINITE = {
    "a constant": 'x * float("inf")',
    "a tensor": "x * limit",
    "a sum": 'x + float("inf")',
    "a power": 'x.abs() ** float("inf")',
    "a quotient": "x / 0.0",
    "a filled place": "x.masked_fill(x > 0, -limit)",
    "a mask": "x + mask",
}
LATER = {
    "a layer": "net(scaled)",
    "a layer behind others": "net(scaled.relu().view(5, 4))",
    "a product": "scaled @ scaled.T",
    "a norm": "torch.nn.functional.layer_norm(scaled, (4,))",
    "a sine": "scaled.sin()",
}


def kinds(given: Any) -> str:
    return "nan" if given.isnan().any() else "inf" if given.isinf().any() else ""


@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("infinite", INFINITE)
def test_the_op_that_made_an_infinity_is_blamed(infinite: str, later: str, values: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    program = f"""
net, limit = torch.nn.Linear(4, 3), torch.tensor(float("inf"))
mask = torch.full((5, 4), float("-inf")).triu(1)
x = torch.randn(5, 4)
scaled = {INFINITE[infinite]}
out = {LATER[later]}
(out.square().mean() + 0 * net.weight.sum()).backward()
"""
    seen: dict[str, Any] = {"torch": torch}
    path = tmp_path / "program.py"
    path.write_text(program)
    with gs.record(tmp_path / "run.gscope", values=values):
        exec(compile(program, str(path), "exec"), seen)
    if (kinds(seen["scaled"]), kinds(seen["out"])) != ("inf", "nan"):
        pytest.skip("no infinity that turns to a NaN")
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert (said.kind, said.line) == ("nan", 5), said
    if infinite != "a quotient":  # which is a fault itself
        assert "program.py:6" in said.verdict, said
        assert "which" in said.verdict, said


@pytest.mark.parametrize(("scaling", "line"), [('w * float("inf")', 3), ('w.masked_fill(w > 0, -float("inf"))', 4)])
def test_a_difference_of_infinities_is_to_blame_only_where_they_are_those_of_a_mask(
    scaling: str, line: int, tmp_path: Path
) -> None:
    torch = pytest.importorskip("torch")
    program = f"""
w = torch.tensor([1.0, 2.0], requires_grad=True)
grown = {scaling}
rest = grown - grown.max()
rest.sum().backward()
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    with gs.record(tmp_path / "run.gscope"):
        exec(compile(program, str(path), "exec"), {"torch": torch})
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert (said.kind, said.line) == ("nan", line), said


def test_a_softmax_that_is_left_with_nothing_is_blamed_and_not_its_mask(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    program = """
w = torch.randn(3, 3, requires_grad=True)
scores = w.masked_fill(torch.ones(3, 3).tril().bool(), float("-inf"))
shares = scores.softmax(-1)
shares.sum().backward()
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    with gs.record(tmp_path / "run.gscope"):
        exec(compile(program, str(path), "exec"), {"torch": torch})
    (said,) = gs.doctor(tmp_path / "run.gscope").findings
    assert (said.line, said.cause) == (4, "all -inf row")
