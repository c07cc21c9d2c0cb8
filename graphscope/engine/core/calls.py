"""How ops are called: the hot path of every program, written out for one and for two inputs, and general for the rest.

A straight line costs half of what the general way costs, and is what makes recording cheap enough to leave on. All
three do what `tensor.apply` says: compute, tell the log, remember the way back.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from sys import _getframe
from types import FunctionType
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, modes, tracing, writes
from graphscope.engine.core.dims import in_our_words
from graphscope.engine.core.formulas import FORMULAS
from graphscope.engine.core.modes import modes as mode
from graphscope.engine.core.node import plan_for
from graphscope.engine.core.op import Op, plain, register
from graphscope.engine.core.op_errors import explain_failure
from graphscope.engine.core.slots import apply_several
from graphscope.engine.core.tensor import FAILURES, Tensor, apply, note_view
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace

_ndarray = np.ndarray
_new = object.__new__
_next_moment = writes.moments.__next__
_FLOATING: Final = frozenset({np.float16, np.float32, np.float64})

_compiled: Any = None
with suppress(ImportError):  # it was not built here: there was no compiler
    _calls = import_module("graphscope.engine.core._calls")
    _calls.prepare(Tensor, modes, mode, writes.moments, tracing.op_row, apply, plan_for, note_view)
    _compiled = _calls


def _binary(op: Op) -> Callable[..., Any]:
    """The call of an op of two inputs and no attributes: `apply`, with everything that it does in a straight line."""
    forward = op.forward
    careful = dtypes.in_floating(forward) if op.floating else forward
    both, left, right = (plan_for(op, wanting) for wanting in ((True, True), (True, False), (False, True)))
    left_saves_other, left_saves_none = left.saves_other, left.freed is None
    left_single, right_single = left.alone, right.alone
    differentiable = bool(both.rules)
    core_dims = op.core_dims
    key = op.key

    def call(input: Any, other: Any) -> Any:
        x, y = input, other
        if x.__class__ is not Tensor and not isinstance(x, Tensor):
            if not isinstance(y, Tensor):
                return careful(x, y)
            return apply(op, (dtypes.operand(x), y))
        a = x.array
        constant: Any = None
        shapes = False
        if (y.__class__ is float or y.__class__ is int) and (
            a.__class__ in _FLOATING or (a.__class__ is _ndarray and a.dtype.kind == "f")
        ):
            b: Any = y
            constant = y
        elif y.__class__ is Tensor:
            b = y.array
            if a.__class__ is _ndarray and a.__class__ is b.__class__ and a.dtype is b.dtype:
                if (a.ndim > core_dims or b.ndim > core_dims) and a.shape != b.shape:
                    shapes = True
            elif a.__class__ is not b.__class__ or a.__class__ is _ndarray:
                return apply(op, (x, y))
        else:
            return apply(op, (x, dtypes.operand(y)))
        writer = recording.writer
        if writer is not None:
            frame = _getframe(1)
            if x.row < writer.low:
                tracing.input_row(writer, x, frame, 0)
            if constant is None and y.row < writer.low:
                tracing.input_row(writer, y, frame, 1)
            gate = writer.gate
            if gate is not None:
                if gate.wants_before:
                    tracing.ahead(writer, op, [x] if constant is not None else [x, y], frame)
                a = x.array
                b = constant if constant is not None else y.array
            start = writer.clock()
        try:
            result = careful(a, b)
        except (ValueError, TypeError) as error:
            given = [value for value in (x, y) if isinstance(value, Tensor)]
            explained = explain_failure(op, (a, b), None, error)
            raise tracing.failed(writer, _getframe(1), op, given, explained) from None
        out = _new(Tensor)
        out.node = None
        out.wants_grad = False
        if writer is None:
            site = None
            out.row = row = -1
        else:
            try:
                context = mode.context
            except AttributeError:
                context = modes.here().context
            if constant is None:
                known = writer.op(frame, key, result, None, context, start, context.backward_row, x.row, y.row)
                site, row = known or tracing.op_row(writer, frame, op, result, None, start, x.row, y.row)
            else:
                known = writer.op(frame, key, result, constant, context, start, context.backward_row, x.row)
                site, row = known or tracing.op_row(writer, frame, op, result, constant, start, x.row)
            out.row = row
            if gate is not None:
                answer = tracing.pause(writer, row, result, frame)
                if answer.__class__ is Replace:
                    result = answer.value
        out.array = result
        if not differentiable:
            return out
        target: Any = x.node
        if target is None and x.wants_grad:
            target = x
        other_target: Any = None
        if constant is None:
            other_target = y.node
            if other_target is None and y.wants_grad:
                other_target = y
        if other_target is None:
            if target is None or (modes.disabled and not modes.here().grad_enabled):
                return out
            saved = b if left_saves_other else None if left_saves_none else left.save(result, a, b)
            shape = (a.shape,) if shapes else None
            goal = target if left_single else (target,)
            out.node = [left, goal, saved, _next_moment(), shape, None, row, site, None, None]
        elif modes.disabled and not modes.here().grad_enabled:
            return out
        elif target is None:
            shape = (b.shape,) if shapes else None
            saved = right.save(result, a, b)
            goal = other_target if right_single else (other_target,)
            out.node = [right, goal, saved, _next_moment(), shape, None, row, site, None, None]
        else:
            pair = (a.shape, b.shape) if shapes else None
            saved = both.save(result, a, b)
            out.node = [both, (target, other_target), saved, _next_moment(), pair, None, row, site, None, None]
        return out

    return call


def _unary(op: Op) -> Callable[..., Any]:
    """The call of an op of one input and no attributes, in a straight line."""
    depth = 2 if op.wrapped else 1
    forward = op.forward
    careful = dtypes.in_floating(forward) if op.floating else forward  # what requires grad is floating already
    plan = plan_for(op, (True,))
    key = op.key
    saves_out, saves_x = plan.saves_out, plan.saves_x
    differentiable = bool(plan.rules)
    single = plan.alone
    view, reduces = op.view, op.reduces

    def call(input: Any) -> Any:
        x = input
        if x.__class__ is not Tensor and not isinstance(x, Tensor):
            return careful(x)
        a = x.array
        target: Any = x.node
        if target is None and x.wants_grad:
            target = x
        writer = recording.writer
        if writer is not None:
            frame = _getframe(depth)
            if x.row < writer.low:
                tracing.input_row(writer, x, frame, 0)
            gate = writer.gate
            if gate is not None:
                if gate.wants_before:
                    tracing.ahead(writer, op, [x], frame)
                a = x.array
            start = writer.clock()
        if view:
            a = x.shared()
        try:
            result = careful(a) if target is None else forward(a)
        except (ValueError, TypeError) as error:
            raise tracing.failed(writer, _getframe(1), op, [x], explain_failure(op, (a,), None, error)) from None
        out = _new(Tensor)
        out.node = None
        out.wants_grad = False
        if view:
            base = out.base = x if x.base is None else x.base
            base.note_view(out)
            if modes.disabled and not modes.here().grad_enabled:
                out.made_without_grad = True
        if writer is None:
            site = None
            out.row = row = -1
        else:
            try:
                context = mode.context
            except AttributeError:
                context = modes.here().context
            known = writer.op(frame, key, result, None, context, start, context.backward_row, x.row)
            site, row = known or tracing.op_row(writer, frame, op, result, None, start, x.row)
            out.row = row
            if gate is not None:
                answer = tracing.pause(writer, row, result, frame)
                if answer.__class__ is Replace:
                    result = answer.value
        out.array = result
        if target is None or not differentiable or (modes.disabled and not modes.here().grad_enabled):
            return out
        saved = result if saves_out else a if saves_x else plan.save(result, a)
        shape = (a.shape,) if reduces else None
        target = target if single else (target,)
        out.node = [plan, target, saved, _next_moment(), shape, None, row, site, None, None]
        return out

    return call


def _general(op: Op) -> Callable[..., Any]:
    """The call of any other op: `prepare` reads the arguments, `apply` runs it; with one input, in a straight line."""
    prepare = op.prepare
    forward = op.forward
    run = apply_several if op.several else apply
    # What is recorded, gives residuals, has several outputs or refuses booleans takes the general way.
    straight = prepare is not None and op.takes_bool and not (op.several or op.residuals or op.in_place)
    plan = plan_for(op, (True,))
    differentiable = bool(plan.rules)
    single = plan.alone
    view = op.view

    def call(*args: Any, **kwargs: Any) -> Any:
        if prepare is not None:
            try:
                inputs, attrs = prepare(*args, **kwargs)
            except Exception as error:
                words = in_our_words(kwargs)
                if isinstance(error, TypeError) and words.keys() != kwargs.keys():
                    inputs, attrs = prepare(*args, **words)
                else:
                    writer = recording.writer
                    if writer is not None:
                        known = [value for value in args if isinstance(value, Tensor) and value.row >= writer.base]
                        tracing.failed(writer, _getframe(1), op, known, error)
                    raise
        else:
            inputs, attrs = args, kwargs
        if straight and len(inputs) == 1 and recording.writer is None:
            x = inputs[0]
            if not isinstance(x, Tensor):
                return forward(x, **attrs)
            a = x.array
            if view:
                a = x.shared()
            try:
                result = forward(a, **attrs)
            except FAILURES as error:
                raise explain_failure(op, [a], attrs, error) from None
            out = _new(Tensor)
            out.node = None
            out.wants_grad = False
            out.row = -1
            out.array = result
            if view:
                note_view(out, x, result, a)
            target: Any = x.node
            if target is None:
                if not x.wants_grad:
                    return out
                target = x
            if (
                not differentiable
                or (modes.disabled and not modes.here().grad_enabled)
                or result.dtype.kind not in "fc"
            ):
                return out
            saved = plan.save(result, a)
            out.node = [
                plan, target if single else (target,), saved, _next_moment(), (a.shape,), attrs, -1, None, None, None
            ]  # fmt: skip
            return out
        for value in inputs:
            if isinstance(value, Tensor):
                return run(op, inputs, attrs)
        found = forward(*inputs, **attrs)
        if op.residuals:
            found = found[0]
        return op.result(found) if op.several else found

    return call


def _framed(forward: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A forward function that runs in a frame of ours, by which NumPy's warnings are known not to be the program's."""
    if isinstance(forward, FunctionType) or forward in FORMULAS.values():
        return forward

    def of_one(x: Any) -> Any:
        return forward(x)

    def of_two(x: Any, y: Any) -> Any:
        return forward(x, y)

    def of_any(*inputs: Any, **attrs: Any) -> Any:
        return forward(*inputs, **attrs)

    if count == 1:
        return of_one
    return of_two if count == 2 else of_any


def define(name: str, doc: str, *, tensor_method: bool = True, aliases: Sequence[str] = (), **definition: Any) -> Any:
    """Define an op: register it, and return the function that people call.

    Args:
        name: The op's name, and that of the function.
        doc: What it computes, in one sentence.
        tensor_method: Whether tensors have it as a method.
        aliases: Other names of the method, such as `__add__`.
        **definition: formula, forward, vjp, shape, samples, and what else `op.register` takes.
    """
    op = register(name, doc, **definition)
    count = len(op.vjps)
    make = _general
    if op.prepare is None and not (op.in_place or op.several or op.residuals):
        make = {1: _unary, 2: _binary}.get(count, _general)
    call = make(op)
    call.__name__ = call.__qualname__ = name
    call.__module__ = _getframe(1).f_globals["__name__"]  # there it is found again by whoever unpickles it
    call.__doc__ = f"{doc}\n\n{op.formula}"
    if _compiled is not None and make is not _general:
        wanted = [(True,)] if count == 1 else [(True, True), (True, False), (False, True)]
        plans = tuple([plan_for(op, each) for each in wanted])
        call = functools.update_wrapper(_compiled.Call(call, op, _framed(plain(op), count), plans), call)
    elif _compiled is not None and op.prepare is not None and op.takes_bool and not (op.several or op.in_place):
        call = functools.update_wrapper(_compiled.Call(call, op, _framed(plain(op), 0), op.prepare), call)
    op.call = call
    for method in ((name,) if tensor_method else ()) + tuple(aliases):
        setattr(Tensor, method, call)
    return call
