"""How ops are called: the general way, which says what a call does, and the compiled way, which does the same quickly.

The compiled way takes what is common, and hands the rest to the general way before anything was done.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from sys import _getframe
from types import FunctionType
from typing import Any

from graphscope.engine.core import dtypes, modes, shapes, tracing, writes
from graphscope.engine.core.dims import in_our_words
from graphscope.engine.core.formulas import FORMULAS
from graphscope.engine.core.modes import modes as mode
from graphscope.engine.core.node import plan_for
from graphscope.engine.core.op import Op, plain, register
from graphscope.engine.core.slots import apply_several
from graphscope.engine.core.tensor import Tensor, apply, note_view
from graphscope.eventlog import record as recording

_compiled: Any = None
with suppress(ImportError):  # it was not built here: there was no compiler
    _calls = import_module("graphscope.engine.core._calls")
    _calls.prepare(Tensor, modes, mode, writes.moments, tracing.op_row, apply, plan_for, note_view)
    _compiled = _calls


def _one(input: Any) -> Any:
    return (input,), None


def _two(input: Any, other: Any) -> Any:
    return (input, other), None


def _any(*inputs: Any, **attrs: Any) -> Any:
    return inputs, attrs


def _general(op: Op, prepare: Callable[..., Any]) -> Callable[..., Any]:
    """The call of any op: `prepare` reads the arguments; tensors go to `apply`, bare arrays to the forward function."""
    forward = dtypes.in_floating(op.forward) if op.floating else op.forward
    run: Any = apply_several if op.several else apply
    depth = 3 if op.wrapped else 2

    def call(*args: Any, **kwargs: Any) -> Any:
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
        for value in inputs:
            if isinstance(value, Tensor):
                return run(op, inputs, attrs, depth)
        found = forward(*inputs, **(attrs or {}))
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
    few = op.prepare is None and count < 3 and not (op.in_place or op.several or op.residuals)
    call = _general(op, op.prepare or (_any if not few else _one if count == 1 else _two))
    call.__name__ = call.__qualname__ = name
    call.__module__ = _getframe(1).f_globals["__name__"]  # there it is found again by whoever unpickles it
    call.__doc__ = f"{doc}\n\n{op.formula}"
    if _compiled is not None and few:
        wanted = [(True,)] if count == 1 else [(True, True), (True, False), (False, True)]
        plans = tuple([plan_for(op, each) for each in wanted])
        call = functools.update_wrapper(_compiled.Call(call, op, _framed(plain(op), count), plans), call)
    elif _compiled is not None and op.prepare is not None and op.takes_bool and not (op.several or op.in_place):
        call = functools.update_wrapper(_compiled.Call(call, op, _framed(plain(op), 0), op.prepare), call)
    op.call = call
    for method in ((name,) if tensor_method else ()) + tuple(aliases):
        setattr(Tensor, method, call)
    return call


def elementwise(forward: Callable[..., Any], rule: Any, domain: str | None = None) -> dict[str, Any]:
    """What `define` is told of an op that takes each element by itself; its samples are numbers of a domain."""
    mark = () if domain is None else (domain,)
    return {"forward": forward, "vjp": [rule], "shape": shapes.same, "samples": [(*mark, (2, 3)), (*mark, ())]}
