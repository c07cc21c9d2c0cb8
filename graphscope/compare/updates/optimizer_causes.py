"""Causes that lie in the rule of an update: another optimizer, other settings, another schedule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.compare.difference import Fact
from graphscope.compare.updates.case import Case, Cause, Place, called_at, names_of, optimizers
from graphscope.compare.updates.rules import multiple, rule_of
from graphscope.compare.updates.update import Update, ahead_of, rates
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


def another_optimizer(case: Case) -> Cause | None:
    """Optimizers of two classes."""
    one, other = case.updates
    if one is None or other is None or not one.rule or not other.rule or one.rule == other.rule:
        return None
    facts = (Fact("optimizer", one.rule, other.rule), *_differing(one, other))
    return Cause("optimizer", f"a updates with {one.rule}, b with {other.rule}", facts, optimizers(case))


def rate(case: Case) -> Cause | None:
    """The learning rates differ, though the optimizers were made with the same."""
    one, other = case.updates
    if one is None or other is None or not one.rule or not other.rule:
        return None
    now = [float(each.told["rate"]) for each in (one, other)]
    if now[0] == now[1]:
        return None
    given = [_given(each) for each in (one, other)]
    facts = (
        Fact("lr", f"{now[0]:.6g}", f"{now[1]:.6g}"),
        *(each for each in _differing(one, other) if each.name != "lr"),
    )
    if None in given or given[0] != given[1]:
        sentence = f"the learning rate is {now[0]:.6g} in a and {now[1]:.6g} in b"
        return Cause("learning rate", sentence, facts, optimizers(case))
    number = case.steps[0].number
    shift = _shift(rates(case.a, case.change.a), rates(case.b, case.change.b))
    sentence = f"the learning rate of step {number} is {now[0]:.6g} in a and {now[1]:.6g} in b"
    if shift:
        late, by = ("b", shift) if shift > 0 else ("a", -shift)
        sentence += f": the schedule of {late} is {by} step{'s' * (by > 1)} behind"
    steps = [_scheduler(log, each) for log, each in zip(case.logs, (one, other), strict=True)]
    made = optimizers(case)
    return Cause("schedule", sentence, facts, (steps[0] or made[0], steps[1] or made[1]))


def _given(update: Update) -> Any:
    """The learning rate that the optimizer of a parameter was made with."""
    tensor, found = int(update.told["tensor"]), update.optimizer
    groups = () if found is None else found.groups
    return next(
        (each.settings.get("initial_lr", each.settings.get("lr")) for each in groups if tensor in each.tensors), None
    )


def _shift(one: np.ndarray, other: np.ndarray) -> int:
    """By how many steps the second of two schedules is behind the first; 0 where it is another one."""
    length = min(len(one), len(other))
    for by in range(1, min(4, length - 1)):
        if np.allclose(other[by:length], one[: length - by], rtol=1e-9) and length - by >= 2:
            return by
        if np.allclose(one[by:length], other[: length - by], rtol=1e-9) and length - by >= 2:
            return -by
    return 0


def _scheduler(log: Log, update: Update) -> Place | None:
    """Where the scheduler of a parameter's optimizer steps, else where it was made."""
    known, held = training(log), update.optimizer
    for each in known.schedulers.values():
        if held is not None and each.optimizer == held.number:
            calls = known.calls("scheduler.step", owner=each.number)
            file, line = known.place(each.site)
            return called_at(log, calls[0] if calls else None) or ((each.type, file, line) if file else None)
    return None


def settings(case: Case) -> Cause | None:
    """Optimizers of one class that were told something else."""
    one, other = case.updates
    if one is None or other is None or not one.rule or one.rule != other.rule:
        return None
    facts = _differing(one, other)
    if not facts:
        return None
    names = ", ".join(f"{each.name} {each.a or 'not set'} in a and {each.b or 'not set'} in b" for each in facts[:3])
    whose = f" for {names_of(case)}" if len(case.apart) < len(case.all) else ""
    name = "weight decay" if facts[0].name == "weight_decay" else "optimizer settings"
    return Cause(name, f"{one.rule} has {names}{whose}", facts, optimizers(case))


def _differing(one: Update, other: Update) -> tuple[Fact, ...]:
    names = [*one.settings, *(name for name in other.settings if name not in one.settings)]
    same_class = one.rule == other.rule
    return tuple(
        Fact(name, _text(one.settings, name), _text(other.settings, name))
        for name in names
        if (same_class or (name in one.settings and name in other.settings))
        and not _is_same(one.settings.get(name, 0), other.settings.get(name, 0))
    )


def _is_same(one: Any, other: Any) -> bool:
    return bool(one == other) or (not one and not other)


def _text(settings: Mapping[str, Any], name: str) -> str:
    value = settings.get(name)
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def by_numbers(case: Case) -> Cause | None:
    """What the numbers tell of updates that no settings are told of."""
    one, other = case.updates
    if one is None or other is None:
        return None
    rules = [_rule(each) for each in (one, other)]
    if rules[0] is not None and rules[1] is not None:
        pairs = zip(rules[0]._fields, rules[0], rules[1], strict=True)
        facts = [
            Fact(_FITTED[name], f"{mine:.3g}", f"{its:.3g}")
            for name, mine, its in pairs
            if not _close(mine, its, name, rules[0].rate)
        ]
        if facts:
            first = facts[0]
            name = "weight decay" if first.name == _FITTED["decay"] else first.name
            sentence = f"by its numbers the update of {one.name} has {first.name} {first.a} in a and {first.b} in b"
            return Cause(name, sentence, tuple(facts), optimizers(case))
    changes = one.change, case.change.turned(other.change)
    if changes[0] is not None and changes[1] is not None:
        factor = multiple(changes[0], changes[1], 1e-3)
        if factor is not None:
            sentence = f"the update of {one.name} in b is {factor:.4g} times that of a"
            return Cause("learning rate", sentence, (Fact("update", "1", f"{factor:.4g}"),), optimizers(case))
    return None


_FITTED: Final = {"rate": "learning rate", "momentum": "momentum", "decay": "learning rate times weight decay"}


def _close(one: float, other: float, name: str, rate: float) -> bool:
    return abs(one - other) <= 1e-3 * max(
        abs(one), abs(other), 1e-2 * abs(rate) if name == "decay" else 1e-2 * (name == "momentum")
    )


def _rule(update: Update) -> Any:
    change, gradient, before = update.change, update.gradient, update.before
    if change is None or gradient is None or before is None or gradient.shape != change.shape:
        return None
    earlier = ahead_of(update)
    past = None if earlier is None else earlier.change
    return rule_of(change, gradient, before, past, 1e-3)


def unknown(case: Case) -> Cause:
    """What is to be said where nothing else holds."""
    one, other = case.updates
    by = [each.rule if each is not None and each.rule else "hand" for each in (one, other)]
    facts = (Fact("updated by", *by),) if by[0] != by[1] else ()
    sentence = f"the update makes something else of {names_of(case)}, given the same gradients"
    return Cause("update rule", sentence, facts, optimizers(case))
