"""Commands that walk by training steps, as the program numbers them."""

from __future__ import annotations

import re
from typing import Final

from graphscope.debugger import nodes, step_motion, step_table
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Cell, Resumed, Stop, TableResult, TrainingStep
from graphscope.errors import CommandError
from graphscope.graph.step_numbers import StepNumbers, step_numbers

_PAGE: Final = 20
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


@command("steps", group="looking")
def steps(dbg: Debugger, where: Rest = "") -> TableResult:
    """List the training steps around this one: loss, norm of the gradient, learning rate, what is wrong, rows.

    `steps 40` and `steps epoch 2` begin with that one, `steps all` lists all of them. Above them stands the loss of
    the whole run.
    """
    dbg.log.refresh()
    numbers = step_numbers(dbg.log)
    if not len(numbers):
        return TableResult(
            (), (), note="No training steps are recorded: they end with `optimizer.step()` or `gs.step()`"
        )
    here = numbers.steps.place(dbg.now)
    first, stop = _page(numbers, where, here)
    found = step_table.steps_between(dbg.graph.at(dbg.last_row), first, stop)
    table = tuple((">" if place == here else "", *_cells(each)) for place, each in enumerate(found, first))
    columns = ("", "step", "loss", "gradient norm", "learning rate", "findings", "rows", "from")
    loss = f"loss {step_table.curve(dbg.log)}".strip()
    norms = step_table.norm_curve(dbg.log)
    notes = [f"gradient norm as optimizers took it, of some steps {norms}"] if norms else []  # it may be clipped
    notes += [] if step_table.is_judged(dbg.log) else ["`info findings` says what is wrong in so long a recording"]
    if stop < len(numbers):
        notes.append(f"{first + 1} to {stop} of {len(numbers)}: `steps {numbers.number(stop)}` goes on")
    return TableResult(columns, table, title=loss, note="\n".join(notes), items=found)


def _page(numbers: StepNumbers, where: str, here: int | None) -> tuple[int, int]:
    """The places of the first step that is listed, and behind the last."""
    if where.strip() == "all":
        return 0, len(numbers)
    if not where.strip():
        first = max(0, min((here or 0) - _PAGE // 2, len(numbers) - _PAGE))
        return first, min(first + _PAGE, len(numbers))
    place = numbers.find(step_words(where) or step_words(f"step {where.strip()}"))
    if place is None:
        raise CommandError(f"There is no step {where!r}", f"those that are recorded are {_range(numbers)}")
    return place, min(place + _PAGE, len(numbers))


def _cells(found: TrainingStep) -> tuple[Cell, ...]:
    shown = ("" if each is None else f"{each:.6g}" for each in (found.loss, found.norm, found.rate))
    return found.title, *shown, ", ".join(found.findings), found.last - found.first + 1, f"#{found.first}"


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
    raise CommandError(f"There is no {words}", f"those that are recorded are {_range(numbers)}")


def _range(numbers: StepNumbers) -> str:
    return numbers.told(str, len(numbers))


def stand_in_step(dbg: Debugger, first: int) -> Stop:
    """Go to the first node of the step that begins with a row."""
    dbg.stand(_first_node(dbg, first))
    return dbg.stop(remark=step_numbers(dbg.log).title(first))


def _first_node(dbg: Debugger, row: int) -> int:
    return next(nodes.forward(dbg.log, row, dbg.last_row + 1), row)
