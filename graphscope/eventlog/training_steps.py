"""The ends of training steps: each is marked in the log, and decides whether the next step is recorded."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import Any

from graphscope.eventlog import record
from graphscope.eventlog.awaited import fetch
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.late_numbers import LateNumber
from graphscope.eventlog.loop_counters import loop_counters
from graphscope.eventlog.marked_step import MarkedStep
from graphscope.eventlog.notices import say
from graphscope.eventlog.own_files import is_own
from graphscope.eventlog.places import site_number
from graphscope.eventlog.sampling import Sampling
from graphscope.eventlog.step_series import SERIES, has_stepped_since, keep_losses
from graphscope.eventlog.turn import Turn
from graphscope.eventlog.writer import Writer


def step() -> None:
    """End a training step in the log (optimizers do so by themselves)."""
    writer = record.going()
    if writer is not None:
        writer.sampling.is_told = True
    end()


def end(optimizer: Any = None, norm: Callable[[Any], float | None] | None = None) -> None:
    """The same, of the optimizer that has made the step.

    Args:
        optimizer: None: it is the program's own.
        norm: The 2-norm of all gradients that an optimizer took; None where it can't be had.
    """
    writer = record.going()
    if writer is None:
        return
    sampling, is_recorded = writer.sampling, writer is record.writer
    if sampling.passes_over(optimizer):
        return
    if is_recorded:
        fetch()  # the loss is looked for among the rows
    _meet_late(writer)
    frame = _frame_of_program(sys._getframe(1))
    is_new = sampling.is_new(optimizer)
    turn = _turn(writer, frame) if is_recorded or is_new else None
    ended = sampling.ended
    is_same_loss = is_new and is_recorded and _has_had_a_loss(sampling) and has_stepped_since(writer)
    is_end = sampling.ends(optimizer, turn, is_same_loss=is_same_loss)
    if writer.series is not None:
        keep_passed(writer)
        if is_recorded:
            keep_losses(writer)
        loss = _loss(sampling, optimizer, norm)
        if sampling.ended < ended:
            writer.series.take_back(sampling.ended + 1, ended)
            loss = sampling.newest_loss if loss is None and not sampling.late.has_losses else loss
        if is_end:
            loss, rate = sampling.late.end(sampling.ended + 1, loss, _rate(sampling, optimizer))
            writer.series.append(sampling.ended + 1, writer.clock(), loss, rate)
            sampling.newest_loss = loss
        if is_end and norm is not None and sampling.wants_norm():
            _append_norm(writer, norm, optimizer)
        if sampling.meet(loss):
            writer.remark()
        if is_end:  # several optimizers may take one step on it
            sampling.loss = None
    if turn is not None and is_recorded:
        writer.step(turn, sampling.ended + 1 if writer.is_ring else 0, is_end=is_end)
    if not is_end:
        return
    if turn is not None:
        sampling.marked = _marked(turn, frame)
    if sampling.ended + 1 == sampling.until:  # what was recorded since is held as well
        writer.retention.hold()
    is_next = sampling.step()
    if is_next and not is_recorded:
        _resume(writer)
        turn = _turn(writer, frame)
        writer.step(turn, sampling.ended, is_left_out=True)
        sampling.marked = _marked(turn, frame)
    policy = "full" if sampling.ended < sampling.until else writer.asked
    if policy != writer.policy and writer.capture not in record.UNCEASING and not writer.memory and not _others(writer):
        _keep(writer, policy)
    if is_recorded and not is_next:
        others = _others(writer)
        if others:
            _tell_of(writer, others[0])
        else:
            _suspend(writer)
    if writer is record.suspended:
        sampling.rest(writer.clock())


def passed(optimizer: Any) -> bool:
    """End a step that is left out as the one before it was and of which no more than loss and rate are kept: quickly.

    Args:
        optimizer: The one that has made it.

    Returns:
        False where more is to be done; then nothing was.
    """
    writer = record.suspended
    if writer is None or writer.series is None:
        return False
    _meet_late(writer)
    sampling, loss, now = writer.sampling, writer.sampling.loss, writer.clock()
    is_as_before = sampling.late.is_elsewhere if loss is None else math.isfinite(loss) == sampling.is_finite
    if not is_as_before or not sampling.goes_on(optimizer, now):
        return False
    keep_passed(writer)
    loss, rate = sampling.late.end(sampling.ended, loss, _rate(sampling, optimizer))
    writer.series.append(sampling.ended, now, loss, rate)
    sampling.late.is_elsewhere &= loss is None
    return True


def _meet_late(writer: Writer) -> None:
    """Note the losses of steps before that were not here when those ended: what is remarkable is so one step later."""
    sampling = writer.sampling
    if writer.series is None:
        return
    for loss in sampling.late.losses(writer.series):
        sampling.newest_loss = loss
        if sampling.meet(loss):
            writer.remark()


def keep_passed(writer: Writer) -> None:
    """Write down the steps that nobody looked at."""
    sampling = writer.sampling
    if sampling.held and writer.series is not None:
        writer.series.extend(memoryview(sampling.passed)[: sampling.held * SERIES.itemsize])
    sampling.held = 0


def _loss(sampling: Sampling, optimizer: Any, norm: Callable[[Any], float | None] | None) -> float | None:
    """The loss of the step that ends: the newest one where gradients that another had spoilt were not taken."""
    loss = sampling.loss
    if loss is None or norm is None or math.isfinite(loss) or not math.isfinite(sampling.newest):
        return loss
    taken = norm(optimizer)
    return loss if taken is None or not math.isfinite(taken) else sampling.newest


def _has_had_a_loss(sampling: Sampling) -> bool:
    """Whether a backward pass has brought what an optimizer took, as far as that is known."""
    return sampling.newest_loss is not None or sampling.late.is_elsewhere


def _append_norm(writer: Writer, norm: Callable[[Any], float | None], optimizer: Any) -> None:
    began = writer.clock()
    found = norm(optimizer)
    if found is not None and writer.series is not None:
        writer.series.append_norm(writer.sampling.ended + 1, found)
    writer.sampling.took_norm(began, writer.clock())


def _rate(sampling: Sampling, optimizer: Any) -> LateNumber | float:
    """The learning rate of an optimizer's first group; NaN where that is not known."""
    try:
        return sampling.late.number_of(optimizer.param_groups[0]["lr"])
    except own(Exception):  # of an optimizer of the program's own
        return math.nan


def _frame_of_program(frame: FrameType) -> FrameType:
    while not is_own(frame.f_code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _turn(writer: Writer, frame: FrameType) -> Turn:
    return Turn(site_number(writer, frame), loop_counters(frame))


def _marked(turn: Turn, frame: FrameType) -> MarkedStep:
    return MarkedStep(not turn.counters, frame.f_code, frame.f_lineno or 0)


def _others(writer: Writer) -> list[threading.Thread]:
    """Other threads of the program that compute, each of which would be in the middle of what is taken back."""
    here = threading.current_thread()
    others = [each for each in threading.enumerate() if each is not here and writer.has_seen(each)]
    # Those of autograd's engine are dummies.
    return [each for each in others if not isinstance(each, threading._DummyThread)]


def _tell_of(writer: Writer, other: threading.Thread) -> None:
    """Say once why steps are recorded that were to be left out."""
    if not writer.sampling.has_told:
        writer.sampling.has_told = True
        say(f"all steps are recorded while another thread is alive that computes, too: {other.name}")


def _keep(writer: Writer, policy: str) -> None:
    """Keep so much of values from here on: producers make anew what they know of call sites."""
    writer.policy = policy
    writer.sites.clear()
    writer.variants.clear()
    writer.forget()
    import_module("graphscope.adapters").renew(writer)


def _suspend(writer: Writer) -> None:
    """Leave out what runs from here on."""
    record.activate(None)
    record.suspended = writer
    writer.sampling.since = 0 if writer.series is None else writer.series.first
    import_module("graphscope.adapters").suspend()


def _resume(writer: Writer) -> None:
    """Record again what runs from here on."""
    writer.forget()
    record.suspended = None
    record.activate(writer)
    import_module("graphscope.adapters").resume()
