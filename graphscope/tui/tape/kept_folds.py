"""What a person has folded and opened by hand, and the line where one stands, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from graphscope.graph.outline.kinds import SLOT_BITS

if TYPE_CHECKING:
    from graphscope.tui.tape.tape import Tape


def folds_of(tape: Tape) -> dict[str, Any]:
    """How the tape is folded; nothing where there is no log yet."""
    if tape.lines is None:
        return {}
    folding = tape.lines.folding
    return {
        "sections": [[key, closed] for key, closed in folding.by_hand.items()],
        "loops": [*tape.lines.loops],
        "libraries": folding.shows_libraries,
        "way": sorted(folding.way),
        "cursor": tape.cursor,
    }


def fold_again(tape: Tape, folds: Mapping[str, Any]) -> None:
    """Fold a tape as it was.

    Raises:
        KeyError, TypeError, ValueError: That is not understood.
    """
    if tape.lines is None or tape.scene is None:
        return
    by_hand = {int(key): bool(closed) for key, closed in folds["sections"]}
    way, cursor = frozenset(map(int, folds["way"])), folds["cursor"]
    folding, log = tape.lines.folding, tape.scene.log
    folding.by_hand |= by_hand
    folding.shows_libraries = bool(folds["libraries"])
    if cursor is not None:
        folding.way = way  # that to the line, not to the node at which one stands there
    tape.lines.again()
    for key in map(int, folds["loops"]):
        if log.first <= key >> SLOT_BITS < log.end:
            tape.lines.reach(key >> SLOT_BITS)
            tape.toggle_loop_at(key)
    is_there = isinstance(cursor, int) and log.first <= cursor >> SLOT_BITS < log.end
    tape.cursor = cursor if is_there and tape.lines.key(tape.lines.line_of(cursor)) == cursor else None
    tape.draw_again()
