"""Commands that walk by training steps, as the program numbers them."""

from __future__ import annotations

import re
from typing import Final

from graphscope.debugger import nodes, step_motion
from graphscope.debugger.command_table import command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Resumed, Stop
from graphscope.errors import CommandError
from graphscope.graph.step_numbers import step_numbers

_NUMBER: Final = re.compile(r"([A-Za-z_][\w.]*)[ =]+(-?\d+)")
_WORDS: Final = re.compile(rf"{_NUMBER.pattern}(?:[ ,]+{_NUMBER.pattern})*")


@command("nextstep", group="stepping", needs="run", key=")")
def next_step(dbg: Debugger) -> Stop | Resumed:
    """Go to the first node of the next training step; past what is recorded, let the program run until then."""
    dbg.log.refresh()
    firsts = step_numbers(dbg.log).steps.first
    following = firsts[firsts > dbg.now]
    if len(following) and following[0] <= dbg.last_row:
        return stand_in_step(dbg, int(following[0]))
    if dbg.edge is not None:
        return dbg.forward(step_motion.NEXT_STEP)
    raise CommandError("No training step begins behind this one", "prevstep goes back")


@command("prevstep", group="stepping", key="(")
def previous_step(dbg: Debugger) -> Stop:
    """Go to the first node of this training step; from there, to the first of the one before."""
    dbg.log.refresh()
    for first in reversed(step_numbers(dbg.log).steps.first.tolist()):
        if first < dbg.now and _first_node(dbg, first) < dbg.now:
            return stand_in_step(dbg, first)
    raise CommandError("No training step begins ahead of this one", "nextstep goes on")


def step_words(where: str) -> dict[str, int]:
    """The numbers of a training step in words: `step 30`, `epoch 2, batch 3`; empty for all else."""
    return {name: int(number) for name, number in _NUMBER.findall(where)} if _WORDS.fullmatch(where) else {}


def to_step(dbg: Debugger, wanted: dict[str, int]) -> Stop | Resumed:
    """Go to the first node of a training step; one that is not recorded yet, the program is let run to."""
    numbers = step_numbers(dbg.log)
    place = numbers.find(wanted)
    if place is not None:
        return stand_in_step(dbg, int(numbers.steps.first[place]))
    if dbg.edge is not None:
        return dbg.forward(step_motion.to_step(wanted))
    words = ", ".join(f"{name} {number}" for name, number in wanted.items())
    if not len(numbers):
        raise CommandError(f"There is no {words}: no training steps are recorded")
    hint = f"those that are recorded are {numbers.number(0)} to {numbers.number(len(numbers) - 1)}"
    raise CommandError(f"There is no {words}", hint)


def stand_in_step(dbg: Debugger, first: int) -> Stop:
    """Go to the first node of the step that begins with a row."""
    dbg.stand(_first_node(dbg, first))
    return dbg.stop(remark=step_numbers(dbg.log).title(first))


def _first_node(dbg: Debugger, row: int) -> int:
    return next(nodes.forward(dbg.log, row, dbg.last_row + 1), row)
