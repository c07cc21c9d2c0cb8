"""How far apart two results of one op may be when nothing but rounding is between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.error_rules import RULES
from graphscope.compare.error_rules.sums import by_size
from graphscope.compare.layouts import HIDDEN, unhidden
from graphscope.compare.operation import Operand, Operation, root_mean_square
from graphscope.compare.rounding import Allowed, Deviation

if TYPE_CHECKING:
    from graphscope.graph import Node


def allowed(
    node: Node,
    inputs: Sequence[Deviation | None],
    *dtypes: str,
    slot: int = 0,
    forward: Sequence[Deviation | None] = (),
) -> Allowed:
    """How far apart the results of an op may be in two runs.

    The error of a result is what its inputs' errors become (their size times the derivative of the op: its condition)
    and what the op itself rounds, in either run and in any order of summation. The inputs' errors are measured, so
    that nothing piles up along a graph: after twelve layers each op is still judged by what came in.

    Args:
        node: The op, as one of the two runs has it.
        inputs: How its inputs differ, in the order of `node.inputs`; None of one that is not known to have a
            counterpart (it counts as equal).
        dtypes: The dtypes that the results have in the two runs; that of the node where none are given.
        slot: Which of its outputs.
        forward: Of a backward node, how those values of forward differ that `saved` names.
    """
    operation = _operation(node, inputs, dtypes or (node.outputs[slot][1],), slot, forward)
    rule = RULES.get(node.op.removesuffix("_"), by_size) if node.kind == "op" and not slot else by_size
    with np.errstate(all="ignore"):
        try:
            found = rule(operation)
        except (TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError):
            found = by_size(operation)  # a call of another form, values that were not kept, or a damaged log
    least = _LEAST if "float16" in operation.dtypes else _TINY
    arrived = any(each is not None and each.largest for each in (*inputs, *forward))
    flips = _flips(operation) if arrived else 0.0
    return Allowed(found.absolute + least, found.relative, found.slope, flips)


_LEAST: Final = 2.0**-23
"""Numbers of float16 that are nearly 0 lie half as far apart."""
_TINY: Final = 2.0**-125
"""Numbers of the other dtypes that are this near to 0 may have been made 0."""


def expected(
    node: Node,
    inputs: Sequence[Deviation | None],
    *dtypes: str,
    slot: int = 0,
    forward: Sequence[Deviation | None] = (),
) -> Deviation:
    """How far off the result of an op is likely to be in the other run, where that has nothing to compare it with.

    Args:
        node: The op.
        inputs: As for `allowed`, and so are the others.
        dtypes: Those of the result in both runs.
        slot: Which of its outputs.
        forward: Of a backward node, how the values differ that `saved` names.
    """
    bound = allowed(node, inputs, *dtypes, slot=slot, forward=forward)
    value = node.output(slot)
    size = 1.0 if value is None or value.dtype.kind not in "fc" else root_mean_square(value)
    # Of a gradient the bound is of the size of its largest element, and would grow from op to op.
    absolute = 0.0 if value is None or node.graph_pass == "backward" else float(np.mean(bound.absolute))
    seen = size if value is None or size < HIDDEN else root_mean_square(unhidden(value))
    likely = max(absolute, float(np.mean(bound.relative)) * seen) / MARGIN if size else 0.0
    return Deviation(1, size, MARGIN * likely, likely) if np.isfinite(likely) else Deviation(1, size, 0.0, 0.0)


MARGIN: Final = 8
"""So many times as large as errors are on the average is what is allowed."""


def saved(node: Node) -> list[tuple[int, int]]:
    """Row and slot of the values of forward that the rules of a backward node's inputs may have used: what went into
    the ops that these belong to, and came out of them.
    """
    found: dict[tuple[int, int], None] = {}
    for edge in node.inputs if node.graph_pass == "backward" else ():
        owner = edge.source.forward
        while owner is not None and owner.kind == "grad":  # a rule's own ops
            owner = owner.forward
        if owner is not None and owner.kind == "op":
            found.update(((each.source.row, each.slot), None) for each in owner.inputs)
            found[owner.row, 0] = None
    return list(found)


def _operation(
    node: Node,
    inputs: Sequence[Deviation | None],
    dtypes: Sequence[str],
    slot: int,
    forward: Sequence[Deviation | None],
) -> Operation:
    """What a rule looks at."""
    known = {edge.number: found for edge, found in zip(node.inputs, inputs, strict=False)}
    tensors = {
        edge.number: Operand(edge.source.output(edge.slot), known.get(edge.number), edge.source.outputs[edge.slot][0])
        if edge.source.kind in ("op", "leaf")
        else Operand(edge.source.value, known.get(edge.number), edge.source.shape)
        for edge in node.inputs
    }
    kept = math.hypot(*(min(each.relative, 1.0) for each in forward if each is not None and each.size))
    return Operation(node, node.output(slot), node.outputs[slot][0], dtypes, tensors, kept)


def _flips(operation: Operation) -> float:
    """What part of the elements of a tensor of booleans or integers may differ, where values close to a bound flip."""
    return float(min(0.01, 2e-6 + 16 * max((each.relative for each in operation.tensors.values()), default=0.0)))
