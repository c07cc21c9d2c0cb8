"""What the program gives a backward pass to begin with, and which rows of the log have that.

The rows lie behind the inputs of the mark of the pass, in the order of these; -1 for a gradient that no row tells of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphscope.eventlog import arguments

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_GRADIENTS: Final = "gradients"


def entry(count: int) -> dict[str, Any]:
    """What the table `attrs` says of the mark of a pass that was given so many gradients."""
    return arguments.entry(None, {_GRADIENTS: [-1] * count}, range(count)) if count else {}


def given_gradients(log: Log, row: int) -> tuple[int, ...]:
    """The rows of the gradients that a pass was given whose mark is at a row, one for each input; or none at all."""
    found = log.arguments(row).attributes.get(_GRADIENTS)
    return tuple(each for each in found if isinstance(each, int)) if isinstance(found, list | tuple) else ()
