"""Ops made of other ops: one call for people, a scope in the log that can be stepped into, no rule of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from graphscope.engine.core.dims import in_our_words
from graphscope.engine.core.module_scopes import scope
from graphscope.engine.core.op import register
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording

Function = TypeVar("Function", bound=Callable[..., Any])


def composite(
    doc: str,
    *,
    samples: Sequence[Any],
    shape: Callable[..., Any] | None = None,
    tensor_method: bool = False,
    aliases: Sequence[str] = (),
    **definition: Any,
) -> Callable[[Function], Function]:
    """Define an op by a function of tensors; its gradients are those of the ops that it calls.

    Args:
        doc: What it computes, in one sentence; the function's own docstring tells shapes, errors and source.
        samples: Inputs for the tests of OPS, as for `calls.define`.
        shape: Its shape rule.
        tensor_method: Whether tensors have it as a method.
        aliases: Other names of the method.
        **definition: What else `op.register` takes, such as its formula, or PyTorch's name of it, `torch`.
    """

    def decorate(function: Function) -> Function:
        name = function.__name__

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if "axis" in kwargs or "keepdims" in kwargs:
                kwargs = in_our_words(kwargs)
            if recording.writer is None:
                return function(*args, **kwargs)
            with scope(name, "op"):
                return function(*args, **kwargs)

        described = {"samples": samples, "shape": shape, **definition}
        op = register(name, doc, forward=function, vjp=[], composite=True, **described)
        op.call = call
        for method in ((name,) if tensor_method else ()) + tuple(aliases):
            setattr(Tensor, method, call)
        return call  # type: ignore[return-value]

    return decorate
