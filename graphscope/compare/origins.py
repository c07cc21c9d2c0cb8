"""Where a difference begins: vertices that differ and reach a result, although all that came in agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.compare.alignment import NONE
from graphscope.compare.judgement import AGREES, ALONE, DIFFERS
from graphscope.diagnose.values.origins import MOVES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.compare.alignment import Run
    from graphscope.compare.flow import Flow


class Lost(NamedTuple):
    """What of one side has no equal on the other, and reaches a result."""

    lost: np.ndarray
    """Of each vertex whether it is lost."""
    origins: tuple[int, ...]
    """The lost vertices none of whose inputs is lost, in the order of the log."""


def lost(flow: Flow, states: np.ndarray, results: Iterable[int], backward: bool) -> Lost:
    """What is lost of one pass.

    Args:
        flow: One side.
        states: Whether each of its vertices agrees.
        results: The vertices that matter by themselves.
        backward: Which pass.
    """
    wanted = np.zeros(len(flow), bool)
    for result in results:
        wanted[result] = True
    off = (states == DIFFERS) | ((states == ALONE) & ~flow.is_given)
    off &= flow.is_backward == backward
    off &= ~_handed_on(flow, states)
    found = np.zeros(len(flow), bool)
    for vertex in range(len(flow) - 1, -1, -1):
        if off[vertex] and (wanted[vertex] or any(found[user] for user in flow.users[vertex])):
            found[vertex] = True
    origins = [
        vertex for vertex in np.flatnonzero(found).tolist() if not any(found[source] for source in flow.inputs[vertex])
    ]
    return Lost(found, tuple(origins))


def results_of(run: Run, other: Run, states: np.ndarray) -> list[int]:
    """What a forward pass is run for: its loss, or what it ends in; what is nearly the same counts as well.

    Where the ends of one run alone are unseen, those that belong to nothing say nothing.
    """
    is_unseen = run.ends_are_unseen != other.ends_are_unseen
    ends = [end for end in run.flow.ends if not is_unseen or run.mates[end] != NONE]
    sure = run.by_value | ~run.prints.known
    return [*ends, *np.flatnonzero((states == DIFFERS) & sure & ~run.flow.is_backward).tolist()]


def _handed_on(flow: Flow, states: np.ndarray) -> np.ndarray:
    """What has no counterpart and is only another shape, a part or a copy of what agrees, or of a leaf."""
    found = np.zeros(len(flow), bool)
    for vertex in np.flatnonzero((states == ALONE) & ~flow.is_backward).tolist():
        if flow.ops[vertex].rstrip("_") in (*MOVES, "copy") and flow.inputs[vertex]:
            found[vertex] = all(
                states[each] == AGREES or found[each] or (flow.is_leaf[each] and states[each] == ALONE)
                for each in flow.inputs[vertex]
            )
    return found
