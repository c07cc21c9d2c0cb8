"""What a breakpoint may stop at that is no place: something that has gone wrong, wherever it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.deliberate import is_deliberate, is_sound
from graphscope.diagnose.overwritten import damage
from graphscope.diagnose.unreached import last_rows, unreached
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


@dataclass(frozen=True, slots=True)
class Symptom:
    """Something that may be wrong with a node."""

    doc: str
    test: Callable[[Node], str | None]
    """What is to be said of a node that has it; None of one that has not."""
    rows: Callable[[Log], Iterable[int]]
    """The nodes of a log that may have it."""
    late: bool = False
    """It shows when the pass is over, at its last node."""


def _born(node: Node) -> str | None:
    if not node.graph.log.nonfinite(node.row) or not all(is_sound(edge.source) for edge in node.inputs):
        return None
    return None if is_deliberate(node) else ""


def _written(log: Log) -> Iterable[int]:
    hit = (log.column("kind") == Kind.OP) & ((log.column("flags") & int(Flag.IN_PLACE)) != 0)
    return (log.first + np.flatnonzero(hit)).tolist()


SYMPTOMS: Final[dict[str, Symptom]] = {
    "nan": Symptom(
        "a NaN or an Inf is born: its inputs were finite, and it was given no infinite constant",
        _born,
        rows_with_nonfinite,
    ),
    "overwritten": Symptom(
        "a write in place over a value that backward still needs", lambda node: damage(node) or None, _written
    ),
    "missing": Symptom(
        "a backward pass has ended, and a leaf that requires grad has got no gradient",
        lambda node: unreached(node) or None,
        last_rows,
        late=True,
    ),
}
"""Every symptom by the word that stands in the place of a SPEC."""
