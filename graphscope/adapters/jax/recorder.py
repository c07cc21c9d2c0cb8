"""The recorder: what JAX evaluates, one primitive after the other, and inside of jitted functions as well."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import jax

from graphscope.adapters.jax import marks, scopes
from graphscope.adapters.jax.internals import CHECKPOINT, COND, JIT, SCAN, WHILE, core
from graphscope.adapters.jax.jaxprs import as_arrays
from graphscope.adapters.jax.marks import OURS
from graphscope.adapters.jax.rows import Rows
from graphscope.adapters.jax.rules import RULE
from graphscope.adapters.jax.step_calls import Call
from graphscope.adapters.jax.turns import Turns
from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.recording import Recording
from graphscope.adapters.kit.tape import Tape

ZEROS: Final = "graphscope_zeros"
"""What stands for cotangents that nothing brings."""

_BRINGING: Final = ("stage", "device_put")
"""Primitives that bring an array of NumPy's, which is no node, into JAX."""


class _Here(threading.local):
    computing = False
    """Whether what runs is the inside of a primitive, or our own."""


class Recorder:
    """Runs what JAX evaluates, and tells of it.

    Args:
        tape: The tape that it is told to.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.session: Recording = tape.session
        self.rows = Rows(tape)
        self._here = _Here()
        turns = Turns(self.rows, self.aside)
        self._opened: dict[Any, Callable[[Sequence[Any], dict[str, Any]], Any]] = {
            JIT: self.jitted,
            CHECKPOINT: _checkpointed,
            core.closed_call_p: _closed,
            SCAN: turns.scan,
            WHILE: turns.loop,
            COND: turns.condition,
        }
        """Primitives that hold others, which are run one by one."""

    @property
    def is_recording(self) -> bool:
        """Whether what is evaluated now is told."""
        return self.tape.is_recording and not self._here.computing

    @property
    def is_computing(self) -> bool:
        """Whether the inside of a primitive runs."""
        return self._here.computing and self.tape.is_recording

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """What runs inside is not told."""
        here = self._here
        before, here.computing = here.computing, True
        try:
            yield
        finally:
            here.computing = before

    def evaluate(self, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """The value of a primitive, or its values."""
        if primitive is marks.MARK:
            return self._marked(args, **params)
        if primitive.name in _BRINGING and not any(isinstance(each, jax.Array) for each in args):
            with self.aside():
                return primitive.impl(*args, **params)
        opened = self._opened.get(primitive)
        if opened is not None:
            return as_arrays(opened(args, params))
        self._ahead(primitive.name, args, params)
        start = self.session.writer.clock()
        with self.aside():
            found = primitive.impl(*args, **params)
        values = list(found) if primitive.multiple_results else [found]
        if not values:
            return found
        values = self._told(primitive.name, args, params, values, self.session.writer.clock() - start)
        return values if primitive.multiple_results else values[0]

    def whole(self, name: str, args: Sequence[Any], run: Callable[[], Any]) -> Any:
        """What a call gives that JAX makes by calls of others: it is one node.

        Args:
            name: What the log calls it.
            args: What it is given.
            run: Makes it; its values are in a list, or in a tree that can be given others.
        """
        start = self.session.writer.clock()
        with self.aside():
            found = run()
        values = list(found)
        if not values:
            return found
        values = self._told(name, args, {}, values, self.session.writer.clock() - start)
        return getattr(found, "update", list)(values)

    def jitted(self, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """The values of a jitted function."""
        name = params["name"]
        closed = params["jaxpr"]
        if name.startswith(OURS):
            with self.aside():
                found = list(JIT.impl(*args, **params))
            self._noted(name, found)
            return found
        depth = len(self.rows.here.passes)
        try:
            self._given(closed, args)
            with self.rows.where.called(), scopes.jitted(name, closed):
                return list(core.eval_jaxpr(closed.jaxpr, closed.consts, *args))
        except BaseException:
            self.rows.end(depth)
            raise

    @guarded(lambda call, name, closed, values: None)
    def ended(self, call: Call, name: str, closed: Any, values: Sequence[Any]) -> None:
        """A jitted function has run, and nothing was around it; a training step may have ended with it."""
        self.rows.calls.ended(call, name, closed, values, self.rows.became)

    # Inside ----------------------------------------------------------------------------------------------------------

    def _marked(self, args: Sequence[Any], *, what: str, count: int, told: tuple[Any, ...]) -> list[Any]:
        return list(self._mark(what, args[:count], args[count:], told))

    @guarded(lambda what, passed, context, told: passed)
    def _mark(self, what: str, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
        with self.aside():
            return _MARKS[what](self.rows, passed, context, told)

    @guarded(lambda name, args, params: None)
    def _ahead(self, name: str, args: Sequence[Any], params: dict[str, Any]) -> None:
        with self.aside():
            self.rows.ahead(name, args, params)

    @guarded(lambda name, args, params, values, duration: values)
    def _told(
        self, name: str, args: Sequence[Any], params: dict[str, Any], values: list[Any], duration: int
    ) -> list[Any]:
        with self.aside():
            return list(self.rows.op(name, args, params, values, duration))

    @guarded(lambda name, results: None)
    def _noted(self, name: str, results: Sequence[Any]) -> None:
        """Note what one of our own functions has made."""
        if name == RULE:
            self.rows.pulled(results)
        elif name == ZEROS:
            self.rows.summed(results[0], ())

    @guarded(lambda closed, args: None)
    def _given(self, closed: Any, args: Sequence[Any]) -> None:
        """Name the arrays that a jitted function is given."""
        names = closed.jaxpr.debug_info.arg_names if closed.jaxpr.debug_info is not None else None
        with self.aside():
            for value, name in zip(args, names or (), strict=False):
                self.rows.given(value, name)


def _leaves(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    return rows.differentiated(passed, *told)


def _begin(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    rows.begin(context)
    return passed


def _cotangent(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    return rows.cotangent(passed, context, told)


def _sum(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    rows.summed(passed[0], context)
    return passed


def _gradient(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    return [rows.gradient(passed[0], context[0])]


def _updated(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    rows.updated(passed, context)
    return passed


def _end(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    rows.end()
    return passed


def _call(rows: Rows, passed: Sequence[Any], context: Sequence[Any], told: tuple[Any, ...]) -> Sequence[Any]:
    return list(rows.op(told[0], context, {}, list(passed), 0))


_MARKS: dict[str, Callable[..., Sequence[Any]]] = {
    marks.LEAVES: _leaves,
    marks.BEGIN: _begin,
    marks.COTANGENT: _cotangent,
    marks.SUM: _sum,
    marks.GRADIENT: _gradient,
    marks.UPDATED: _updated,
    marks.END: _end,
    marks.CALL: _call,
}


def _checkpointed(args: Sequence[Any], params: dict[str, Any]) -> Any:
    with scopes.named("checkpoint"):
        return core.eval_jaxpr(params["jaxpr"], (), *args)


def _closed(args: Sequence[Any], params: dict[str, Any]) -> Any:
    return core.eval_jaxpr(params["call_jaxpr"].jaxpr, params["call_jaxpr"].consts, *args)
