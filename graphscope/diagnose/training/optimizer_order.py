"""The order of what is done with the gradients of an optimizer's parameters: they grow, are cleared, clipped, used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.begun_at_zero import began_at_zero
from graphscope.diagnose.training.parameter_rows import Happenings, parameter_rows
from graphscope.diagnose.training.rewritten_gradients import rewritten
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.grouping import those
from graphscope.eventlog.names import short_place
from graphscope.eventlog.schema import Kind
from graphscope.graph.training import CLIPS, Optimizer, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""So many steps must show it."""
_HALF: Final = 0.5
_LOOKED_AT: Final = 16
"""So many gradients that seem to be kept are looked at."""


class Discarded(NamedTuple):
    """Passes whose gradients no step uses."""

    clear: int
    """Where the first of them are cleared."""
    period: int
    """One of so many passes is used."""
    passes: int
    total: int


class Order:
    """What is done with the gradients of an optimizer's parameters, each as rows that ascend.

    Args:
        read: What the log says of training.
        optimizer: An optimizer whose parameters it tells.
    """

    def __init__(self, read: Training, optimizer: Optimizer) -> None:
        self.read = read
        self.optimizer = optimizer
        self.tensors = np.array(sorted(optimizer.tensors), np.int64)
        self.steps = read.rows("step", owner=optimizer.number)
        rows = parameter_rows(read.log)
        mine = np.isin(rows.grown.tensors, self.tensors)
        self.grown, self.grown_tensors = those(rows.grown.rows, mine), those(rows.grown.tensors, mine)
        self.is_fresh = those(rows.is_fresh, mine) | self._are_cleared_ahead()
        self.clears = _clears(read, optimizer)
        self.unscaled = _on(read, optimizer, "scaler.unscale_")
        self.scaler_steps = _on(read, optimizer, "scaler.step")

    def _are_cleared_ahead(self) -> np.ndarray:
        """By growth: whether all gradients of the optimizer were cleared since that parameter's last one."""
        own, modules = set(self.optimizer.tensors), self.read.modules.values()
        owners = [self.optimizer.number, *(each.number for each in modules if own <= set(each.parameters.values()))]
        clears = np.sort(np.concatenate([self.read.rows("zero_grad", owner=each) for each in owners]))
        order = np.argsort(self.grown_tensors, kind="stable")
        tensors = self.grown_tensors[order]
        cleared = np.searchsorted(clears, self.grown)[order]  # so often until then
        found = np.zeros(len(order), bool)
        found[order[1:]] = (tensors[1:] == tensors[:-1]) & (cleared[1:] > cleared[:-1])
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """What the program calls the parameters."""
        return tuple(sorted(filter(None, map(self.read.name, self.optimizer.tensors))))

    @property
    def title(self) -> str:
        """The optimizer in a sentence: its class, and the line that made it."""
        made = short_place(*self.read.place(self.optimizer.site))
        return f"{self.optimizer.type} (made at {made})" if made else self.optimizer.type

    def is_lost(self) -> np.ndarray:
        """By step: whether gradients that had grown since the step before were cleared ahead of it."""
        grown, cleared = last_before(self.grown, self.steps), last_before(self.clears, self.read.begins(self.steps))
        before = np.concatenate([[-1], self.steps[:-1]])
        found: np.ndarray = (grown > before) & (cleared > grown)
        return found

    def fruitless(self) -> np.ndarray:
        """The ends of the last passes ahead of steps, where these find none as all had been cleared before the pass."""
        begins, ends = self.read.backward_begins, self.read.backward_ends
        begin = last_before(begins, self.read.begins(self.steps))
        cleared, grown = last_before(self.clears, self.steps), last_before(self.grown, self.steps)
        at = begin[(begin > cleared) & (cleared > grown) & (begin >= 0)]
        at = ends[np.minimum(np.searchsorted(ends, at), len(ends) - 1)] if len(ends) else at[:0]
        return each_once(at)

    def discarded(self) -> Discarded | None:
        """Passes whose gradients are cleared before any step, as often ahead of each step, and of one line all of them.

        A gradient that something was made of, or that the program has set, was wanted for that.
        """
        begins = self.read.backward_begins
        passes = self.passes()
        if len(passes) < 2 * _LEAST or passes[0] < 0 or len(np.unique(self.read.log.pick("site", begins[passes]))) > 1:
            return None
        starts, last = begins[passes], np.append(begins[passes[1:]], self.ends[-1])
        is_used = np.searchsorted(self.ends, last, "right") > np.searchsorted(self.ends, starts, "right")
        is_used |= starts >= self.ends[-1]  # what comes behind the last step may yet be used
        at = np.minimum(np.searchsorted(self.steps, starts), len(self.steps) - 1)
        is_used |= (self.read.begins(self.steps)[at] <= starts) & (starts < self.steps[at])  # a step's own closure
        is_cleared = np.searchsorted(self.clears, last) > np.searchsorted(self.clears, starts)
        if (~is_used & ~is_cleared).any() or is_used.mean() > _HALF:
            return None
        between = np.diff(np.flatnonzero(is_used & (starts < self.ends[-1])))
        if len(between) < _LEAST - 1 or len(np.unique(between)) > 1:
            return None
        lost = np.isin(np.searchsorted(begins, self.grown) - 1, passes[~is_used])
        if are_taken(self.read, self.grown[lost][: len(self.tensors)]):
            return None
        (clear,) = self.clears[[np.searchsorted(self.clears, starts[~is_used][0])]].tolist()
        return Discarded(clear, int(between[0]), int((~is_used).sum()), len(passes))

    def passes(self) -> np.ndarray:
        """The passes that brought gradients, by number."""
        found: np.ndarray = each_once(np.searchsorted(self.read.backward_begins, self.grown)) - 1
        return found

    def given(self) -> np.ndarray:
        """Where the program put other gradients in the place of some of them."""
        rows = _set(self.read.log, self.optimizer.tensors)
        return np.asarray(rows[self.read.log.pick("input_count", rows) > 0])

    @property
    def is_alone(self) -> bool:
        """Whether no other optimizer steps the same parameters."""
        others = (each for each in self.read.optimizers.values() if each.number != self.optimizer.number)
        return all(each.tensors.isdisjoint(self.optimizer.tensors) for each in others)

    @property
    def starts_with_a_step(self) -> bool:
        """Whether the first step came before there was any gradient."""
        return len(self.grown) == 0 or bool(self.grown[0] > self.steps[0])

    @property
    def ends(self) -> np.ndarray:
        """The steps, and those that a scaler skipped."""
        return each_once(np.concatenate([self.steps, self.scaler_steps]))

    def leftovers(self) -> np.ndarray:
        """By step: whether it uses a gradient that the step before it used as well, with more added to it."""
        found = np.zeros(len(self.steps), bool)
        places = np.searchsorted(self.steps, self.grown)
        between = (places > 0) & (places < len(self.steps))
        keys = self._keys(self.grown, self.grown_tensors)
        used = each_once(keys[between])
        kept = used[~np.isin(used, keys[between & self.is_fresh])]
        if len(kept):
            kept = kept[~np.isin(kept, self._keys(*self.cleared_by_hand()))]
        if len(kept) and self._began_at_zero(kept, keys):
            kept = kept[:0]
        found[kept // len(self.tensors)] = True
        return found

    def _began_at_zero(self, kept: np.ndarray, keys: np.ndarray) -> bool:
        """Whether none is left of the step before after all, as far as the log tells of some that seem to be."""
        chosen = kept[np.unique(np.linspace(0, len(kept) - 1, _LOOKED_AT).astype(np.int64))]
        known = [self._began(int(key), keys) for key in chosen.tolist()]
        return True in known and False not in known

    def _began(self, key: int, keys: np.ndarray) -> bool | None:
        step, place = divmod(key, len(self.tensors))
        return began_at_zero(self.read.log, int(self.tensors[place]), self.grown[keys == key], int(self.steps[step]))

    def cleared_by_hand(self) -> Happenings:
        """Where the program itself sets gradients, or writes to them, so that nothing of the step before is in them.

        Behind the step, ahead of the pass that they grow in next, that is each write: what it leaves of them it leaves
        on purpose. What is written in that pass is how the program lets them grow, as `fully_shard` does.
        """
        found = rewritten(self.read.log).of(self.optimizer.tensors)
        grown, places = np.unique(self._keys(self.grown, self.grown_tensors), return_index=True)
        keys = self._keys(found.rows, found.tensors)
        begins = last_before(self.read.backward_begins, self.grown[places])
        first = np.append(begins, -1)[np.searchsorted(grown, keys)]
        is_clear = found.clears | (np.isin(keys, grown) & (found.rows < first))
        return Happenings(found.rows[is_clear], found.tensors[is_clear])

    def _keys(self, rows: np.ndarray, tensors: np.ndarray) -> np.ndarray:
        """A number for the step that rows come ahead of, and the parameter that they are about."""
        return np.searchsorted(self.steps, rows) * len(self.tensors) + np.searchsorted(self.tensors, tensors)


def orders(log: Log, least: int = 3) -> Iterator[Order]:
    """Those of all optimizers whose parameters the log tells and that made at least so many steps."""
    read = training(log)
    for optimizer in read.optimizers.values():
        if optimizer.is_told and optimizer.tensors:
            found = Order(read, optimizer)
            if len(found.steps) >= least:
                yield found


def last_before(rows: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The last of some rows before each of others; -1 where there is none."""
    at = np.searchsorted(rows, places) - 1
    return np.where(at >= 0, rows[np.maximum(at, 0)], -1) if len(rows) else np.full(len(places), -1)


def are_taken(read: Training, gradients: np.ndarray) -> bool:
    """Whether an op takes some gradients, but for those that clip them."""
    log, index = read.log, read.log.graph.index
    held = [row for each in gradients.tolist() for row in (each, *index.versions(each, log.end))]
    rows = [user for row in held for user in index.using(row, log.end)]
    clips = log.pick("site", read.rows(*CLIPS))
    return bool((~np.isin(log.pick("site", np.array(rows, np.int64)), clips)).any())


def _clears(read: Training, optimizer: Optimizer) -> np.ndarray:
    """Where gradients of an optimizer's parameters were cleared."""
    log, tensors = read.log, optimizer.tensors
    found = [read.rows("zero_grad", owner=optimizer.number)]
    holding = (each for each in read.modules.values() if not tensors.isdisjoint(each.parameters.values()))
    found += [read.rows("zero_grad", owner=module.number) for module in holding]
    rows = _set(log, tensors)
    found.append(rows[log.pick("input_count", rows) == 0])
    return each_once(np.concatenate(found))


def _set(log: Log, tensors: frozenset[int]) -> np.ndarray:
    """Where the program put something, or None, in the place of gradients of some tensors."""
    marks = log.marks(Kind.ASSIGN)
    entries = log.pick("attrs", marks)
    facts = ((number, log.attrs(number)) for number in np.unique(entries).tolist())
    numbers = [
        number
        for number, each in facts
        if each.get("set") == "grad" and not tensors.isdisjoint(each.get("tensors", ()))
    ]
    return np.asarray(marks[np.isin(entries, numbers)])


def _on(read: Training, optimizer: Optimizer, name: str) -> np.ndarray:
    """The marks of an enabled scaler's calls on an optimizer."""
    rows = [
        each.row
        for each in read.calls(name)
        if each.facts.get("optimizer") == optimizer.number and each.facts.get("enabled")
    ]
    return np.array(rows, np.int64)
