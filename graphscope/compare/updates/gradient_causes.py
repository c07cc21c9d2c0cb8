"""Causes that lie ahead of the rule of an update: no update at all, or another gradient than backward brought."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.compare.difference import Fact
from graphscope.compare.updates.case import Case, Cause, Place, at, called_at, names_of, only_of, optimizers, told
from graphscope.compare.updates.update import Update, optimizer_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Node


def left_out(case: Case) -> Cause | None:
    """One run updates the parameter, the other does not."""
    if None not in case.updates:
        return None
    idle = case.updates.index(None)
    who, name = "ab"[idle], names_of(case)
    changes = [(each.one, each.other)[idle] for each in case.all]
    log = case.logs[idle]
    scaled = case.calls("scaler.step")[idle]
    if scaled and not any(changes):
        places = only_of(idle, called_at(log, scaled[0]))
        return Cause(
            "scaler",
            f"the scaler of {who} leaves out the step: gradients are not finite{told(places[idle])}",
            (),
            places,
        )
    if not any(changes):
        return Cause("step left out", f"{who} makes no update in this step", (), (None, None))
    tensor = (case.change.a, case.change.b)[idle]
    known = training(log)
    held = optimizer_of(log, tensor)
    if held is not None:
        return Cause("left out", f"{who} does not update {name} in this step", (), optimizers(case))
    others = [each for each in known.optimizers.values() if each.is_told]
    place = next(((each.type, *known.place(each.site)) for each in others if known.place(each.site)[0]), None)
    return Cause("parameters left out", f"no optimizer of {who} holds {name}{told(place)}", (), only_of(idle, place))


def stale(case: Case) -> Cause | None:
    """The gradients of one go on from those of an earlier step."""
    one, other = case.updates
    if one is None or other is None or one.is_stale == other.is_stale or not case.change.uses_another_gradient:
        return None
    idle = 0 if one.is_stale else 1
    clears = [each[0] if each else None for each in case.calls("zero_grad")]
    places = tuple(called_at(log, call) for log, call in zip(case.logs, clears, strict=True))
    sentence = (
        f"the gradients of {'ab'[idle]} go on from those of the step before: nothing clears them, where "
        f"{'ab'[1 - idle]} does{told(places[1 - idle])}"
    )
    return Cause("zero_grad", sentence, (), (places[0], places[1]))


_CLIPS: Final = {"clip_grad_norm_": "norm", "clip_grad_value_": "value"}


def clipped(case: Case) -> Cause | None:
    """Something is done to the gradients of one between backward and update that is not done to those of the other."""
    one, other = case.updates
    if one is None or other is None or not case.change.uses_another_gradient:
        return None
    calls = [each[-1] if each else None for each in case.calls(*_CLIPS)]
    writes = [_write(case, run) for run in range(2)]
    places = [
        called_at(log, call) if call is not None else at(write)
        for log, call, write in zip(case.logs, calls, writes, strict=True)
    ]
    limits = ["" if call is None else f"{call.facts.get('limit', '')}" for call in calls]
    how = ["" if call is None else _CLIPS[call.name] for call in calls]
    clips = [_clip(*each) for each in zip(how, limits, places, (one, other), strict=True)]
    facts = [Fact("clipped by", *how)] if how[0] != how[1] else []
    facts += [Fact("limit", *limits)] if limits[0] != limits[1] else []
    sentence = f"a {clips[0]}, b {clips[1]}"
    return Cause("clipping", sentence, tuple(facts), (places[0], places[1]))


def _write(case: Case, run: int) -> Node | None:
    """What a run wrote into the gradient of the parameter ahead of its update; else into that of another."""
    changes = [case.change, *case.all]
    updates = [each for change in changes if (each := (change.one, change.other)[run]) is not None]
    return next((write for each in updates if (write := each.write) is not None), None)


def _clip(how: str, limit: str, place: Place | None, update: Update) -> str:
    if place is None:
        return "uses the gradients as they are" if update.rule else "updates by hand"
    if not how:
        return f"changes the gradients by {place[0]}{told(place)}"
    return f"clips the gradients by {how} to {limit}{told(place)}"
