"""Parameters that a program updates by hand: where it writes into them, and how their gradients come there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.diagnose.values.origins import MOVES, NAMED_ONLY, argument
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_MOST_TENSORS: Final = 64
_MOST_WRITES: Final = 24
_MOST_NODES: Final = 64
"""So many parameters, so many writes into each, and so many nodes behind a write are looked at."""

_SAME: Final = MOVES | {"sign", "clamp", "clip", "clamp_min", "clamp_max", "nan_to_num", "accumulate_grad"}
"""Ops that keep the sign of their first input."""
_ADDING: Final = {"add": 1, "sub": -1, "assign_add": 1, "assign_sub": -1}
"""Ops that add their second input, with that sign."""
_TAKING: Final = frozenset({"set", "copy", "copy_slices"})
"""Ops that put their second input in the place of what was there."""


class Update(NamedTuple):
    """A write into a parameter that was made of its gradient."""

    row: int
    sign: int
    """1 where it goes up the gradient, -1 where it goes down, 0 where that is not known."""
    pulled: int
    """The newest part of the gradient."""


@once_a_length
def updates_by_hand(log: Log) -> dict[int, list[Update]]:
    """By parameter that no optimizer holds: the updates that the program writes itself, ascending."""
    written = parameter_rows(log).written
    held = np.fromiter(training(log).optimized, np.int64)
    tensors = np.setdiff1d(np.intersect1d(written.tensors, _pulled(log)), held)[:_MOST_TENSORS]
    begins = training(log).backward_begins
    found: dict[int, list[Update]] = {}
    for tensor in tensors.tolist():
        rows = written.of([tensor]).rows
        rows = rows[rows > begins[0]] if len(begins) else rows[:0]
        chosen = np.concatenate([rows[: _MOST_WRITES // 2], rows[_MOST_WRITES // 2 :][-_MOST_WRITES // 2 :]])
        made = [_update(log.graph.node(row), tensor, begins) for row in chosen.tolist()]
        found[tensor] = [each for each in made if each is not None]
    return {tensor: each for tensor, each in found.items() if each}


def _pulled(log: Log) -> np.ndarray:
    """The tensors that gradients were computed for: added to them, or handed to the program."""
    entries = enumerate(log.table("ops"), 1)
    handed = [number for number, op in entries if isinstance(op, dict) and op.get("name") == "grad"]
    handing = log.where(lambda each: (each["kind"] == Kind.GRAD) & np.isin(each["op"], handed))
    rows = each_once(log.pick("forward", handing).astype(np.int64))
    rows = rows[(log.pick("flags", rows) & int(Flag.REQUIRES_GRAD)) != 0]
    known = parameter_rows(log).grown.tensors
    return np.union1d(log.pick("tensor", rows).astype(np.int64), known)


def _update(write: Node, tensor: int, begins: np.ndarray) -> Update | None:
    """How a write goes along the gradient of the newest backward pass; None where it was not made of that."""
    since = int(begins[np.searchsorted(begins, write.row) - 1])
    parts = list(_parts(write, tensor, since))
    signs = {sign for _, sign in parts}
    return Update(write.row, signs.pop() if len(signs) == 1 else 0, max(row for row, _ in parts)) if parts else None


def _parts(write: Node, tensor: int, since: int) -> Iterator[tuple[int, int]]:
    """The rows of a parameter's gradient behind a write into it, and the sign of each there."""
    waiting, seen = [(write, 1)], set[tuple[int, int]]()
    while waiting and len(seen) < _MOST_NODES:
        node, sign = waiting.pop()
        for source, factor in _factors(node):
            at = (source.row, sign * factor)
            if source.row <= since or at in seen or source.tensor == tensor:
                continue
            seen.add(at)
            owner = source.forward if source.kind in ("accumulate", "grad") else None
            if owner is None:
                waiting.append((source, sign * factor))
            elif owner.tensor == tensor:
                yield at


def _factors(node: Node) -> Iterator[tuple[Node, int]]:
    """What a node grows with, or falls with: its inputs, each with 1 or -1; with 0 where that is not known."""
    name, sources = node.op.rstrip("_"), [edge.source for edge in node.inputs]
    if name in _TAKING:
        yield from ((source, 1) for source in sources[1:2])
    elif name in _SAME:
        yield from ((source, 1) for source in sources[: 2 if name == "accumulate_grad" else 1])
    elif name in _ADDING:
        first = node.operands[0].edge if node.operands else None
        for place, source in enumerate(sources):
            is_second = place == 1 or first is None
            sign = _ADDING[name] if is_second else 1
            yield source, sign * (_sign(argument(node, "alpha", NAMED_ONLY, 1)) if is_second else 1)
    elif name == "neg":
        yield from ((source, -1) for source in sources[:1])
    elif name in ("mul", "div"):
        constants = [each.constant for each in node.operands if each.edge is None]
        if len(sources) == 1:
            yield sources[0], _sign(constants[0]) if constants else 0
        else:
            for source, other in zip(sources, reversed(sources), strict=False):
                yield source, _sign_of(other)
                if name == "div":
                    break
    elif name == "addcdiv" and len(sources) > 1:
        yield sources[0], 1
        yield sources[1], _sign(argument(node, "value", NAMED_ONLY, 1))


def _sign(number: object) -> int:
    return int(np.sign(number)) if isinstance(number, int | float) else 0


def _sign_of(node: Node) -> int:
    found = node.summary
    if found is None or not found.finite:
        return 0
    return 1 if found.minimum >= 0 else -1 if found.maximum <= 0 else 0
