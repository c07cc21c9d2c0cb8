"""Learning rates that are nothing: steps that change no parameter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.definitions import argument
from graphscope.diagnose.training.plateaus import misled
from graphscope.diagnose.training.rate_courses import Course, course
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.names import short_place
from graphscope.graph import series
from graphscope.graph.step_numbers import step_numbers
from graphscope.graph.training import Optimizer, Scheduler, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_NOTHING: Final = 1e-10
"""A learning rate below that moves no parameter that a person would make."""
_MOVED: Final = 1e-4
"""But where gradients are so large that some step changes a parameter by more than that part of it."""
_GONE: Final = 1e-5
"""So small a part of what it was is nothing, where it stays so for `_TAIL` of all steps."""
_SMALL: Final = 1.001e-3
"""The same where it stays so for `_HALF` of the steps, of a scheduler of epochs that is stepped in each batch."""
_TAIL: Final = 0.25
_HALF: Final = 0.4
_SLIGHT: Final = 0.3
"""The same at the end, of a scheduler that waits for the wrong thing."""
_SEVERAL: Final = 2
"""Who makes so many steps for each of a scheduler does not step it in each batch."""
_LEAST: Final = 5
_WARM_UP: Final = 10
"""After so many steps of a scheduler a warm-up has left 0."""
_OF_EPOCHS: Final = frozenset({"StepLR", "MultiStepLR", "ExponentialLR", "ReduceLROnPlateau", "MultiplicativeLR"})


class Vanished(NamedTuple):
    """Where the learning rate of an optimizer is nothing."""

    row: int
    optimizer: Optimizer
    first: float
    """What it was at its largest."""
    last: float
    below: float
    """It came below that ..."""
    since: int
    """... at the step at this place of its course, and stayed there."""
    course: Course


@check(
    "learning rate that vanishes",
    reads=("marks", "training", "series"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)
        for epoch in range(2):
            for batch in range(20):
                optimizer.zero_grad()
                loss = (weight * 2 - 1).square().sum()
                loss.backward()
                optimizer.step()
                scheduler.step()
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1)
        for epoch in range(2):
            for batch in range(20):
                optimizer.zero_grad()
                loss = (weight * 2 - 1).square().sum()
                loss.backward()
                optimizer.step()
            scheduler.step()
        """,
)
def lr_vanished(graph: Graph) -> Iterator[Finding]:
    """The learning rate is nothing, from the start or since a scheduler has made it so, while training goes on."""
    read = training(graph.log)
    for found in _vanished(graph.log):
        steps = _scheduler_steps(read, found.optimizer)
        is_from_start = found.first < _NOTHING
        wrong = None if is_from_start else misled(graph.log, _schedulers(read, found.optimizer))
        own = read.place(found.optimizer.site)
        made = short_place(*own)
        if is_from_start or not len(steps):
            makers = [each.site for each in read.schedulers.values() if each.optimizer == found.optimizer.number]
            place = read.place(makers[-1] if makers else found.optimizer.site)
            place = place if place[0] else read.place(read.call(found.row).site)
            place = place if makers else _computed(graph.log, found) or place
            cause, cure = "lr is nothing", "give the optimizer a learning rate above 0, such as 1e-3"
        elif wrong is not None:
            place = read.place(wrong.scheduler.site)
            cause = "scheduler looks the wrong way"
            cure = f"make the scheduler with mode={'min' if wrong.mode == 'max' else 'max'!r}"
        elif _SEVERAL * len(steps) <= len(found.course.rows) and (maker := _schedulers(read, found.optimizer)[-1]).site:
            place = read.place(maker.site)
            cause, cure = "rate cut to nothing", f"let {maker.type} cut the rate less often, or by less"
        else:
            place = read.place(read.call(int(steps[0])).site)
            cause, cure = "scheduler stepped too often", _once_an_epoch(graph.log, read, found)
        count = "" if found.course.leaves_out else f"{len(steps)} "
        verdict = (
            f"the learning rate of {found.optimizer.type} is {_course(found)}"
            + (f"; it is made at {made}" if is_from_start and made and place != own else "")
            + ("" if is_from_start else f": {count}steps of a scheduler made it so")
            + ("" if wrong is None else f", which waits for the {wrong.mode}imum of {wrong.watched}")
        )
        evidence: dict[str, float] = {"steps": len(found.course.rates)}
        evidence |= {} if found.course.leaves_out else {"scheduler steps": len(steps)}
        if not is_from_start:
            small = len(found.course.rates) - found.since
            evidence = {"largest lr": found.first, "last lr": found.last, "steps so small": small, **evidence}
        first_row = found.course.row(found.since)
        yield Finding(
            "lr_vanished", "error", found.row, None, *place, (), cause, verdict, cure, evidence, first_row=first_row
        )


def _course(found: Vanished) -> str:
    """`0.01 at its largest, at most 1e-07 from step 18 on, and 1.69e-23 at the end`."""
    if found.first < _NOTHING:
        return f"{found.first:.3g} in all {len(found.course.rates)} steps"
    since = f"from {found.course.title(found.since)} on"
    if found.last == found.below:
        return f"{found.first:.3g} at its largest, and {found.last:.3g} {since}"
    return f"{found.first:.3g} at its largest, at most {found.below:.3g} {since}, and {found.last:.3g} at the end"


def _once_an_epoch(log: Log, read: Training, found: Vanished) -> str:
    """What to do about a scheduler of epochs that is stepped in each batch, in numbers where the loops tell them."""
    batches = 0 if found.course.leaves_out else _batches(log, found.course.rows)
    kinds = {each.type for each in _schedulers(read, found.optimizer)}
    count = f"once an epoch ({batches} batches)" if batches else "once an epoch"
    others = [words for kind, words in _BY_BATCH.items() if kinds == {kind}] if batches else []
    return f"step the scheduler {count}, or {others[0].format(batches) if others else 'let it count batches'}"


_BY_BATCH: Final = {
    "ExponentialLR": "make it with gamma ** (1 / {})",
    "MultiplicativeLR": "let it multiply by the {}th root",
    "StepLR": "make step_size {} times as large",
    "MultiStepLR": "make its milestones {} times as large",
}
"""What makes a scheduler count batches, of which there are so many in an epoch."""


def _batches(log: Log, rows: np.ndarray) -> int:
    """How many steps the first turn of the outermost loop makes; 0 where that is unknown, or no loop is in a loop."""
    numbers = [each.parts for row in rows.tolist() if (each := step_numbers(log).of(row)) is not None]
    outer = [parts[0] for parts in numbers if len(parts) > 1]
    first = outer[0] if outer and len(outer) == len(rows) and outer[-1] != outer[0] else None
    return outer.count(first) if first is not None else 0


def _computed(log: Log, found: Vanished) -> tuple[str, int] | None:
    """The one line that computes the rate that an optimizer is made with, where it is another than the optimizer's."""
    site = log.site(found.optimizer.site) if found.optimizer.site else None
    value = None if site is None else argument(log, site, "lr", _PLACE)
    return None if value is None or (value.number or 0.0) > _NOTHING else value.place


_PLACE: Final = 1
"""The place of `lr` among the arguments of optimizers."""


def _vanished(log: Log) -> Iterator[Vanished]:
    read = training(log)
    for optimizer in read.optimizers.values():
        rows = read.rows("step", owner=optimizer.number)
        if not len(rows):
            continue
        all_steps = course(read, rows)
        rates = all_steps.rates
        largest = float(rates.max())
        if len(rates) < _LEAST or not np.isfinite(largest):
            continue
        scheduled, last = _scheduler_steps(read, optimizer), float(rates[-1])
        if largest < _NOTHING:
            if not 0 < len(scheduled) < _WARM_UP and not _moves(log, optimizer):  # a warm-up begins with 0
                yield Vanished(all_steps.row(_LEAST - 1), optimizer, largest, last, largest, 0, all_steps)
            continue
        limits = [(_GONE, _TAIL)]
        if _counts_epochs(read, optimizer) and all_steps.is_scheduled_in_each_step(scheduled):
            limits.append((_SMALL, _HALF))
        for limit, share in limits:
            tail = _tail(rates <= limit * largest)
            if tail >= max(_LEAST, share * len(rates)):
                since = len(rates) - tail
                shown, below = all_steps.row(since + _LEAST - 1), float(rates[since:].max())
                yield Vanished(shown, optimizer, largest, last, below, since, all_steps)
                break
        else:
            cut = np.flatnonzero(np.diff(rates) < 0) + 1
            is_low = len(cut) > 1 and last <= _SLIGHT * largest
            if is_low and misled(log, _schedulers(read, optimizer)) is not None:
                since = int(cut[-1])
                yield Vanished(all_steps.row(since), optimizer, largest, last, last, since, all_steps)


def _moves(log: Log, optimizer: Optimizer) -> bool:
    """Whether steps of so small a rate change weights all the same, as their gradients are huge."""
    updates = series.updates(log)
    mine = np.isin(updates["tensor"], np.array([*optimizer.tensors], np.int64)) & (updates["weight"] > 0)
    return bool((updates["update"][mine] > _MOVED * updates["weight"][mine]).any())


def _tail(small: np.ndarray) -> int:
    """How many at the end are small."""
    others = np.flatnonzero(~small)
    return len(small) - (int(others[-1]) + 1 if len(others) else 0)


def _scheduler_steps(read: Training, optimizer: Optimizer) -> np.ndarray:
    """The steps of an optimizer's schedulers."""
    rows = [read.rows("scheduler.step", owner=each.number) for each in _schedulers(read, optimizer)]
    return each_once(np.concatenate(rows)) if rows else np.zeros(0, np.int64)


def _schedulers(read: Training, optimizer: Optimizer) -> list[Scheduler]:
    return [each for each in read.schedulers.values() if each.optimizer == optimizer.number]


def _counts_epochs(read: Training, optimizer: Optimizer) -> bool:
    kinds = [each.type for each in _schedulers(read, optimizer)]
    return len(kinds) == 1 and kinds[0] in _OF_EPOCHS
