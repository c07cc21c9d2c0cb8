"""Hooks that make gradients zero: told where the program computes the zeros, and not where it writes them."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path

import pytest

import graphscope as gs

pytestmark = pytest.mark.torch
torch = pytest.importorskip("torch")

PROGRAM = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    first, tanh, last = nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)
    steps, off = 400, 0.0
    adam = torch.optim.AdamW([*first.parameters(), *last.parameters()], lr=0.01)
    zeros = []
    for step in range(6):
        x = torch.randn(16, 4)
        ramp = {ramp}
        hidden = tanh(first(x))
        {hook}
        adam.zero_grad()
        nn.functional.cross_entropy(last(hidden), (x.sum(1) > 0).long()).backward()
        zeros.append(not first.weight.grad.any())
        {after}
        adam.step()
    """

OF_TENSOR = "handle = hidden.register_hook(lambda grad: grad * ramp)"
OF_LEAF = "handle = first.weight.register_hook(lambda grad: grad.mul(ramp))"
OF_MODULE = (
    "handle = tanh.register_full_backward_pre_hook(lambda _, grads: (grads[0] * ramp,)); hidden = tanh(first(x))"
)

WHOLE = "step // steps"


def run(folder: Path, ramp: str, hook: str) -> tuple[list[bool], list[tuple[str, str, str]], str]:
    """In which steps the program saw zeros, and what the doctor says of them."""
    text = textwrap.dedent(PROGRAM).format(ramp=ramp, hook=hook, after="handle.remove()").strip() + "\n"
    path = folder / "main.py"
    path.write_text(text)
    with gs.record(folder / "run.gscope"):
        seen = runpy.run_path(str(path), run_name="__main__")["zeros"]
    found = [each for each in gs.doctor(folder / "run.gscope").findings if each.kind == "vanished"]
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "handle = " in each)
    return seen, [(each.place, each.cause, each.verdict) for each in found], f"main.py:{line}"


@pytest.mark.parametrize(
    ("hook", "kind"),
    [
        (OF_TENSOR, "gradient hook <lambda>"),
        (OF_LEAF, "gradient hook <lambda>"),
        (OF_MODULE, "full backward pre-hook"),
    ],
)
def test_a_factor_that_comes_out_as_0_in_every_step_is_told_at_the_line_of_the_hook(
    hook: str, kind: str, tmp_path: Path
) -> None:
    seen, found, place = run(tmp_path, WHOLE, hook)
    assert seen == [True] * 6
    ((where, cause, verdict),) = found
    assert (where, cause) == (place, "multiplied by 0 in a hook")
    assert kind in verdict
    assert f"at {place} multiplies it by 0" in verdict
    assert "first.weight" in verdict


@pytest.mark.parametrize(
    ("ramp", "hook"),
    [
        ("off", OF_TENSOR),
        ("0.0 if step < steps else 1.0", OF_TENSOR),
        ("torch.tensor(0.0)", OF_LEAF),
        (WHOLE, "handle = hidden.register_hook(lambda grad: grad * 0)"),
        (WHOLE, "handle = first.weight.register_hook(torch.zeros_like)"),
        (WHOLE, "handle = first.weight.register_hook(lambda grad: grad * torch.zeros(8, 4))"),
    ],
    ids=["named", "conditional", "tensor", "literal", "zeros", "mask"],
)
def test_zeros_that_a_program_asks_for_are_no_fault(ramp: str, hook: str, tmp_path: Path) -> None:
    seen, found, _ = run(tmp_path, ramp, hook)
    assert seen == [True] * 6
    assert found == []


def test_a_factor_that_grows_from_0_is_no_fault(tmp_path: Path) -> None:
    seen, found, _ = run(tmp_path, "step / steps", OF_TENSOR)
    assert seen == [True] + [False] * 5
    assert found == []


@pytest.mark.parametrize(("until", "kinds"), [(9, []), (18, ["vanished"])])
def test_a_factor_of_a_later_step_is_seen_where_steps_are_left_out(
    until: int, kinds: list[str], tmp_path: Path
) -> None:
    """Of every fourth step: what the others write comes between the leaf and its next gradient."""
    torch.manual_seed(0)
    first, last = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
    adam, factors = torch.optim.AdamW([*first.parameters(), *last.parameters()], lr=0.01), [0]
    for each in first.parameters():
        each.register_hook(lambda grad: grad * factors[-1])
    with gs.record(tmp_path / "run.gscope", every=4):
        for step in range(18):
            factors.append(int(step >= until))
            adam.zero_grad()
            x = torch.randn(16, 4)
            torch.nn.functional.cross_entropy(last(first(x).tanh()), (x.sum(1) > 0).long()).backward()
            adam.step()
    assert [each.kind for each in gs.doctor(tmp_path / "run.gscope").findings] == kinds


MASKS = {
    "of the gradient": "mask = 10; handle = first.weight.register_hook(lambda grad: grad * (grad > mask).float())",
    "of the weight": "mask = first.weight.detach().abs() > 9; handle = first.weight.register_hook(lambda g: g * mask)",
    "filled in nowhere": (
        "rows = torch.arange(8); mask = torch.zeros(8, 1); mask[rows[rows > 8]] = 1; "
        "handle = first.weight.register_hook(lambda g: g.mul(mask.expand(8, 4)))"
    ),
    "of a module": (
        "handle = tanh.register_full_backward_hook(lambda _, grads, __: (grads[0] * (grads[0] > 9),)); "
        "hidden = tanh(first(x))"
    ),
}


@pytest.mark.parametrize("hook", MASKS.values(), ids=MASKS)
def test_a_mask_that_chooses_nothing_in_every_step_is_told_at_the_line_of_the_hook(hook: str, tmp_path: Path) -> None:
    seen, found, place = run(tmp_path, WHOLE, hook)
    assert seen == [True] * 6
    ((where, cause, verdict),) = found
    assert (where, cause) == (place, "masked in a hook")
    assert "a mask that is zero in all places" in verdict
    assert "first.weight" in verdict


def test_a_mask_that_chooses_something_in_one_step_is_no_fault(tmp_path: Path) -> None:
    hook = "handle = first.weight.register_hook(lambda grad: grad * (torch.arange(8)[:, None] < step - 4))"
    seen, found, _ = run(tmp_path, WHOLE, hook)
    assert seen == [True] * 5 + [False]
    assert found == []


def test_why_names_the_hook_that_puts_zeros_in_the_place_of_a_gradient(tmp_path: Path) -> None:
    hook = "handle = first.weight.register_hook(lambda grad: torch.zeros_like(grad))"
    _, found, place = run(tmp_path, WHOLE, hook)
    assert found == []
    log = gs.load(tmp_path / "run.gscope")
    leaf = next(node for node in log.graph.nodes if node.name == "first.weight" and node.kind == "leaf")
    assert f"hook <lambda> at {place} puts zeros in its place" in str(gs.explain(leaf))


AFTER_SUMS = {
    "another tensor": ("p.__setattr__('grad', torch.zeros_like(p.grad))", "puts zeros in its place"),
    "in place": ("p.grad.zero_()", "puts zeros in its place"),
    "a product": ("p.grad.mul_(0)", "multiplies it by 0"),
}


@pytest.mark.parametrize(("body", "words"), AFTER_SUMS.values(), ids=AFTER_SUMS)
def test_why_names_the_hook_behind_a_sum_that_makes_it_zero(body: str, words: str, tmp_path: Path) -> None:
    hook = f"handle = first.weight.register_post_accumulate_grad_hook(lambda p: ({body}, None)[1])"
    seen, found, place = run(tmp_path, WHOLE, hook)
    assert seen == [True] * 6
    assert found == []
    log = gs.load(tmp_path / "run.gscope")
    leaf = next(node for node in log.graph.nodes if node.name == "first.weight" and node.kind == "leaf")
    told = str(gs.explain(leaf))
    assert f"hook <lambda> at {place} {words}" in told
    assert "began with" not in told


@pytest.mark.parametrize(
    "after", ["first.weight.grad = torch.zeros(8, 4)", "first.weight.grad.zero_()", "first.weight.grad *= 0"]
)
def test_why_names_the_line_that_puts_zeros_in_the_place_of_a_gradient(after: str, tmp_path: Path) -> None:
    text = textwrap.dedent(PROGRAM).format(ramp=WHOLE, hook="", after=after).strip() + "\n"
    (tmp_path / "main.py").write_text(text)
    with gs.record(tmp_path / "run.gscope"):
        runpy.run_path(str(tmp_path / "main.py"), run_name="__main__")
    log = gs.load(tmp_path / "run.gscope")
    leaf = next(node for node in log.graph.nodes if node.name == "first.weight" and node.kind == "leaf")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if after in each)
    assert f"zeros were put in its place at main.py:{line}" in str(gs.explain(leaf))
