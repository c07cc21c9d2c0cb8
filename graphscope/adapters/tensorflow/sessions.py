"""Sessions of TensorFlow 1: each run is recorded, computed in one go or, where a debugger looks on, in parts."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary, WeakSet

import tensorflow as tf
from tensorflow.python.client import session as client

from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.notices import say
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Tape
from graphscope.adapters.kit.training_steps import end_step
from graphscope.adapters.tensorflow.execution import Computation, Execution
from graphscope.adapters.tensorflow.gradient_calls import GradientCalls
from graphscope.adapters.tensorflow.run_plan import Plan
from graphscope.adapters.tensorflow.run_rows import RunRows
from graphscope.eventlog.interruptions import own

_MOST_PLANS: Final = 100
"""So many plans of a session are kept."""


class Sessions:
    """What is recorded of sessions.

    Args:
        tape: Writes the rows.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.session = tape.session
        self._calls = GradientCalls()
        self._plans: WeakKeyDictionary[Any, dict[Any, Plan]] = WeakKeyDictionary()
        self._runs: WeakKeyDictionary[Any, itertools.count[int]] = WeakKeyDictionary()
        self._said: set[str] = set()
        self._hiding: WeakSet[tf.Graph] = WeakSet()
        """The graphs of which it was said that not all of them can be seen."""

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is the program's, and recorded."""
        return self.tape.is_recording

    def install(self, patches: Patches) -> None:
        """Begin to see them."""
        self._calls.install(patches)
        patches.replace(client.BaseSession, "_do_run", self._recorded(client.BaseSession._do_run))
        for name in ("make_callable", "_make_callable_from_options"):
            patches.replace(client.BaseSession, name, self._unrecorded(getattr(client.BaseSession, name)))

    # Inside ----------------------------------------------------------------------------------------------------------

    def _recorded(self, do_run: Callable[..., Any]) -> Callable[..., Any]:
        def run(
            session: Any, handle: Any, targets: Any, fetches: Any, feeds: Any, options: Any, run_metadata: Any
        ) -> Any:
            if handle is not None:
                self._say("a partial run of a session is not recorded; one that is run whole is")
                return do_run(session, handle, targets, fetches, feeds, options, run_metadata)
            plan = self._plan(session, fetches, targets, feeds)
            if plan is None:
                return do_run(session, None, targets, fetches, feeds, options, run_metadata)
            computation = Computation(functools.partial(do_run, session, None), options, run_metadata)
            execution = Execution(plan, computation, feeds)
            try:
                self._run(session, plan, execution)
            except own(Exception) as error:
                if error is computation.raised:
                    raise
                self.session.give_up(error)
                return execution.without_us()
            return execution.fetched()

        return run

    def _unrecorded(self, make: Callable[..., Any]) -> Callable[..., Any]:
        """What makes callables, which says so of those that leave out what is recorded; one that is fed calls `run`."""

        @functools.wraps(make)
        def said(session: Any, *args: Any, **kwargs: Any) -> Any:
            found = make(session, *args, **kwargs)
            if self.is_recording and getattr(found, "__name__", "") != "_generic_run":
                self._say("what make_callable makes is not recorded where it is called; session.run is")
            return found

        return said

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            say(text)

    @guarded(lambda *_: None)
    def _plan(self, session: Any, fetches: Any, targets: Any, feeds: Any) -> Plan | None:
        graph = session.graph
        fed = frozenset(key.deref().name for key in feeds)
        names = tuple(each.name for each in fetches), tuple(each.name for each in targets)
        key = (*names, fed, graph.version)
        plans = self._plans.setdefault(session, {})
        if key not in plans:
            if len(plans) >= _MOST_PLANS:
                plans.clear()
            plans[key] = plan = Plan(graph, fetches, targets, fed, self._calls.of(graph))
            if plan.hidden and graph not in self._hiding:
                self._hiding.add(graph)
                self._say(
                    f"what is computed in loops and branches of the graph ({', '.join(plan.hidden[:3])}, "
                    f"{len(plan.hidden)} ops) can't be fetched; what goes into them and comes out is recorded"
                )
        return plans[key]

    def _run(self, session: Any, plan: Plan, execution: Execution) -> None:
        """Compute a run and write its rows."""
        number = next(self._runs.setdefault(session, itertools.count(1)))
        looks_on = self.session.writer.gate is not None
        execution.begin()
        with RunRows(self.tape, plan, execution, number) as rows:
            execution.feed(rows.feeds())
            for part in plan.parts if looks_on else [plan.whole]:
                execution.run(part)
                for place, op in enumerate(part.ops):
                    changed = rows.op(op)
                    if changed:
                        _replace(execution, changed, op, part.ops[place + 1 :])
        if looks_on:
            execution.end()
        if self.is_recording:
            end_step("TensorFlow")


def _replace(execution: Execution, changed: Mapping[str, Any], op: tf.Operation, rest: Sequence[tf.Operation]) -> None:
    """Let a run go on with what a debugger put in the place of values, and say where that can't be."""
    given = execution.replaceable(changed)
    if len(given) < len(changed):
        say(f"no other value can be put in the place of {op.name}: the session goes on with its own")
    missed = execution.replace(given, rest) if given else ""
    if missed:
        say(f"{missed} had been computed together with {op.name}, and keeps what it was given")
