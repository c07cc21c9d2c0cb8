"""Which training steps of a program are recorded: every so many one, and those that follow something remarkable."""

from __future__ import annotations

import math
import weakref
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Final

from graphscope.errors import LogError
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.late_numbers import LateNumber, LateNumbers
from graphscope.eventlog.marked_step import MarkedStep
from graphscope.eventlog.moments import USUAL, moments
from graphscope.eventlog.requests import Requests
from graphscope.eventlog.step_counts import StepCounts
from graphscope.eventlog.step_series import SERIES
from graphscope.eventlog.turn import Turn
from graphscope.eventlog.turns import Turns

_LOOK: Final = 200_000
"""Nanoseconds that a look at a step takes: little of what it needs is in the caches then, nor afterwards of what the
program needs. With `_SHARE`, steps are in the series a tenth of a second after they ended."""

_FIRST: Final = 2
"""So many steps are recorded first: of a program with two optimizers each has made one then."""

_MOST_HELD: Final = 256
"""So many steps at most wait for somebody to look."""

MOST_OTHERS: Final = 32
"""After so many steps of others, the optimizer that ended training steps has stopped to."""

_MOST_SCALES: Final = 8

_BURST: Final = 10

_SHARE: Final = 0.002
"""The share of a program's time that looks may take."""

_MOST_WAIT: Final = 1 << 16
"""So many steps at most until the next norm of gradients."""


class Sampling(StepCounts):
    """Decides it at the end of each step. The first two are recorded.

    Args:
        every: One of so many steps is recorded.
        keep_last: So many steps are recorded after something remarkable (None: some).
        on: What is remarkable, as words of `moments.MOMENTS`; None: what is `USUAL`.

    Raises:
        LogError: `every` is less than 1, or `on` names what can't be heeded, or is given where nothing is to be held.
    """

    __slots__ = (
        "_burst", "_first", "_is_recorded", "_looked", "_norm_at", "_normed", "_requests", "every", "has_told",
        "is_told", "late", "marked", "met", "newest_loss", "on", "passed", "scales", "turns",
    )  # fmt: skip

    def __init__(self, every: int, keep_last: int | None, on: str | None = None) -> None:
        if every < 1:
            raise LogError(f"every={every} is no number of steps", hint="give 1 or more")
        super().__init__()
        self.on = moments(USUAL if on is None else on)
        """What is remarkable."""
        if on is not None and every == 1 and keep_last is None:
            raise LogError(
                f"all steps are kept in any case, and {on!r} would hold none of them",
                hint="give `every` or `keep_last` (`--every`, `--keep-last`), too",
            )
        self.every = every
        self.passed = bytearray(_MOST_HELD * SERIES.itemsize)
        """The rows of the series of steps that nobody looked at, until somebody does: compiled code puts them there."""
        self.late = LateNumbers()
        """What steps are told of later."""
        self.scales: tuple[Any, ...] = ()
        """Tensors by which losses are scaled up for half precision: a loss is told as it was."""
        self._burst = keep_last or _BURST
        self._first = _FIRST
        self._looked = self._normed = 0, 0
        self._norm_at = 0
        self._requests: Requests | None = None
        self._is_recorded = True
        self.marked: MarkedStep | None = None
        """The newest step that is marked in the log."""
        self.newest_loss: float | None = None
        """That of the newest step that was looked at as it ended."""
        self.turns = Turns()
        """Of the program's loops, in which steps ended."""
        self.is_told = False
        """Whether the program itself says where its steps end."""
        self.has_told = False
        """Whether a person was told why steps are recorded that were to be left out."""
        self.met: dict[int, weakref.ref[Any] | None] = {}
        """The optimizers that have made steps, by `id`, which another one may have when they are gone; None of what
        can't be referred to."""

    def is_new(self, optimizer: Any) -> bool:
        """Whether an optimizer has made no step yet."""
        key = id(optimizer)
        known = self.met.get(key)
        return key not in self.met if known is None else known() is not optimizer

    def note(self, optimizer: Any) -> None:
        """Note an optimizer, which is new no more: no training step ends with it while others make steps."""
        try:
            self.met[id(optimizer)] = weakref.ref(optimizer)
        except own(TypeError):  # None, and some of a program's own
            self.met[id(optimizer)] = None

    def ends(self, optimizer: Any, turn: Turn | None, *, is_same_loss: bool = False) -> bool:
        """Note the step of an optimizer (None: of the program's own); whether a training step ends with it.

        Where there are several, it ends with that of the newest, unless that makes no more. Steps that ended before
        the newest was known are taken back, if they were in the same turn of the program's loops.

        Args:
            optimizer: The one that has made it.
            turn: That turn; None where that is not known.
            is_same_loss: Of a new one, whether no backward pass has begun since the optimizer before made its step.
        """
        key = id(optimizer)
        is_new = self.is_new(optimizer)
        if not is_new and key != self.last and self.others < MOST_OTHERS:
            self.others += 1
            return False
        back = self.turns.steps_in(turn, self.ended, is_same_loss=is_same_loss) if is_new and turn is not None else 0
        if 0 < back <= MOST_OTHERS:
            self.ended -= back
            self.idle = self._norm_at = 0
        self.note(optimizer)
        self.last, self.others = key, 0
        self.turns.note(turn, self.ended + 1)
        return True

    def step_of(self, frame: FrameType, lines: Mapping[FrameType, int]) -> int:
        """The step that a frame is in, counted from 1.

        Args:
            frame: The frame.
            lines: Those of frames that were at another line than they are at now.
        """
        if self.marked is None or self.others:  # one that does not end it has made its step already
            return self.ended + 1
        return self.marked.step_of(self.ended, frame, lines)

    def note_late_loss(self, loss: LateNumber | None) -> None:
        """Note that a backward pass of the step begins from a number that lies elsewhere (None: it never comes)."""
        self.late.is_elsewhere = True
        if loss is not None:
            self.late.note(self.loss, loss)
            self.loss = None

    def note_scale(self, scale: Any) -> None:
        """Note a tensor that the program scales losses by."""
        if not any(each is scale for each in self.scales):
            self.scales = (*self.scales[1 - _MOST_SCALES :], scale)
            self.scaled = len(self.scales)

    def step(self) -> bool:
        """Note that a training step has ended; whether what follows is recorded."""
        self.ended += 1
        self._is_recorded = self.ended % self.every == 0 or self.ended < max(self.until, self._first)
        return self._is_recorded

    def goes_on(self, optimizer: Any, time: int) -> bool:
        """Note the end of a step that is left out, if the next one is, too, and nothing else is to be seen of it.

        Args:
            optimizer: The one that has made it; its loss is finite as the one before it was, or is not as that was not.
            time: Now, in nanoseconds.
        """
        ended = self.ended + 1
        if (
            id(optimizer) != self.last
            or ended % self.every == 0
            or ended <= max(self.until, self._first)
            or self.wants_norm()
            or self._requests is not None
        ):
            return False
        self.ended, self.loss, self.others = ended, None, 0
        self.rest(time)
        return True

    def passes_over(self, optimizer: Any) -> bool:
        """Note the step of an optimizer, if its training step is not looked at; whether it is not.

        It is where its loss is not finite and those before it were, or the other way round.
        """
        if self.idle <= 1 or self.ended < self.until:  # a signal may have come while `idle` was counted
            return False
        if self.loss is not None and math.isfinite(self.loss) != self.is_finite:
            self.idle = 0
            return False
        if id(optimizer) != self.last:
            if self.is_new(optimizer) or self.others >= MOST_OTHERS:
                return False
            self.others += 1
            return True
        self.loss, self.others = None, 0
        self.idle -= 1
        self.ended += 1
        return True

    def rest(self, time: int) -> None:
        """Decide how many of the steps that are left out end until one is looked at: what that costs is to be little.

        Where losses lie elsewhere each is: nothing else notes them, or the rates.

        Args:
            time: Now, in nanoseconds.
        """
        steps, before = self._looked
        self._looked = self.ended, time
        took = (time - before) / max(self.ended - steps, 1)
        rest = int(min(max(_LOOK / (_SHARE * took), 1), _MOST_HELD)) if took > 0 else 1
        self.idle = 1 if self.late.is_elsewhere else min(rest, self.every - self.ended % self.every)

    def wants_norm(self) -> bool:
        """Whether the norm of the gradients of the step that ends is to be had: what they cost is to be little, too."""
        return self.ended >= self._norm_at

    def took_norm(self, began: int, ended: int) -> None:
        """Decide when the next one is to be had.

        Args:
            began: When the work on this one began, in nanoseconds.
            ended: When it was done.
        """
        steps, before = self._normed
        self._normed = self.ended, ended
        took = (began - before) / max(self.ended - steps, 1) if before else 0  # a step, without that work
        wait = (ended - began) / (_SHARE * took) if took > 0 else 1
        self._norm_at = self.ended + max(math.ceil(min(wait, _MOST_WAIT)), 1)

    def listen(self, folder: Path) -> None:
        """Heed requests of other processes from here on, if findings are remarkable.

        Args:
            folder: That of the log.

        Raises:
            OSError: The disk is full.
        """
        if "finding" in self.on:
            self._requests = Requests(folder)

    def meet(self, loss: float | None) -> bool:
        """Note the loss of a step; whether something is remarkable, as the first is that is NaN or Inf.

        It is the step that ends; where losses lie elsewhere, the one before it.
        """
        is_asked = self._requests is not None and self._requests.heed()
        if loss is None:
            return is_asked
        was_finite, self.is_finite = bool(self.is_finite), math.isfinite(loss)
        return is_asked or (was_finite and not self.is_finite and "nan" in self.on)

    def begin_anew(self) -> None:
        """Record the steps behind the one that runs as the first ones were: something trains that was not seen yet."""
        self._first = self.ended + 1 + _FIRST
        self.idle = 0

    def remark(self) -> None:
        """Record the steps that follow the one which runs now."""
        self.until = self.ended + 1 + self._burst
        self.idle = 0
