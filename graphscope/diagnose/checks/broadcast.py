"""A column against a row: two tensors of one batch whose shapes differ by an axis of one become every pair of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import step_of, title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.values.op_rows import distinct, first_inputs, op_rows
from graphscope.diagnose.values.origins import MOVES, argument, is_forward, origin
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

LOSSES: Final = frozenset(
    {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "gaussian_nll_loss", "kl_div"}
)
"""Losses that compare what they are given element by element, and broadcast it."""

PAIRS: Final = frozenset({"sub", "add", "mul", "div", "true_divide", "eq", "ne", "rsub"})
"""Ops of two operands that broadcast."""

PASSING: Final = frozenset(
    {
        "pow", "square", "abs", "neg", "mul", "div", "add", "sub", "rsub", "sqrt", "relu", "clamp", "softplus", "log",
        "logsigmoid", "float", "double", "half", "to", "type", "where", "cosh", "true_divide", "positive", "absolute",
    }
)  # fmt: skip
"""Ops that turn differences into the elements of a loss, one by one."""

REDUCING: Final = frozenset({"mean", "sum", "nanmean", "nansum", "norm", "linalg_norm", "linalg_vector_norm"})

_MOST_OPS: Final = 6
"""So many ops lie between the broadcast and the number that becomes of it."""

_INSERTIONS: Final = frozenset({"unsqueeze", "getitem", "view", "reshape"})


def crosses(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether one shape is the other without an axis of one, and together they broadcast to more than either."""
    long, short = (one, other) if len(one) > len(other) else (other, one)
    if len(long) != len(short) + 1 or not short or 0 in long:
        return False
    at = [place for place, size in enumerate(long) if size == 1 and long[:place] + long[place + 1 :] == short]
    aligned = list(zip(long[1:], short, strict=True))
    fits = all(1 in pair or pair[0] == pair[1] for pair in aligned)
    return bool(at) and fits and any(pair[0] < pair[1] for pair in aligned)


def candidates(log: Log) -> list[int]:
    """Losses of operands that cross, and sums over all that became of such operands."""
    losses = _crossing(log, op_rows(log, LOSSES))
    frontier = _crossing(log, op_rows(log, PAIRS))
    found = [losses]
    if len(frontier):
        passing, reducing = op_rows(log, PASSING | REDUCING), op_rows(log, REDUCING)
        onward = [first_inputs(log, passing, number) for number in (0, 1)]
        sums = first_inputs(log, reducing)
        for _ in range(_MOST_OPS):
            found.append(reducing[np.isin(sums, frontier)])
            frontier = passing[np.isin(onward[0], frontier) | np.isin(onward[1], frontier)]
    return distinct(log, np.unique(np.concatenate(found)))


def _crossing(log: Log, rows: np.ndarray) -> np.ndarray:
    """Those ops of two tensors whose shapes cross."""
    one, other = first_inputs(log, rows), first_inputs(log, rows, 1)
    rows, one, other = (each[(one >= log.first) & (other >= log.first)] for each in (rows, one, other))
    shapes = np.column_stack([log.pick("shape", one), log.pick("shape", other)])
    if not len(shapes):
        return rows
    kinds, which = np.unique(shapes, axis=0, return_inverse=True)
    crossing = np.array([crosses(log.shape(first), log.shape(second)) for first, second in kinds.tolist()])
    return np.asarray(rows[crossing[which.reshape(-1)]])


@check(
    "silent broadcast",
    reads=("rows",),
    rows=candidates,
    sample="""
        import torch

        x = torch.randn(8, 3)
        y = torch.randn(8)
        w = torch.randn(3, 1, requires_grad=True)
        loss = ((x @ w - y) ** 2).mean()
        loss.backward()
        """,
    healthy="""
        import torch

        x = torch.randn(8, 3)
        y = torch.randn(8)
        w = torch.randn(3, 1, requires_grad=True)
        far = (x @ w - torch.randn(5)).abs().mean()
        loss = (((x @ w).squeeze(1) - y) ** 2).mean() + 0.1 * far
        loss.backward()
        """,
)
def broadcast(graph: Graph, row: int) -> Iterator[Finding]:
    """Two tensors of one batch, a column and a row, were broadcast to all pairs, and these summed up in a loss.

    Pairs that are made on purpose are left alone: an axis is put in at that very line, one of the two is a parameter,
    or what becomes of them is not summed up over both axes at once.
    """
    end = graph.node(row)
    if not is_forward(end, LOSSES | REDUCING):
        return
    made = end if end.op in LOSSES else _broadcast_before(end)
    if made is None or end.shape != () or len(made.inputs) < 2:
        return
    if end.op in LOSSES and argument(end, "reduction", 2, "mean") == "none":
        return
    one, other = (edge.source for edge in made.inputs[:2])
    if not crosses(one.shape, other.shape) or (end is not made and _meant(made, one, other)):
        return
    pairs = np.broadcast_shapes(one.shape, other.shape)
    sizes = " and ".join(str(tuple(each.shape)) for each in (one, other))
    file, line = step_of(made).file, step_of(made).line
    verdict = (
        f"{made.op}{where(made)} broadcasts {sizes} to {tuple(map(int, pairs))}: each row of one is set against every "
        f"row of the other, and {end.op}{where(end)} sums up over all pairs"
    )
    cure = f"give both the same shape ahead of {made.op}: squeeze the axis of 1 away, or put it into the other"
    evidence = {"elements": int(np.prod(pairs)), "meant": int(np.prod(one.shape)), "summed at": int(row)}
    names = (title(one), title(other))
    yield Finding("broadcast", "error", row, made.row, file, line, names, "(N, 1) with (N,)", verdict, cure, evidence)


def _broadcast_before(end: Node) -> Node | None:
    """The broadcast that a sum was made of, element by element."""
    nodes = [edge.source for edge in end.inputs[:1]]
    for _ in range(_MOST_OPS):
        for node in nodes:
            shapes = [edge.source.shape for edge in node.inputs[:2]]
            if node.op.rstrip("_") in PAIRS and len(shapes) == 2 and crosses(shapes[0], shapes[1]):
                return node
        passing = [node for node in nodes if node.kind == "op" and node.op.rstrip("_") in PASSING | REDUCING]
        nodes = [edge.source for node in passing for edge in node.inputs[:2]]
    return None


def _meant(made: Node, one: Node, other: Node) -> bool:
    """Whether a program wants all pairs."""
    operands = (one, other)
    if any(origin(each).flags & Flag.PARAMETER for each in operands):
        return True
    long = max(operands, key=lambda each: len(each.shape))
    inserted = (
        long.op in _INSERTIONS
        and long.op in MOVES
        and long.inputs[0].source.shape == min((each.shape for each in operands), key=len)
    )
    here, there = made.site, long.site
    return inserted and here is not None and there is not None and (here.file, here.line) == (there.file, there.line)
