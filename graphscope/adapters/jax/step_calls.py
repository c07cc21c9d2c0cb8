"""Which calls of jitted functions make training steps, so that the steps are counted in which nothing else is seen.

What a call computes is seen in recorded steps: whether it differentiates by parameters, and whether it gives what these
become, to an `apply_updates` in it or to the next call. In steps that are left out it is known by its name and line.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from graphscope.adapters.jax.jaxprs import differentiates, is_of_jax, told_of
from graphscope.adapters.jax.trace_caches import IS_KEPT
from graphscope.adapters.kit.identity import Notes
from graphscope.adapters.kit.late_arrays import LateArray
from graphscope.adapters.kit.recording import Recording
from graphscope.adapters.kit.training_steps import end_seen_step, end_step
from graphscope.eventlog import record as recording
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.writer import Writer

Became = Callable[[str, Any], None]
"""Told the name of a parameter, and what it is from here on."""

_kept: Final[weakref.WeakKeyDictionary[Writer, dict[Hashable, Function]]] = weakref.WeakKeyDictionary()
"""What is known of a program's functions, by its recording: JAX is attached to anew when that keeps other values."""

_MOST_PASSED: Final = 256
"""More calls that train than gradients are added up of for a step, mostly."""

_TOO_OLD: Final = "`every` is for JAX 0.7.2 and newer"
_UNSEEN: Final = (
    "nothing would tell where those end that are left out (call gs.step() behind each, or let a jitted function, or "
    "apply_updates, give the parameters of the next)"
)
"""Why no step of a program can be left out."""


class Function:
    """What is known of a jitted function.

    Args:
        trains: Whether it differentiates by parameters, or updates them.
    """

    __slots__ = ("is_seen", "is_seen_again", "loss", "makes_steps", "parameters", "trains")

    def __init__(self, *, trains: bool) -> None:
        self.trains = trains
        self.is_seen = self.is_seen_again = False
        """Whether it was recorded, or the next steps are so that it is."""
        self.makes_steps: bool | None = None
        """Whether a step has ended when it has; None: it was not seen yet, and is taken to if it trains."""
        self.loss: int | None = None
        """The place among its results of what its backward pass begins from."""
        self.parameters: dict[str, int] = {}
        """The places of what parameters become, by their names."""


class Call:
    """A call that is recorded."""

    def __init__(self) -> None:
        self.root: Any = None
        """What its backward pass begins from."""
        self.trains = self.updates = False


class _Given(NamedTuple):
    """What an array is a result of."""

    function: Function
    place: int
    call: Call


class _Here(threading.local):
    call: Call | None = None
    """The recorded call that runs."""
    trains = False
    """Whether the newest one that was left out may make a step."""


class _Traced(threading.local):
    updates = False
    """Whether an `apply_updates` was traced for the call that is left out next."""


traced: Final = _Traced()


class StepCalls:
    """Those of a recording.

    Args:
        session: The recording.
    """

    def __init__(self, session: Recording) -> None:
        self.session = session
        self._sampling = session.writer.sampling
        self._here = _Here()
        self._functions = _kept.setdefault(session.writer, {})
        self._of_jaxprs: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self._given = Notes[_Given]()
        """What functions have given."""
        self._passed = 0
        """So many calls that train were left out since a step has ended."""

    @property
    def _is_sampled(self) -> bool:
        """Whether steps are to be left out."""
        return IS_KEPT and self._sampling.every > 1

    @property
    def are_left_out(self) -> bool:
        """Whether the step that runs is."""
        return recording.suspended is self.session.writer and not self.session.ended

    # Recorded --------------------------------------------------------------------------------------------------------

    @contextmanager
    def recorded(self) -> Iterator[Call]:
        """A jitted function runs inside, and nothing is around it."""
        call = self._here.call = Call()
        try:
            yield call
        finally:
            self._here.call = None

    def begins(self, root: Any) -> None:
        """A backward pass begins from this."""
        if self._here.call is not None:
            self._here.call.root = root

    def differentiates(self, changed: Mapping[str, Any]) -> None:
        """Parameters are differentiated by; the step before has ended if they are others than at the last time.

        Args:
            changed: Those that are, by their names, and that no `apply_updates` has made.
        """
        call = self._here.call
        is_first = call is None or not call.trains
        if call is not None:
            call.trains = True
        if not changed or self._sampling.is_told:
            return
        if call is not None and self._is_sampled and not is_first:
            call.updates = True
            return
        given = {name: found for name, array in changed.items() if (found := self._given.of(array)) is not None}
        is_of_calls = len(given) == len(changed) and _is_of_calls(list(given.values()))
        if call is None or not self._is_sampled or not is_of_calls:
            end_step("JAX", reason=_UNSEEN if IS_KEPT else _TOO_OLD)
            return
        is_new = not all(found.function.makes_steps for found in given.values())
        for name, (function, place, _) in given.items():
            function.parameters[name] = place
            function.trains = function.makes_steps = True
        if is_new:  # else it has ended with the call that gave them
            self.end()

    def updates(self) -> None:
        """An `apply_updates` has made parameters what they are from here on."""
        if self._here.call is not None and self._is_sampled:
            self._here.call.updates = True
        elif IS_KEPT:
            self.end()
        else:
            end_step("JAX", reason=_TOO_OLD)

    def ended(self, call: Call, name: str, closed: Any, results: Sequence[Any], became: Became) -> None:
        """A call has ended, and a step with it if it makes steps.

        Args:
            call: The call.
            name: What JAX calls the function.
            closed: Its closed jaxpr.
            results: What it gave.
            became: Told of each parameter that this is known to give.
        """
        if not self._is_sampled:
            return
        function = self._functions.setdefault(_key(name, closed), Function(trains=False))
        is_training = call.trains or call.updates or function.trains
        function.is_seen = True
        if not is_training and is_of_jax(closed.jaxpr):  # as what subtracts
            return
        for place, each in enumerate(results):
            self._given.note(each, _Given(function, place, call))
        if not is_training:
            return
        function.trains = True
        function.makes_steps = call.updates or bool(function.makes_steps)
        function.loss = next((place for place, each in enumerate(results) if each is call.root), None)
        for parameter, place in function.parameters.items():
            became(parameter, results[place])
        if function.makes_steps:
            self.end()

    def end(self) -> None:
        """End a step, unless the program tells itself where they end."""
        self._passed = 0
        end_seen_step(self.session.writer)

    # Left out --------------------------------------------------------------------------------------------------------

    def left_out(self, name: str, closed: Any, results: Sequence[Any]) -> None:
        """A jitted function has run in a step that is left out.

        Args:
            name: What JAX calls it.
            closed: Its closed jaxpr.
            results: What it gave.
        """
        try:
            function = self._of_jaxprs.get(closed)
            if function is None:
                trains = traced.updates or differentiates(closed.jaxpr)
                function = self._functions.setdefault(_key(name, closed), Function(trains=trains))
                self._of_jaxprs[closed] = function
                function.trains |= traced.updates
            traced.updates = False
            self._here.trains = function.trains
            if not function.trains:
                return
            if not function.is_seen or self._must_be_seen_again(function):
                function.is_seen, function.makes_steps = True, None
                self._sampling.begin_anew()
            if function.loss is not None and function.loss < len(results):
                self._sampling.note_late_loss(LateArray(results[function.loss]))
            if function.makes_steps is not False:
                self.end()
        except own(Exception) as error:
            self.session.give_up(error)

    def _must_be_seen_again(self, function: Function) -> bool:
        """Whether nothing tells of steps any more: the function that made them is not called, another may."""
        self._passed += 1
        if self._passed < _MOST_PASSED or function.is_seen_again or self._sampling.is_told:
            return False
        function.is_seen_again = True
        return True

    @property
    def must_be_seen(self) -> bool:
        """Whether the newest call that was left out trains, so that JAX must not call that function past Python."""
        return self._here.trains


def _is_of_calls(given: Sequence[_Given]) -> bool:
    """Whether calls that train gave parameters, or one call gave them all: one for each would make as many steps."""
    return all(each.function.trains for each in given) or len({id(each.call) for each in given}) == 1


def _key(name: str, closed: Any) -> Hashable:
    """What is one function to us, however often it is traced.

    Args:
        name: What JAX calls it.
        closed: Its closed jaxpr: functions of one line may give different things, as those do which another makes.
    """
    return name, told_of(closed.jaxpr), len(closed.jaxpr.outvars)
