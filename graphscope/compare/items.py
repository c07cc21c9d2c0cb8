"""What a region computes, value by value: its vertices, and in the place of a composite op the parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.expansions import Part, expand
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run

MOST: Final = 96
"""So many vertices of a region are looked at."""


_COUNTING: Final = (0.0, 1.0, -np.inf)


@dataclass(eq=False, slots=True)
class Item:
    """One value of a region."""

    vertex: int
    op: str
    """What made the vertex."""
    value: np.ndarray | None
    part: Part | None = None
    """Which part of the vertex it is; None of the vertex itself."""
    sources: list[Item] = field(default_factory=list)
    users: list[Item] = field(default_factory=list)
    mate: Item | int | None = None
    """What of the other side holds the same: an item, or a vertex that is not of the region."""
    is_inner: bool = False
    """Whether it is a part of a vertex, and not the last."""

    @property
    def is_first(self) -> bool:
        """Whether it is the first part of its vertex."""
        return not any(source.vertex == self.vertex for source in self.sources)

    @property
    def is_mask(self) -> bool:
        """Whether it says of each element whether it counts: true or false, 1 or 0, 0 or minus infinity."""
        if self.value is None or self.value.dtype.kind not in "bf":
            return False
        return self.value.dtype.kind == "b" or bool(np.isin(self.value, _COUNTING).all())


def items_of(run: Run, vertices: Sequence[int]) -> list[Item]:
    """The values of a region in the order in which they are made. The last part of a vertex stands for it."""
    found: list[Item] = []
    last: dict[int, Item] = {}
    for vertex in vertices[:MOST]:
        sources = [last[source] for source in run.flow.inputs[vertex] if source in last]
        for item in _parts(run, vertex):
            item.sources = list(dict.fromkeys(sources + ([last[vertex]] if vertex in last else [])))
            for source in item.sources:
                source.users.append(item)
            last[vertex] = item
            found.append(item)
    return found


def _parts(run: Run, vertex: int) -> list[Item]:
    flow = run.flow
    parts = expand(flow.node(vertex)) if flow.kinds[vertex] == Kind.OP else None
    if parts is None or len(parts) < 2:
        return [Item(vertex, flow.ops[vertex], flow.value(vertex))]
    if flow.slots[vertex]:  # an output beside that which the parts lead to
        inner = [Item(vertex, flow.ops[vertex], part.value, part, is_inner=True) for part in parts]
        return [*inner, Item(vertex, flow.ops[vertex], flow.value(vertex))]
    last = len(parts) - 1
    return [Item(vertex, flow.ops[vertex], part.value, part, is_inner=place < last) for place, part in enumerate(parts)]
