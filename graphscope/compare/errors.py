"""How far apart two results of one op may be when nothing but rounding is between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.rounding import Allowed, Deviation, roundoff

if TYPE_CHECKING:
    from graphscope.graph import Node


def allowed(node: Node, inputs: Sequence[Deviation | None], *dtypes: str) -> Allowed:
    """How far apart the results of an op may be in two runs.

    Args:
        node: The op, as one of the two runs has it.
        inputs: How its inputs differ, in the order of `node.inputs`; None of one that is not known to have a
            counterpart (it counts as equal).
        dtypes: The dtypes that the results have in the two runs; those of the node where none are given.
    """
    value = node.value
    size = 0.0 if value is None or not value.size else float(np.abs(value).max())
    unit = roundoff(*(dtypes or (node.dtype,)))
    reduced = max((edge.source.shape[-1] for edge in node.inputs if edge.source.shape), default=1)
    arriving = max((each.relative for each in inputs if each is not None), default=0.0)
    part = 4 * unit * np.sqrt(reduced) + 8 * arriving
    return Allowed(part * size, part, 4 * unit + 2 * arriving, flips=min(0.01, arriving * 16) if arriving else 0.0)
