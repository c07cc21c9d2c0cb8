"""What the update of a training step did to each parameter: with which gradient, by which rule, and how far."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.compare.steps import Step, step_of
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph import Graph, gradients, series
from graphscope.graph.sizes import norms_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node
    from graphscope.graph.training import Optimizer

_ZEROING: Final = frozenset({"zero_", "_foreach_zero_", "fill_"})


@dataclass(frozen=True)
class Update:
    """What a step did to a parameter."""

    graph: Graph
    step: Step
    told: np.void
    """What the series of updates says of it: its last row, norms, rate."""
    cut: tuple[slice, ...] | None = None
    """Where a part of the parameter alone is looked at: which."""

    def of_part(self, cut: tuple[slice, ...] | None) -> Update:
        """What the step did to a part of the parameter; to all of it where there is none."""
        return replace(self, cut=cut)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of the parameter, or the part."""
        return self.node.shape if self.cut is None or self.after is None else self.after.shape

    def _part(self, value: np.ndarray | None) -> np.ndarray | None:
        return value if value is None or self.cut is None else value[self.cut]

    @property
    def row(self) -> int:
        """The row that made the new value."""
        return int(self.told["row"])

    @property
    def node(self) -> Node:
        """The node that made the new value."""
        return self.graph.node(self.row)

    @property
    def name(self) -> str:
        """What the program calls the parameter."""
        return training(self.graph.log).name(int(self.told["tensor"])) or f"#{int(self.told['tensor'])}"

    @cached_property
    def begin(self) -> int:
        """The row that holds the parameter ahead of the update part of the step, whatever wrote it earlier."""
        rows = self.graph.index.versions(int(self.told["tensor"]), min(self.step.update, self.row))
        return max(rows, default=int(self.told["before"]))

    @cached_property
    def before(self) -> np.ndarray | None:
        """The parameter before."""
        return self._part(self.graph.log.value(self.begin))

    @cached_property
    def after(self) -> np.ndarray | None:
        """The parameter after."""
        return self._part(self.graph.log.value(self.row))

    @cached_property
    def change(self) -> np.ndarray | None:
        """What was added to the parameter."""
        if self.before is None or self.after is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(self.after.astype(np.float64) - self.before)

    @cached_property
    def sources(self) -> list[Node]:
        """The rows whose values the gradient that it used is the sum of."""
        named = self.graph.node(int(self.told["pulled"]))
        if named.event.kind != Kind.ACCUMULATE:
            return [named]
        own = self.contributions
        if own and own[-1].row == named.row and own[0].flags & Flag.FRESH:
            return own
        return gradients.made_of(self._leaf(self.row))

    def _leaf(self, row: int) -> Node:
        """The parameter as it was known ahead of a row."""
        return self.graph.at(row - 1).node(self.begin)

    @cached_property
    def gradient(self) -> np.ndarray | None:
        """The gradient that it used."""
        return self._part(total_of(each.value for each in self.sources))

    @cached_property
    def contributions(self) -> list[Node]:
        """What the backward passes of the step brought: to its gradient, else to the program."""
        log, tensor = self.graph.log, int(self.told["tensor"])
        rows = np.concatenate([np.arange(*bounds) for bounds in self.step.passes] or [np.zeros(0, np.int64)])
        rows = rows[np.isin(log.pick("kind", rows), (int(Kind.ACCUMULATE), int(Kind.GRAD)))]
        rows = rows[log.pick("tensor", log.pick("forward", rows).astype(np.int64)) == tensor]
        found = [self.graph.node(row) for row in rows.tolist()]
        added = [each for each in found if each.event.kind == Kind.ACCUMULATE]
        return added or [each for each in found if each.op == "grad"]

    @cached_property
    def arrived(self) -> np.ndarray | None:
        """What that adds up to, whatever was made of it since."""
        return self._part(total_of(each.value for each in self.contributions))

    @property
    def arrived_norm(self) -> float:
        """How large that is, by its statistics where its value was not kept; NaN where that is not known."""
        rows = [each.row for each in self.contributions]
        return float(norms_of(self.graph.log, np.array(rows))[0]) if len(rows) == 1 else math.nan

    @property
    def is_stale(self) -> bool:
        """Whether it was added to a gradient of an earlier step."""
        if not self.contributions or self.contributions[0].event.flags & Flag.FRESH:
            return False
        held = gradients.made_of(self._leaf(self.contributions[0].row))
        return bool(held) and not any(each.op in _ZEROING for each in held)

    @property
    def is_changed(self) -> bool:
        """Whether the gradient that it used is another than the backward passes of the step brought."""
        return [each.row for each in self.sources] != [each.row for each in self.contributions]

    @cached_property
    def is_seen(self) -> bool:
        """Whether the log knows the gradient that it used: it tells nothing of what is written through `.data`."""
        if self.is_changed:
            return True
        rows = np.arange(self.step.update, self.row)
        log = self.graph.log
        written = (log.pick("flags", rows) & int(Flag.IN_PLACE)) != 0
        rows = rows[written & (log.pick("kind", rows) == Kind.OP) & ~np.isin(rows, series.updates(log)["row"])]
        return not (log.pick("shape", rows) == log.pick("shape", np.array([self.row]))[0]).any()

    @property
    def write(self) -> Node | None:
        """What wrote into the gradient between the backward pass and the update, as clipping does."""
        written = [each for each in self.sources if each.event.kind == Kind.OP and each.row >= self.step.update]
        return written[-1] if written else None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the optimizer was told: `lr`, `betas`; empty of an update by hand."""
        told = dict(self.graph.log.arguments(self.row).attributes)
        return told if "lr" in told else {}

    @property
    def rule(self) -> str:
        """The class of the optimizer; empty of an update by hand."""
        return self.node.op if self.settings else ""

    @property
    def optimizer(self) -> Optimizer | None:
        """The optimizer that the log tells of the parameter."""
        return optimizer_of(self.graph.log, int(self.told["tensor"]))


def total_of(values: Iterable[np.ndarray | None]) -> np.ndarray | None:
    """The sum of arrays; None where there are none, or one is not known."""
    total: np.ndarray | None = None
    for value in values:
        if value is None:
            return None
        with np.errstate(all="ignore"):
            total = value if total is None else np.asarray(total + value)
    return total


def updates_of(log: Log, step: Step) -> dict[int, Update]:
    """The updates of a step by the number of the parameter's tensor, in the order of the log."""
    graph = Graph(log)
    return {int(each["tensor"]): Update(graph, step, each) for each in _told(log, step)}


def update_of(log: Log, step: Step, tensor: int) -> Update | None:
    """The update of one parameter in a step; None where there is none."""
    found = _told(log, step)
    own = found[found["tensor"] == tensor]
    return Update(Graph(log), step, own[-1]) if len(own) else None


def _told(log: Log, step: Step) -> np.ndarray:
    """What the series of updates says of a step."""
    found = series.updates(log)
    told: np.ndarray = found[(found["row"] >= step.start) & (found["row"] < step.stop)]
    return told


def optimizer_of(log: Log, tensor: int) -> Optimizer | None:
    """The optimizer that holds a parameter, as far as the log tells."""
    return next((each for each in training(log).optimizers.values() if tensor in each.tensors), None)


def rates(log: Log, tensor: int) -> np.ndarray:
    """The learning rates of a parameter, update by update."""
    found = series.updates(log)
    told: np.ndarray = found["rate"][found["tensor"] == tensor]
    return told


def ahead_of(update: Update) -> Update | None:
    """The update of the same parameter ahead of one; None of the first."""
    log = update.graph.log
    found = series.updates(log)
    own = found[(found["tensor"] == update.told["tensor"]) & (found["row"] < update.row)]
    return Update(update.graph, step_of(log, int(own[-1]["row"])), own[-1], update.cut) if len(own) else None
