"""Tensors that are taken apart and put together in a loop: which part each call used, computed again from the log."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch

TURNS: Final = 8
SIZE: Final = 6

COMPUTED: Final[dict[str, Callable[[Sequence[Any]], Any]]] = {
    "cat": lambda given: np.concatenate(given, 1),
    "stack": np.stack,
    "mul": lambda given: given[0] * given[1],
    "sub": lambda given: given[0] - given[1],
    "add_": lambda given: given[0] + 1,
    "chunk": lambda given: np.split(given[0], 3, 1) if given[0].ndim == 2 else np.split(given[0], 2),
    "unbind": lambda given: list(given[0]),
    "max": lambda given: (given[0].max(1), given[0].argmax(1)),
}
"""What ops make of their inputs, by their names in the log."""


def recurrent(w: Any, x: Any) -> Any:
    """A step of something like a recurrent network: its state goes through lists of tensors, in and out."""
    h, c = torch.zeros(4, SIZE), torch.ones(4, SIZE)
    for turn in range(TURNS):
        given = [h, x, c] if turn % 2 else [c, h, x]
        first, second, third = (torch.cat(given, 1) * w).chunk(3, 1)
        with torch.no_grad():
            parts = torch.stack((h, c)).chunk(2)
            if turn % 3 == 2:
                parts[1].add_(1.0)  # the other one and what both are of share its memory
            torch.cat(parts, 1)
        largest, _ = torch.stack((second, third)).max(1)
        above, below = largest.unbind()
        h, c = first * second, third - below * above
    return torch.cat((h, c), 1)


def recorded(path: Path, steps: int) -> tuple[Log, Any]:
    """The log of some steps, and the gradient that PyTorch computed in them."""
    torch.manual_seed(0)
    w, x = torch.randn(4, 3 * SIZE, requires_grad=True), torch.randn(4, SIZE)
    with gs.record(path, values="full") as log:
        for _ in range(steps):
            w.grad = None
            recurrent(w, x).sum().backward()
    log.refresh()
    return log, w.grad


def test_each_call_used_the_parts_that_its_row_names(tmp_path: Path) -> None:
    log, _ = recorded(tmp_path / "run.gscope", 3)
    met = dict.fromkeys(COMPUTED, 0)
    for row in range(log.end):
        event = log.event(row)
        name = log.op(event.op).name if event.kind is Kind.OP else ""
        if name not in COMPUTED or event.graph_pass:
            continue
        made = COMPUTED[name]([log.value(*each) for each in log.inputs(row)])
        for slot, each in enumerate(made if event.output_count > 1 else [made]):
            np.testing.assert_array_equal(log.value(row, slot), each)
        met[name] += 1
    assert met == {
        "cat": 3 * (2 * TURNS + 1), "stack": 6 * TURNS, "mul": 9 * TURNS, "sub": 3 * TURNS, "add_": 6,
        "chunk": 6 * TURNS, "unbind": 3 * TURNS, "max": 3 * TURNS,
    }  # fmt: skip


def test_what_comes_back_to_the_parts_is_what_pytorch_computes(tmp_path: Path) -> None:
    log, gradient = recorded(tmp_path / "run.gscope", 3)
    torch.manual_seed(0)
    w, x = torch.randn(4, 3 * SIZE, requires_grad=True), torch.randn(4, SIZE)
    wanted: list[list[Any]] = []

    class Chunk(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """As `chunk`, and notes what comes back."""

        @staticmethod
        def forward(ctx: Any, given: Any) -> Any:
            return tuple(each.clone() for each in given.chunk(3, 1))

        @staticmethod
        def backward(ctx: Any, *given: Any) -> Any:
            wanted.append([each.numpy().copy() for each in given])
            return torch.cat(given, 1)

    h, c = torch.zeros(4, SIZE), torch.ones(4, SIZE)
    for turn in range(TURNS):
        joined = torch.cat([h, x, c] if turn % 2 else [c, h, x], 1) * w
        first, second, third = Chunk.apply(joined)
        above, below = torch.stack((second, third)).max(1)[0].unbind()
        h, c = first * second, third - below * above
    torch.cat((h, c), 1).sum().backward()
    assert torch.equal(w.grad, gradient)
    rows = [
        row
        for row in range(log.end)
        if log.event(row).kind is Kind.GRAD and len(log.outputs(row)) == 3 and log.outputs(row)[0][0] == (4, SIZE)
    ]
    assert len(rows) == 3 * TURNS
    for place, row in enumerate(rows):
        of = log.event(row).forward
        assert log.op(log.event(of).op).name == "chunk"
        for slot in range(3):
            np.testing.assert_array_equal(log.value(row, slot), wanted[place % TURNS][slot])
