"""Constants of PyTorch's calls: a log says where they stood and of what type, and does not grow with numbers that vary.

What a log says of a call is put to PyTorch: the function by its name, given the operands and attributes of the row with
tensors for its inputs, gives the row's value, and that of a run with other inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

import graphscope as gs  # noqa: E402
from graphscope.eventlog.schema import Kind  # noqa: E402
from graphscope.eventlog.typed import Dtype, Input  # noqa: E402
from graphscope.static.replay.recorded_calls import call_of  # noqa: E402

F = torch.nn.functional
pytestmark = pytest.mark.torch

STEPS: Final[dict[str, Callable[[Any, Any, Any], Any]]] = {
    "left of minus": lambda x, y, n: n - x,
    "right of minus": lambda x, y, n: x - n,
    "left of over": lambda x, y, n: n / (x * x + 1),
    "base": lambda x, y, n: (n * n + 1) ** x.tanh(),
    "exponent": lambda x, y, n: (x.tanh() + 2) ** n,
    "left of modulo": lambda x, y, n: n % (x * x + 1),
    "floor": lambda x, y, n: n // (x * x + 1) + x,
    "reversed": lambda x, y, n: torch.rsub(x, n, alpha=2),
    "reversed tensors": lambda x, y, n: torch.rsub(x, y, alpha=n),
    "scaled": lambda x, y, n: torch.add(x, y, alpha=n),
    "of three": lambda x, y, n: torch.addcmul(x, y, x.tanh(), value=n),
    "index": lambda x, y, n: x + (x[..., 0] - 3)[:, None] * n,
    "slices": lambda x, y, n: torch.cat([x[:, 1:], n - x[:, :1]], 1),
    "list of an index": lambda x, y, n: x[[1, 0]] - n,
    "tensor of an index": lambda x, y, n: x[:, torch.tensor([2, 0, 1])] * n,
    "mask and new dim": lambda x, y, n: x[None, torch.tensor([True, True])][0] - n,
    "condition left": lambda x, y, n: torch.where(x > y, n, x),
    "condition right": lambda x, y, n: torch.where(x > n, x, y),
    "lower bound": lambda x, y, n: torch.clamp(x, min=n),
    "upper bound": lambda x, y, n: torch.clamp(x, None, n + 0.5),
    "tuple of dims": lambda x, y, n: x - x.mean((0, 1), keepdim=True) * n,
    "a dim": lambda x, y, n: n - x.sum(dim=-1, keepdim=True) + y,
    "shape": lambda x, y, n: x.reshape(3, 2).t().reshape(x.shape) - n,
    "list of tensors": lambda x, y, n: torch.stack([y, x, y])[1] - n,
    "no weight": lambda x, y, n: F.layer_norm(x, (3,), None, y[0]) * n,
    "no bias": lambda x, y, n: F.linear(x, torch.stack([y[0], x[1], y[1]]), None) - n,
    "padding": lambda x, y, n: F.pad(x, (1, 2), value=n)[:, 1:4] - n,
    "slope": lambda x, y, n: F.leaky_relu(x - n, 0.25),
    "dtype": lambda x, y, n: x.to(torch.float32).to(dtype=torch.float64) - n,
    "einsum": lambda x, y, n: torch.einsum("ij,kj->ik", x, y) @ y * n,
    "norm": lambda x, y, n: x / (torch.linalg.vector_norm(x, 3, dim=(0, 1)) + 1),
}
"""What may be done with two tensors of shape (2, 3) and a number; gives another such tensor."""

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "getitem": lambda x, key: x[key],
    "T": lambda x: x.T,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "pow": lambda x, y: x**y,
    "sub": lambda x, y, alpha=1: (
        torch.sub(torch.as_tensor(x, dtype=y.dtype), y, alpha=alpha)
        if not isinstance(x, torch.Tensor)
        else torch.sub(x, y, alpha=alpha)
    ),
    "div": lambda x, y: x / y,
    "reshape": torch.Tensor.reshape,
}


def function(name: str) -> Callable[..., Any]:
    """The function of PyTorch that a log calls so."""
    owners = (F, torch, torch.Tensor, torch._C._linalg)
    return FUNCTIONS.get(name) or next(getattr(owner, name) for owner in owners if hasattr(owner, name))


def filled(value: Any, inputs: list[Any]) -> Any:
    """A constant of the log for PyTorch, with tensors for inputs."""
    if isinstance(value, Input):
        return inputs[value.number]
    if isinstance(value, list | tuple):
        return type(value)(filled(each, inputs) for each in value)
    return getattr(torch, value.name) if isinstance(value, Dtype) else value


def recorded(run: Callable[[Any, Any], Any], seed: int, **options: Any) -> Any:
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.rand(2, 3, generator=generator, dtype=torch.float64) * 2 - 1 for _ in range(2))
    with gs.record(**options) as log:
        run(x, y)
    return log


def calls(log: Any) -> list[int]:
    log.refresh()
    return [row for row in range(log.first, log.end) if log.event(row).kind == Kind.OP]


def value_of(log: Any, row: int, slot: int = 0) -> Any:
    return torch.from_numpy(np.array(log.value(row, slot)))


def holds(steps: list[tuple[str, Any]]) -> None:
    def run(x: Any, y: Any) -> Any:
        found = x
        for name, number in steps:
            found = STEPS[name](found, y, number).tanh() * 2
        return found

    seen, other = recorded(run, 0), recorded(run, 1)
    assert len(calls(seen)) == len(calls(other)) > 0
    for row, twin in zip(calls(seen), calls(other), strict=True):
        told = seen.arguments(row)
        for log, at in ((seen, row), (other, twin)):
            inputs = [value_of(log, *each) for each in log.event(at).inputs]
            made = function(log.op(log.event(at).op).name)(
                *[filled(each, inputs) for each in told.operands],
                **{name: filled(each, inputs) for name, each in told.attributes.items()},
            )
            torch.testing.assert_close(made, value_of(log, at), rtol=1e-9, atol=1e-12, msg=str((at, told)))


NUMBERS = st.sampled_from([-2, -1.5, 0, 0.0, -0.0, 0.25, 1, 1.0, 2, 3])


@pytest.mark.parametrize("name", STEPS)
def test_a_log_says_all_that_a_call_was_given(name: str) -> None:
    holds([(name, 1), (name, 0.75), (name, 1.0), (name, -0.0)])


@pytest.mark.slow
@settings(max_examples=150)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), NUMBERS), min_size=1, max_size=8))
def test_mixes_of_constants_and_operands(steps: list[tuple[str, Any]]) -> None:
    holds(steps)


@pytest.mark.parametrize("name", ["left of minus", "left of over", "base", "index", "tuple of dims", "list of tensors"])
def test_the_engine_makes_a_call_of_pytorch_again_with_other_inputs(name: str) -> None:
    def run(x: Any, y: Any) -> Any:
        return STEPS[name](x, y, 0.75)

    seen, other = recorded(run, 0), recorded(run, 1)
    for row, twin in zip(calls(seen), calls(other), strict=True):
        made = call_of(seen.graph.node(row))
        inputs = {number: value_of(other, *each).numpy() for number, each in enumerate(other.event(twin).inputs)}
        np.testing.assert_allclose(made.with_inputs(inputs).run()[0], other.value(twin), rtol=1e-9)


def pick(condition: Any, one: Any, other: Any) -> Any:
    return torch.where(condition, one, other)


def add(x: Any, y: Any, **more: Any) -> Any:
    return torch.add(x, y, **more)


@pytest.mark.parametrize("capture", ["calls", "ops"])
def test_calls_at_one_line_that_differ_only_in_where_a_constant_stands_or_in_its_type(capture: str) -> None:
    x, condition = torch.tensor([1.0, -2.0]), torch.tensor([True, False])
    with gs.record(capture=capture) as log:
        for _ in range(3):
            pick(condition, 1.0, x)
            pick(condition, x, 1.0)
            for number in (1, 1.0, True, 0.0, -0.0):
                add(x, number)
            add(x, x, alpha=2)
            add(x, x, out=torch.empty(2))
    told = [log.arguments(row).operands for row in calls(log) if log.op(log.event(row).op).name == "where"]
    assert [place for each in told for place, operand in enumerate(each) if operand == 1.0] == [1, 2] * 3
    added = [log.arguments(row) for row in calls(log) if log.op(log.event(row).op).name == "add"]
    numbers = [
        each.operands[1] for each in added if len(each.operands) == 2 and not isinstance(each.operands[1], Input)
    ]
    assert list(map(repr, numbers)) == ["1", "1.0", "True", "0.0", "-0.0"] * 3
    assert [each.attributes for each in added if each.attributes] == [{"alpha": 2}] * 3


@pytest.mark.slow
@pytest.mark.parametrize("capture", ["calls", "calls+backward", "ops"])
def test_numbers_that_differ_from_step_to_step_lie_in_the_rows(capture: str) -> None:
    def table(steps: int) -> tuple[Any, int]:
        weight = torch.nn.Parameter(torch.ones(4, 4, 4))
        optimizer = torch.optim.AdamW([weight], lr=1.0)
        with gs.record(capture=capture) as log:
            for step in range(steps):
                optimizer.zero_grad()
                part = weight[step % 4, : 1 + step % 3, 1 : 2 + step % 2] * (0.5 + step)
                (part.sum() * (step / 7)).backward()
                with torch.no_grad():
                    weight.grad.mul_(1 / (step + 1)).addcdiv_(weight, weight * weight + 1, value=-0.1 * step)
                optimizer.param_groups[0]["lr"] = 1 / (step + 1)
                optimizer.step()
        return log, len(log.table("attrs"))

    assert table(160)[1] == table(80)[1]  # whatever they are, the table has as many entries
    log, _ = table(40)
    rows = {name: [row for row in calls(log) if log.op(log.event(row).op).name == name] for name in ("AdamW", "mul")}
    if capture != "ops":
        assert [log.arguments(row).attributes["lr"] for row in rows["AdamW"]] == [1 / (step + 1) for step in range(40)]
        factors = [log.arguments(row).operands[1] for row in rows["mul"]]
        assert factors[::3] == [0.5 + step for step in range(40)]
        assert factors[1::3] == [step / 7 for step in range(40)]
        keys = [log.arguments(row) for row in calls(log) if log.op(log.event(row).op).name == "getitem"]
        assert [each.operands[1] for each in keys] == [
            (step % 4, slice(None, 1 + step % 3), slice(1, 2 + step % 2)) for step in range(40)
        ]
    written = [log.arguments(row) for row in calls(log) if log.op(log.event(row).op).name == "addcdiv_"]
    assert [each.attributes["value"] for each in written if "value" in each.attributes][:40] == [
        -0.1 * step for step in range(40)
    ]
