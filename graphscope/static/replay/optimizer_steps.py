"""Steps of optimizers, which a log tells by a row for each parameter and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphscope.adapters.kit.executor import Executor
from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.static.replay.recorded_rows import FOLLOWING, where

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_STEPPING = Flag.IN_PLACE | Flag.NO_GRAD


class Optimizers:
    """The optimizers of a run.

    Args:
        log: The log.
        executor: What makes them.
    """

    def __init__(self, log: Log, executor: Executor) -> None:
        self._log = log
        self._executor = executor
        self._made: dict[int, Any] = {}
        marks = [log.event(int(row)) for row in log.rare()]
        self._calls = [(each.row, log.attrs(each.attrs)) for each in marks if each.kind == Kind.CALL]

    def steps(self, node: Node) -> bool:
        """Whether a row is what a step made of a parameter."""
        is_call = bool(self._log.op(node.event.op).function)
        return not is_call and node.op not in FOLLOWING and node.flags & _STEPPING == _STEPPING

    def update(self, node: Node, parameter: Any) -> None:
        """Make that step."""
        number, settings = self._described(node)
        made = self._made.get(number)
        if made is None:
            made = self._made[number] = self._executor.optimizer(node.op)
        self._executor.update(made, [parameter], [{**settings, **node.arguments.attributes}])

    def _described(self, node: Node) -> tuple[int, dict[str, Any]]:
        """The number of the optimizer whose step a row is of, and what was said of it when it was made."""
        number = next((told["object"] for row, told in self._calls if row > node.row and told["call"] == "step"), None)
        of_it = [(row, told) for row, told in self._calls if told.get("object") == number]
        about = next((told for _, told in of_it if told["call"] == "optimizer"), None)
        was_loaded = any(told["call"] == "load_state_dict" and row < node.row for row, told in of_it)
        if about is None or about.get("late") or was_loaded:
            raise StaticError(
                f"{where(node)} can't run again: what its optimizer remembered from before is not in the log",
                hint="record from where the optimizer is made",
            )
        groups = about.get("groups") or [{}]
        return int(number or 0), dict(groups[0].get("settings") or {})
