"""Parameters that one run holds whole and the other in parts, as a fused projection and its three."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.compare.anchors import TIGHT

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.flow import Flow

Cut = tuple[slice, ...]


class Shared(NamedTuple):
    """What two parameters have in common, by the numbers of their tensors; None for the whole of one."""

    a: int
    b: int
    cut_a: Cut | None
    cut_b: Cut | None


def shared_parts(alignment: Alignment) -> list[Shared]:
    """The parameters without a counterpart of which one run has a part, as a parameter of its own."""
    a, b = alignment.a, alignment.b
    free = [_free(a, b), _free(b, a)]
    found = []
    for whole, parts, is_a in ((free[0], free[1], True), (free[1], free[0], False)):
        for tensor, value in whole.items():
            for part, cut in _parts(value, parts):
                found.append(Shared(tensor, part, cut, None) if is_a else Shared(part, tensor, None, cut))
    return found


def holder(flow: Flow, tensor: int) -> int | None:
    """The vertex that holds a parameter ahead of a stretch; None where the stretch does not use it."""
    found = np.flatnonzero((flow.tensors == tensor) & flow.is_leaf)
    return int(found[0]) if len(found) else None


def _free(run: Run, other: Run) -> dict[int, np.ndarray]:
    """The values of what gathers gradients and has no counterpart that does, by the numbers of their tensors."""
    found = {}
    for vertex in run.flow.gathered:
        value = run.flow.value(vertex) if int(run.mates[vertex]) not in other.flow.gathered else None
        if value is not None and value.dtype.kind == "f":
            found[int(run.flow.tensors[vertex])] = value
    return found


def _parts(value: np.ndarray, parts: dict[int, np.ndarray]) -> Iterator[tuple[int, Cut]]:
    """Which of some values are parts of one, and where they lie in it."""
    close = TIGHT * float(np.abs(value).max(initial=0))
    for tensor, part in parts.items():
        for axis in range(value.ndim):
            rest = [value.shape[each] for each in range(value.ndim) if each != axis]
            if part.ndim != value.ndim or part.size >= value.size or rest != [*np.delete(part.shape, axis)]:
                continue
            if value.shape[axis] % part.shape[axis]:
                continue
            for start in range(0, value.shape[axis], part.shape[axis]):
                cut = (*[slice(None)] * axis, slice(start, start + part.shape[axis]))
                if np.abs(value[cut] - part).max() <= close:
                    yield tensor, cut
                    break
