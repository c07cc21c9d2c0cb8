"""What is changed in JAX while it is recorded: how it evaluates, runs what was jitted, and differentiates."""

from __future__ import annotations

import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Final

import jax
import jaxlib

from graphscope.adapters.jax import trace_caches
from graphscope.adapters.jax.differentiation import differentiate
from graphscope.adapters.jax.internals import JIT, MAP, VJP, api, core, own, pjit
from graphscope.adapters.jax.names import names_of_call
from graphscope.adapters.jax.packages import PACKAGES
from graphscope.adapters.jax.recorder import Recorder
from graphscope.adapters.kit.late_arrays import tell_late
from graphscope.adapters.kit.patches import Patches, Replaced
from graphscope.adapters.kit.tape import Tape
from graphscope.eventlog.writer import Writer

_OUTERMOST: Final = ("EvalTrace", "DynamicJaxprTrace")
"""The traces in which nothing else is differentiated or mapped."""


class JaxPatches(Patches):
    """The patches of a recording."""

    def __init__(self, writer: Writer) -> None:
        super().__init__("JAX")
        self._writer = writer
        self.recorder = Recorder(Tape(writer, "JAX", [jax, jaxlib, *PACKAGES]))

    def install(self) -> None:
        """Begin to see what JAX does; what it has traced and compiled before stays for when the recording has ended."""
        trace_caches.use_recorded()
        self.at_end(trace_caches.use_own)
        tell_late(self._writer, self)
        trace = core.EvalTrace
        self.replace(trace, "process_primitive", self._evaluated(trace.process_primitive))
        if hasattr(trace, MAP):
            self.replace(trace, MAP, self._mapped(getattr(trace, MAP)))
        self.replace(pjit, "_pjit_call_impl_python", self._jitted(pjit._pjit_call_impl_python))
        self.replace(pjit, "_get_fastpath_data", self._unhurried(pjit._get_fastpath_data))
        differentiated = self._differentiated(getattr(api, VJP))
        self.replace(api, VJP, differentiated)
        if VJP == "vjp":
            self.replace(jax, "vjp", differentiated)

    def suspend(self) -> None:
        """Let JAX run as it is until `resume`, but for calls of functions that train."""
        super().suspend()
        trace_caches.use_left_out()

    def resume(self) -> None:
        """See again what it does."""
        trace_caches.use_recorded()
        self.recorder.rows.forget_versions()
        super().resume()

    def stays(self, replaced: Replaced) -> bool:
        """What runs jitted functions does: they make the steps."""
        return replaced.owner is pjit

    def _evaluated(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self.recorder

        @functools.wraps(original)
        def process_primitive(trace: Any, primitive: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
            if not recorder.is_recording:
                return original(trace, primitive, args, params)
            args = [core.full_lower(each) for each in args]
            core.check_eval_args(args)
            return recorder.evaluate(primitive, args, params)

        return process_primitive

    def _mapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What runs a `shard_map`, and jits such ones to do so: it is one node."""
        recorder = self.recorder
        compiled: weakref.WeakKeyDictionary[Any, Callable[..., Any]] = weakref.WeakKeyDictionary()

        @functools.wraps(original)
        def process_shard_map(trace: Any, primitive: Any, function: Any, args: Any, **params: Any) -> Any:
            def graphscope_shard_map(*args: Any) -> list[Any]:
                return list(primitive.bind(*args, subfuns=(function,), **params))

            def run() -> Any:
                jaxpr = _jaxpr_of(function)
                if jaxpr is None:
                    return original(trace, primitive, function, args, **params)
                if jaxpr not in compiled:  # JAX would compile each of its primitives in each call
                    compiled[jaxpr] = jax.jit(graphscope_shard_map)
                return compiled[jaxpr](*args)

            return recorder.whole(primitive.name, args, run) if recorder.is_recording else run()

        return process_shard_map

    def _jitted(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What runs a jitted function that is called while nothing is traced."""
        recorder, calls = self.recorder, self.recorder.rows.calls
        has_constants = "const_args" in inspect.signature(pjit._get_fastpath_data).parameters
        rest: tuple[Any, ...] = (None, None, []) if has_constants else (None, None)

        @functools.wraps(original)
        def call(*args: Any, **params: Any) -> Any:
            if calls.are_left_out:
                found = original(*args, **params)
                calls.left_out(params["name"], params["jaxpr"], found[0])
                return found
            if not recorder.is_recording:
                return original(*args, **params)
            with calls.recorded() as call_seen:
                values = recorder.evaluate(JIT, args, params)
            recorder.ended(call_seen, params["name"], params["jaxpr"], values)
            return values, *rest

        return call

    def _unhurried(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What lets a jitted function be called past Python: only such as lie inside of primitives may.

        Where a step is left out, all may but those that train.
        """
        recorder, calls = self.recorder, self.recorder.rows.calls

        @functools.wraps(original)
        def get(*args: Any, **kwargs: Any) -> Any:
            may = not calls.must_be_seen if calls.are_left_out else recorder.is_computing
            return original(*args, **kwargs) if may else None

        return get

    def _differentiated(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recorder = self.recorder

        @functools.wraps(original)
        def vjp(function: Any, *primals: Any, has_aux: bool = False, **others: Any) -> Any:
            if own.only or others or not recorder.is_recording:
                return original(function, *primals, has_aux=has_aux, **others)
            names, is_gradient = names_of_call(function, primals, sys._getframe(1))
            trained = is_gradient and type(core.trace_ctx.trace).__name__ in _OUTERMOST
            call = getattr(function, "call_wrapped", function)
            return differentiate(call, primals, names, has_aux=has_aux, trained=trained)

        return vjp


def _jaxpr_of(function: Any) -> Any:
    """The jaxpr that a function evaluates, where it is JAX's own that does so."""
    held = [each.cell_contents for each in getattr(function, "__closure__", None) or ()]
    return next((each for each in held if isinstance(each, core.Jaxpr)), None)
