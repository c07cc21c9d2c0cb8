"""Planning memory: which steps share a buffer, by how long each value is needed."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphscope.static.graphs.graph import Value
from graphscope.static.plans.lowering import Lowered, Step, nbytes

_ALIGNMENT = 64


@dataclass
class Memory:
    """Where the fixed values of a plan lie: offsets into one piece of memory.

    Attributes:
        offsets: For each fixed value with memory of its own, the byte that it begins at.
        size: Bytes in all.
        unshared: Bytes that it would take if no memory were used twice.
        in_place: The values that are written over one of their inputs.
    """

    offsets: dict[Value, int] = field(default_factory=dict)
    size: int = 0
    unshared: int = 0
    in_place: list[Value] = field(default_factory=list)
    room: Any = None
    """The memory itself, once there are arrays in it."""

    def arrays(self) -> dict[Value, Any]:
        """Memory, and the array of each value in it."""
        room = np.empty(self.size + _ALIGNMENT, np.uint8)
        start = -room.ctypes.data % _ALIGNMENT
        self.room = room[start:]
        made: dict[Any, Any] = {}
        arrays = {}
        for value, offset in self.offsets.items():  # values that are laid alike in one place are one array
            key = (offset, value.shape, value.dtype)
            if key not in made:
                part: Any = room[start + offset : start + offset + nbytes(value)]
                made[key] = part.view(value.dtype).reshape(value.shape)
            arrays[value] = made[key]
        return arrays


def plan_memory(lowered: Lowered, moments: Sequence[int] | None = None) -> Memory:
    """Give each fixed value a place; one that is needed no longer gives its place to others.

    Args:
        lowered: The steps.
        moments: For each step when it runs, where several run together; then nothing is written over what it is made
            of. By default one after the other.
    """
    when = range(len(lowered.steps)) if moments is None else moments
    last: dict[Value, int] = {}
    for number, step in zip(when, lowered.steps, strict=True):
        for value in step.node.inputs:
            if isinstance(value, Value):
                last[lowered.roots[value]] = number
    for value in lowered.graph.outputs:
        last[lowered.roots[value]] = len(lowered.steps) + 1
    ends: dict[int, list[Value]] = {}
    for value, number in last.items():
        ends.setdefault(number, []).append(value)
    memory = Memory()
    free: list[tuple[int, int]] = []  # size and offset
    sizes: dict[int, int] = {}
    for place, (number, step) in enumerate(zip(when, lowered.steps, strict=True)):
        taken: Value | None = None
        for value in step.node.outputs if step.into else ():
            if value in lowered.fresh:
                continue
            size = -(-max(nbytes(value), 1) // _ALIGNMENT) * _ALIGNMENT
            memory.unshared += size
            taken = _to_write_over(lowered, memory, step, number, last) if moments is None else None
            if taken is not None:
                memory.offsets[value] = memory.offsets[taken]
                memory.in_place.append(value)
            else:
                memory.offsets[value] = _found(memory, free, sizes, size)
        if place + 1 < len(when) and when[place + 1] == number:
            continue
        for value in ends.get(number, ()):
            if value in memory.offsets and value is not taken:
                insort(free, (sizes[memory.offsets[value]], memory.offsets[value]))
    return memory


def _found(memory: Memory, free: list[tuple[int, int]], sizes: dict[int, int], size: int) -> int:
    """The smallest free place that is large enough, else a new one."""
    for place, (room, offset) in enumerate(free):
        if room >= size:
            del free[place]
            return offset
    offset = memory.size
    memory.size += size
    sizes[offset] = size
    return offset


def _to_write_over(lowered: Lowered, memory: Memory, step: Step, number: int, last: dict[Value, int]) -> Value | None:
    """An input that is needed no longer and lies just as the result will."""
    if not step.elementwise:
        return None
    out = step.node.outputs[0]
    for value in step.inputs:
        if not isinstance(value, Value) or value.shape != out.shape or value.dtype != out.dtype:
            continue
        root = lowered.roots[value]
        if root not in memory.offsets or last.get(root) != number or nbytes(root) != nbytes(out):
            continue
        if not lowered.samples[value].flags.c_contiguous:
            continue
        others = [each for each in step.inputs if isinstance(each, Value) and lowered.roots[each] is root]
        if all(each.shape == out.shape and lowered.samples[each].flags.c_contiguous for each in others):
            return root
    return None
