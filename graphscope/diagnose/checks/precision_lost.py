"""Information that was rounded away: large numbers whose differences are smaller than what their dtype tells apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import step_of, title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.gradients.paths import is_trained
from graphscope.diagnose.training.batches import ancestors, is_data, same_site
from graphscope.diagnose.values import exact_numbers
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import NAMED_ONLY, argument, is_forward
from graphscope.diagnose.values.variances import varying
from graphscope.eventlog.schema import DTYPE_CODES, Flag, Kind
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

BITS: Final = {"float32": 24, "float16": 11, "bfloat16": 8}
"""So many bits of a number each of these dtypes keeps."""

CASTS: Final = frozenset({"to", "float", "half", "bfloat16", "type", "type_as"})
SUMS: Final = frozenset({"add"})
DIFFERENCES: Final = frozenset({"sub"})

_LEVELS: Final = {"float32": 256.0, "float16": 4.0, "bfloat16": 4.0}
"""Data whose deviation is no more than so many steps of its dtype have lost what they differ in."""

_NOISE: Final = 64.0
"""A difference of so few steps of what it was taken from is mostly rounding."""

_LARGE: Final = {"float32": 2.0**16, "float16": 2.0**7, "bfloat16": 2.0**7}
"""Numbers are large from here on."""

_FEWER: Final = 0.9
"""Such a share of the different numbers are left after a cast, or fewer."""

_LEAST: Final = 8
_APART: Final = "distance to the next number"
_CODES: Final = [DTYPE_CODES[name] for name in BITS]


def step(dtype: str, size: float) -> float:
    """How far apart the numbers of a dtype are that are as large as this."""
    return 2.0 ** (math.floor(math.log2(size)) + 1 - BITS[dtype]) if size > 0 and dtype in BITS else 0.0


def candidates(log: Log) -> list[int]:
    """Data, casts, differences and running sums where something was rounded away."""
    graph = log.graph
    rows = [*_leaves(log), *distinct(log, op_rows(log, CASTS)), *distinct(log, op_rows(log, DIFFERENCES))]
    rows += [int(group[-1]) for group in same_site(log, _carried(log)) if len(group) >= _LEAST]
    found = {row for row in rows if _lost(graph.node(row)) is not None}
    keys = {row for row in exact_numbers.candidates(log) if exact_numbers.collapsed(graph.node(row)) is not None}
    return sorted(found | keys)


def _leaves(log: Log) -> list[int]:
    """The first leaf of each line that is data of floating point."""
    learned = int(Flag.PARAMETER | Flag.REQUIRES_GRAD)

    def data(rows: np.ndarray) -> np.ndarray:
        of_floats = (rows["kind"] == Kind.LEAF) & np.isin(rows["dtype"], _CODES)
        return np.asarray(of_floats & ((rows["flags"] & learned) == 0))

    return distinct(log, log.where(data), depth=1)


def _carried(log: Log) -> np.ndarray:
    """The sums that take what the same line made before."""
    rows = op_rows(log, SUMS)
    before = sources(log, rows)
    known = before >= log.first
    return np.asarray(rows[known][log.pick("site", rows[known]) == log.pick("site", before[known])])


def _lost(node: Node) -> tuple[str, str, dict[str, float]] | None:
    """What was rounded away at a node: the cause, a sentence and the numbers; None where nothing was."""
    if node.kind == "leaf":
        return _of_data(node)
    if is_forward(node, CASTS):
        return _of_cast(node)
    if is_forward(node, DIFFERENCES):
        return _of_difference(node)
    return _of_sum(node) if is_forward(node, SUMS) else None


def _of_data(node: Node) -> tuple[str, str, dict[str, float]] | None:
    summary = node.summary
    if node.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD) or node.dtype not in BITS or summary is None:
        return None
    size = max(abs(summary.minimum), abs(summary.maximum)) if summary.finite else 0.0
    apart = step(node.dtype, size)
    if summary.count < _LEAST or size < _LARGE[node.dtype] or not 0 < summary.std <= _LEVELS[node.dtype] * apart:
        return None
    said = (
        f"{title(node)}{where(node)} holds {node.dtype} of about {size:.4g}, which are {apart:g} apart, and deviates "
        f"by {summary.std:.3g}"
    )
    return (
        "large numbers",
        said,
        {"largest magnitude": size, _APART: apart, "deviation": summary.std},
    )


def _of_cast(node: Node) -> tuple[str, str, dict[str, float]] | None:
    source = node.inputs[0].source if node.inputs else None
    if source is None or node.dtype not in BITS or source.dtype in (node.dtype, "bool") or not is_data(source):
        return None
    before, after, summary = source.value, node.value, source.summary
    if before is None or after is None or summary is None or not summary.finite or before.size < _LEAST:
        return None
    size = max(abs(summary.minimum), abs(summary.maximum))
    if summary.std > size / _LEAST and source.dtype not in ("int32", "int64", "float64", "uint32", "uint64"):
        return None
    kept, had = len(np.unique(after[:_MOST])), len(np.unique(before[:_MOST]))
    whole = source.dtype.startswith(("int", "uint")) or summary.std < size / 2 ** (BITS[node.dtype] - 10)
    if not whole or had < _LEAST or kept > _FEWER * had:
        return None
    said = (
        f"{node.op}{where(node)} makes {node.dtype} of {source.dtype} as large as {size:.4g}: of {had} different "
        f"numbers {kept} are left"
    )
    return (
        "cast",
        said,
        {
            "largest magnitude": size,
            _APART: step(node.dtype, size),
            "different before": had,
            "different after": kept,
        },
    )


_MOST: Final = 1 << 16


def _of_difference(node: Node) -> tuple[str, str, dict[str, float]] | None:
    operands, summary = [edge.source for edge in node.inputs], node.summary
    if len(operands) != 2 or node.dtype not in BITS or summary is None or not summary.finite:
        return None
    if any(each.dtype != node.dtype for each in operands) or (varying(node) is None and not is_data(node)):
        return None
    known = [each.summary for each in operands]
    if any(found is not None and found.count > 1 and not found.std for found in known):
        return None  # a constant less its mean is rounding, and meant to be nothing
    sizes = [0.0 if found is None else max(abs(found.minimum), abs(found.maximum)) for found in known]
    size, left = min(sizes), math.hypot(summary.mean, summary.std)
    apart = step(node.dtype, max(sizes))
    if size < _LARGE[node.dtype] or not 0 < left <= _NOISE * apart or any(_lost(each) for each in _before(node)):
        return None
    said = (
        f"sub{where(node)} takes {node.dtype} of about {max(sizes):.4g} from each other, which are {apart:g} apart, "
        f"and leaves {left:.3g}"
    )
    return "cancellation", said, {"largest magnitude": max(sizes), _APART: apart, "left": left}


def _before(node: Node) -> Iterator[Node]:
    return (each for each in ancestors(node, 50) if each != node and (each.kind == "leaf" or is_forward(each, CASTS)))


def _of_sum(node: Node) -> tuple[str, str, dict[str, float]] | None:
    if len(node.inputs) != 2 or node.dtype not in BITS or is_trained(node.graph, node.event):
        return None  # what the updates of weights lose is judged by the rates and gradients that they come of
    total, added = (edge.source for edge in node.inputs)
    before, more, after = total.value, added.value, node.value
    if before is None or more is None or after is None or before.shape != after.shape or not before.size:
        return None
    factor = argument(node, "alpha", NAMED_ONLY, 1)
    if isinstance(factor, (int, float)):
        more = more * factor
    if not np.isfinite(after).all() or not more.all() or not np.array_equal(before, after):
        return None
    size = float(np.abs(after).max())
    said = (
        f"add{where(node)} adds {float(np.abs(more).max()):.3g} to a sum of {size:.4g} in {node.dtype}, which stays as "
        "it was"
    )
    return "sum that stands still", said, {"sum": size, _APART: step(node.dtype, size)}


_CURES: Final = {
    "large numbers": "subtract an offset in float64 (or as integers) before the numbers become {dtype}",
    "cast": "take {wider} in place of {dtype} there, or subtract an offset while they are {source}",
    "cancellation": "keep both, and their difference, in float64, or take the offset away before that",
    "sum that stands still": "sum in float64, or in float32 where it is half precision",
}


@check(
    "precision lost",
    reads=("rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        stamps = torch.tensor([1700000000 + 7 * second for second in range(64)])
        times = stamps.float()
        times = (times - times.mean()) / 100.0
        w = torch.tensor(0.5, requires_grad=True)
        loss = ((times * w - 1.0) ** 2).mean()
        loss.backward()
        """,
    healthy="""
        import torch

        stamps = torch.tensor([1700000000 + 7 * second for second in range(64)])
        times = (stamps - 1700000000).float()
        times = (times - times.mean()) / 100.0
        w = torch.tensor(0.5, requires_grad=True)
        loss = ((times * w - 1.0) ** 2).mean()
        loss.backward()
        """,
)
def precision_lost(graph: Graph, row: int) -> Iterator[Finding]:
    """Numbers are so large that their dtype can't tell apart what they differ in.

    Found in data, where integers and float64 become a smaller dtype, in differences of large numbers, and in running
    sums that are so large that what is added changes nothing.
    """
    node = graph.node(row)
    found = _lost(node)
    if found is None:
        yield from _of_keys(node)
        return
    cause, said, evidence = found
    source = node.inputs[0].source.dtype if node.inputs else ""
    wider = "float64" if source.startswith(("int", "uint")) else source
    cure = _CURES[cause].format(dtype=node.dtype, source=source, wider=wider)
    place = step_of(node)
    yield Finding(
        "precision_lost", "warning", row, node.row, place.file, place.line, (title(node),), cause, said, cure, evidence
    )


def _of_keys(node: Node) -> Iterator[Finding]:
    """Identifiers that were rounded together."""
    found = exact_numbers.collapsed(node)
    if found is None or any(_lost(each) for each in _before(found.node)):
        return
    made, place = found.node, step_of(found.node)
    verdict = f"{title(made)}{where(made)} {found.said}: different ones become the same"
    cure = "keep identifiers and what is computed of them as int64, or in float64"
    yield Finding(
        "precision_lost", "warning", node.row, made.row, place.file, place.line, (title(made),), found.cause, verdict,
        cure, found.numbers,
    )  # fmt: skip
