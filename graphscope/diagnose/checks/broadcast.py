"""A column against a row: two tensors of one batch whose shapes differ by an axis of one become every pair of rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import step_of, title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.training.batches import ancestors
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import MOVES, argument, is_forward, moves, origin
from graphscope.eventlog.grouping import grouped
from graphscope.eventlog.schema import Flag
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

LOSSES: Final = frozenset(
    {"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "poisson_nll_loss", "gaussian_nll_loss", "kl_div"}
)
"""Losses that compare what they are given element by element, and broadcast it."""

PAIRS: Final = frozenset(
    {"sub", "add", "mul", "div", "true_divide", "eq", "ne", "rsub", "maximum", "minimum", "logaddexp", "hypot", "pow"}
)
"""Ops of two operands that broadcast."""

PASSING: Final = PAIRS | {
    "square", "abs", "absolute", "neg", "negative", "positive", "sqrt", "rsqrt", "reciprocal", "sign", "where", "clamp",
    "clip", "clamp_min", "clamp_max", "relu", "softplus", "elu", "leaky_relu", "gelu", "silu", "sigmoid", "logsigmoid",
    "tanh", "sinh", "cosh", "sin", "cos", "atan", "arctan", "asinh", "arcsinh", "erf", "log", "log1p", "log2", "log10",
    "logaddexp2", "xlogy", "expm1", "float", "double", "half", "bfloat16", "to", "type", "type_as", "addcmul",
    "lerp", "nan_to_num", "lt", "le", "gt", "ge", "logical_and", "logical_not", "clone", "contiguous",
}  # fmt: skip
"""Ops that turn differences into the elements of a loss, one by one."""

_KERNELS: Final = frozenset({"exp", "exp2"})
"""So do these; but a mean of them over all pairs may be a kernel's."""

REDUCING: Final = frozenset({"mean", "sum", "nanmean", "nansum", "norm", "linalg_norm", "linalg_vector_norm"})

_MOST_OPS: Final = 24
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
    crossing = map(log.graph.node, distinct(log, _crossing(log, op_rows(log, LOSSES | PAIRS))))
    ends = ((made if made.op in LOSSES else _sum_of(made, PASSING | _KERNELS)) for made in crossing)
    return sorted({end.row for end in ends if end is not None})


def _crossing(log: Log, rows: np.ndarray) -> np.ndarray:
    """Those ops of two tensors whose shapes cross."""
    one, other = sources(log, rows), sources(log, rows, 1)
    rows, one, other = (each[(one >= log.first) & (other >= log.first)] for each in (rows, one, other))
    shapes = [log.pick("shape", each) for each in (one, other)]
    first, which = grouped(shapes)
    pairs = zip(*(each[first].tolist() for each in shapes), strict=True)
    crossing = np.array([crosses(log.shape(shape), log.shape(beside)) for shape, beside in pairs], bool)
    return np.asarray(rows[crossing[which]])


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

    Pairs that are made on purpose are left alone: an axis is put in at that very line, or into what a model answers,
    one of the two is a parameter, or what becomes of them is not summed up over both axes at once. Where nothing says
    that the rows of both belong together, so are kernels, and what a program compares with itself as well.
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
    column = max(one, other, key=lambda each: len(each.shape))
    away = f"squeeze({-1 if column.shape[-1] == 1 else column.shape.index(1)})"
    cure = f"give both the same shape ahead of {made.op}: {away} of what has {tuple(map(int, column.shape))}"
    evidence = {"elements": int(np.prod(pairs)), "meant": int(np.prod(one.shape)), "summed at": Row(end.row)}
    names = (title(one), title(other))
    yield Finding("broadcast", "error", row, made.row, file, line, names, "(N, 1) with (N,)", verdict, cure, evidence)


def _broadcast_before(end: Node) -> Node | None:
    """The broadcast that a sum was made of, element by element."""
    nodes, seen = [edge.source for edge in end.inputs[:1]], {end.row}
    for _ in range(_MOST_OPS):
        for node in nodes:
            shapes = [edge.source.shape for edge in node.inputs[:2]]
            if is_forward(node, PAIRS) and len(shapes) == 2 and crosses(shapes[0], shapes[1]):
                return node
        passing = [node for node in nodes if is_forward(node, PASSING | _KERNELS | REDUCING) and len(node.shape)]
        nodes = [edge.source for node in passing for edge in node.inputs if edge.source.row not in seen]
        seen |= {node.row for node in nodes}
    return None


def _sum_of(made: Node, passing: frozenset[str]) -> Node | None:
    """What all pairs are summed up to, element by element, where that is one number."""
    nodes, seen = [made], {made.row}
    for _ in range(_MOST_OPS):
        users = [edge.target for node in nodes for edge in node.users if edge.target.row not in seen]
        users = [user for user in users if is_forward(user, REDUCING | passing)]
        end = next((user for user in users if user.shape == () and user.op in REDUCING), None)
        if end is not None or not users:
            return end
        seen |= {user.row for user in users}
        nodes = users
    return None


def _are_paired(one: Node, other: Node) -> bool:
    """Whether the rows of what is trained belong to those of the data beside it: both were picked or made together."""
    trained, given = (one, other) if _is_trained(one) else (other, one)
    if _is_trained(given):
        return False
    beside = list(ancestors(given))
    rows, picks = {each.row for each in beside}, {_pick(each) for each in beside}
    batch = (max(one.shape[0], other.shape[0]),)
    fed = (each for each in ancestors(trained) if each.shape[:1] == batch and not _is_trained(each))
    return any(each.row in rows or (_pick(each) or 0) in picks for each in fed if not each.flags & Flag.PARAMETER)


def _pick(node: Node) -> tuple[object, ...] | None:
    """By what a batch was picked out of more, or put together: two that say the same belong together."""
    if node.op == "stack" and node.site is not None:
        return "stack", node.site.file, node.site.line, len(node.inputs)
    if node.op in ("getitem", "index_select") and node.inputs:
        return node.op, node.event.inputs[1:], repr(node.arguments)
    return None


def _is_trained(node: Node) -> bool:
    return bool(node.flags & Flag.REQUIRES_GRAD) or bool(node.backward)


def _pairs_with_itself(made: Node) -> bool:
    """Whether the same is done with one operand and itself: a program that does so compares all pairs."""
    rows = {edge.source.row for edge in made.inputs[:2]}
    nodes = [edge.target for each in made.inputs[:2] for edge in origin(each.source).users]
    nodes += [edge.target for node in nodes if node.op.rstrip("_") in MOVES for edge in node.users]
    for node in nodes:
        if is_forward(node, PAIRS | {"cdist"}) and node.row not in rows and len(node.inputs) > 1:
            sources = [edge.source for edge in node.inputs[:2]]
            shapes = [each.shape for each in sources]
            if origin(sources[0]) == origin(sources[1]) and (shapes[0] != shapes[1] or node.op == "cdist"):
                return True
    return False


def _meant(made: Node, one: Node, other: Node) -> bool:
    """Whether a program wants all pairs."""
    operands = (one, other)
    if any(origin(each).flags & Flag.PARAMETER for each in operands) or origin(one) == origin(other):
        return True
    if not _are_paired(one, other) and (_sum_of(made, PASSING) is None or _pairs_with_itself(made)):
        return True
    short, long = sorted(operands, key=lambda each: len(each.shape))
    at, here = long, made.site
    while moves(at):
        source, there = at.inputs[0].source, at.site
        on_line = here is not None and there is not None and (here.file, here.line) == (there.file, there.line)
        if at.op in _INSERTIONS and source.shape == short.shape and (on_line or _is_trained(long)):
            return True
        at = source
    return False
