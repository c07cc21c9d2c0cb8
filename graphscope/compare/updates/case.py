"""A parameter that a step changed otherwise in two runs: what causes are looked for in, and what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphscope.compare.sides import side
from graphscope.compare.updates.update import optimizer_of
from graphscope.diagnose.explanation import listed
from graphscope.eventlog.names import short_place
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.compare.difference import Fact
    from graphscope.compare.steps import Step
    from graphscope.compare.updates.change import Change
    from graphscope.compare.updates.update import Update
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node
    from graphscope.graph.training import Call

Place = tuple[str, str, int]
"""What stands there (`AdamW`, `clip_grad_norm_`), the file, the line."""


@dataclass(frozen=True)
class Case:
    """A parameter that a step changed otherwise in two runs, and where."""

    a: Log
    b: Log
    steps: tuple[Step, Step]
    change: Change
    apart: Sequence[Change]
    """All parameters that did."""
    all: Sequence[Change]

    @property
    def logs(self) -> tuple[Log, Log]:
        """Both."""
        return self.a, self.b

    @property
    def updates(self) -> tuple[Update | None, Update | None]:
        """What each did to it."""
        return self.change.one, self.change.other

    def calls(self, *names: str) -> list[list[Call]]:
        """The calls of these names in the step, of both."""
        return [
            [each for each in training(log).calls(*names) if each.row in step]
            for log, step in zip(self.logs, self.steps, strict=True)
        ]


@dataclass(frozen=True)
class Cause:
    """Why two updates are not the same."""

    name: str
    sentence: str
    facts: tuple[Fact, ...] = ()
    places: tuple[Place | None, Place | None] = (None, None)
    """Where to look in both; None for the line that updates."""


def names_of(case: Case) -> str:
    """The parameters that differ, in a sentence."""
    return listed([each.name for change in case.apart if (each := change.one or change.other) is not None], 4)


def made_at(log: Log, tensor: int) -> Place | None:
    """Where the optimizer of a parameter was made."""
    found = optimizer_of(log, tensor)
    file, line = ("", 0) if found is None else training(log).place(found.site)
    return (found.type, file, line) if found is not None and file else None


def optimizers(case: Case) -> tuple[Place | None, Place | None]:
    """Where the optimizers of the parameter were made."""
    return made_at(case.a, case.change.a), made_at(case.b, case.change.b)


def called_at(log: Log, call: Call | None) -> Place | None:
    """Where something was called."""
    if call is None:
        return None
    file, line = training(log).place(call.site)
    return (call.name, file, line) if file else None


def at(node: Node | None) -> Place | None:
    """Where a node was computed."""
    found = None if node is None else side(node)
    return None if found is None or not found.file else (found.op, found.file, found.line)


def told(place: Place | None) -> str:
    """A place in a sentence."""
    return "" if place is None else f" (at {short_place(*place[1:])})"


def only_of(run: int, found: Place | None) -> tuple[Place | None, Place | None]:
    """A place in the first run or the second alone."""
    return (None, found) if run else (found, None)
