"""Where rows of a stack are laid, so that stacking them copies nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from graphscope.static.graphs.graph import Node, Value

# A value that is a row of several stacks can be so only where these are windows of one piece of memory: a sequence and
# the same sequence one step later, as the states before and after each step of a recurrent network, are.

if TYPE_CHECKING:
    from graphscope.static.plans.lowering import Lowered


@dataclass(eq=False)
class Room:
    """Memory of rows that lie one behind the other; `key` is the value under which it is planned."""

    key: Value
    low: int = 0
    high: int = 0
    rows: dict[int, Value | None] = field(default_factory=dict)
    """What lies in each row: the value that is made there, or None for a copy."""


@dataclass(eq=False)
class Layout:
    """Which values are rows, and what each stack still has to copy."""

    rows: dict[Value, tuple[Room, int]] = field(default_factory=dict)
    stacks: dict[Value, tuple[Room, int]] = field(default_factory=dict)
    """For each stack its room and first row."""
    copies: dict[Value, list[tuple[int, Value]]] = field(default_factory=dict)
    """For each stack the places of what is made elsewhere."""


def is_stack(node: Node) -> bool:
    """Whether a node puts values of one shape one behind the other."""
    return node.op == "stack" and node.attributes.get("dim") == 0


def lay_out(lowered: Lowered) -> Layout:
    """Find a place for the rows of every stack whose memory is planned; tells `lowered` whose memory they are."""
    layout = Layout()
    for step in lowered.steps:
        if is_stack(step.node) and step.node.outputs[0] not in lowered.fresh:
            _lay(lowered, layout, step.node)
    keys = {value: room.key for value, (room, _) in (*layout.rows.items(), *layout.stacks.items())}
    for value, root in lowered.roots.items():
        lowered.roots[value] = keys.get(root, root)
    for room, _ in layout.stacks.values():
        row = room.key.node.inputs[0]
        lowered.room[room.key] = (room.high - room.low) * lowered.size(row)
    return layout


def _lay(lowered: Lowered, layout: Layout, node: Node) -> None:
    value = node.outputs[0]
    sources = [_made_at(lowered, each) for each in node.inputs]
    room, first = _window(layout, sources, lowered.size(node.inputs[0])) or (Room(value), 0)
    room.low, room.high = min(room.low, first), max(room.high, first + len(sources))
    copies = []
    for place, (source, given) in enumerate(zip(sources, node.inputs, strict=True)):
        row = first + place
        if source is not None and layout.rows.get(source, (room, row)) == (room, row):
            layout.rows[source] = (room, row)
            room.rows[row] = source
        else:
            copies.append((place, given))
            room.rows[row] = None
    layout.stacks[value] = (room, first)
    layout.copies[value] = copies


def _window(layout: Layout, sources: list[Value | None], size: int) -> tuple[Room, int] | None:
    """A room in which some of these lie already, all in step, and the rest of which is free; and the first row."""
    known = next((place for place, source in enumerate(sources) if source in layout.rows), None)
    if known is None:
        return None
    room, row = layout.rows[sources[known]]  # type: ignore[index]
    first = row - known
    for place, source in enumerate(sources):
        there = room.rows.get(first + place, sources)
        if there is not sources and (there is None or there is not source):  # two copies would be one
            return None
        if source in layout.rows and layout.rows[source] != (room, first + place):
            return None
    return room, first


def _made_at(lowered: Lowered, value: Value) -> Value | None:
    """The value that has to be made in the row for this one to lie there; None where it is made elsewhere."""
    root = lowered.root(value)
    whole = lowered.samples[value].flags.c_contiguous and lowered.size(root) == lowered.size(value)
    mine = any(step.node is root.node and step.into for step in lowered.made.get(root, ()))
    return root if whole and mine and root not in lowered.fresh and not is_stack(root.node) else None
