"""The calls of modules that nodes lie in: a module that is called twice in a step is two boxes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from graphscope.graph.outline.calls import Calls, distinct, scopes_and_rows

if TYPE_CHECKING:
    from collections.abc import Hashable

    from graphscope.eventlog.reader import Log
    from graphscope.graph.view import GraphView

__all__ = ["CallTable", "call_table"]


@dataclass
class CallTable:
    """Calls by number, those around others ahead of them."""

    parents: list[int] = field(default_factory=list)
    """The call around each; -1 of the outermost."""
    names: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    of_nodes: list[int] = field(default_factory=list)
    """The innermost call of each node of the view; -1 of what is in none."""
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    def enter(self, key: Hashable, parent: int, name: str, type: str) -> int:
        """The number of a call, by what it is known by."""
        if key not in self._numbers:
            self._numbers[key] = len(self.parents)
            self.parents.append(parent)
            self.names.append(name)
            self.types.append(type)
        return self._numbers[key]


def call_table(view: GraphView) -> CallTable:
    """The calls of a view: as its log tells them, else its frames."""
    return _of_frames(view) if view.graph is None else _of_log(view, view.graph.log)


def _of_frames(view: GraphView) -> CallTable:
    made = CallTable()
    numbers: dict[str | None, int] = {None: -1}
    for each in view.clusters:  # parents come first
        name, _, type = each.label.partition(": ")
        numbers[each.id] = made.enter(each.id, numbers.get(each.parent, -1), name, type)
    made.of_nodes = [numbers.get(node.cluster, -1) for node in view.nodes]
    return made


def _of_log(view: GraphView, log: Log) -> CallTable:
    made = CallTable()
    if not view.nodes:
        return made
    rows = np.array([node.rows[0] for node in view.nodes], np.int64)
    start, stop = int(rows.min()), int(rows.max()) + 1
    scopes, ran_at, known = scopes_and_rows(log, start, stop)
    scopes[~known] = 0
    calls = Calls(log, {})
    *called, which = distinct(scopes, calls.begins(scopes, ran_at))
    levels = [(numbers.tolist(), begins.tolist()) for numbers, begins in calls.around(*called)]
    innermost = [_entered(made, log, levels, place) for place in range(len(called[0]))]
    made.of_nodes = [innermost[place] for place in which[rows - start].tolist()]
    return made


def _entered(made: CallTable, log: Log, levels: list[tuple[list[int], list[int]]], place: int) -> int:
    """The number of the innermost of the calls at a place of the levels; they are entered at first sight."""
    parent = -1
    for numbers, begins in levels:
        if numbers[place]:
            scope = log.scope(numbers[place])
            name, type = ("?", "") if scope is None else (scope.name, scope.type)
            parent = made.enter((parent, numbers[place], begins[place]), parent, name, type)
    return parent
