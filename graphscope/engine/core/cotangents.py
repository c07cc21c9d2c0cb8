"""Cotangents on their way: how contributions meet, how broadcasting is undone, how a leaf gets its gradient."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.precision import accumulator
from graphscope.engine.core.tensor import Tensor

NODE, VALUE, ORIGIN, PARTS, OWNED = range(5)
"""Places in an arrival, a plain list: the record or leaf that gradients go to, what has arrived so far (summed), the
row and slot that the first came from, the rows of the contributions when there are several (of a leaf the last one's
row), whether the sum is ours."""

Arrival = list[Any]

_ndarray = np.ndarray


def unbroadcast(gradient: Any, shape: tuple[int, ...]) -> Any:
    """Sum a gradient over the dims along which its input of `shape` was broadcast.

    The other way round, the gradient of a full reduction is a single element, and every element of the input gets it.
    """
    if gradient.shape == shape:
        return gradient
    if gradient.shape == ():
        if isinstance(gradient, Tensor):
            return gradient.expand(shape)
        out = np.empty(shape, gradient.dtype)
        out.fill(gradient)
        return out
    if 0 in shape:  # nothing to add up: what has no elements has none in another shape either
        return gradient.reshape(shape)
    extra = len(gradient.shape) - len(shape)
    axes = tuple(range(extra)) + tuple(
        extra + axis for axis, length in enumerate(shape) if length == 1 and gradient.shape[extra + axis] != 1
    )
    if isinstance(gradient, Tensor):
        return gradient.sum(axes).reshape(shape) if axes else gradient.reshape(shape)
    if not axes:
        return np.reshape(gradient, shape)
    dtype = gradient.dtype
    if dtype.itemsize == 2:
        return np.add.reduce(gradient, axis=axes, dtype=accumulator(dtype)).astype(dtype).reshape(shape)
    return np.add.reduce(gradient, axis=axes).reshape(shape)


def is_complex(gradient: Any) -> bool:
    """Whether a cotangent, or one of several, is of complex numbers."""
    if isinstance(gradient, tuple):
        return any(part is not None and part.dtype.kind == "c" for part in gradient)
    return bool(gradient.dtype.kind == "c")


def conjugated(gradient: Any) -> Any:
    """The conjugate of a cotangent, or of each of several; of real numbers what they are."""
    if isinstance(gradient, tuple):
        return tuple(conjugated(part) for part in gradient)
    return gradient if gradient is None or gradient.dtype.kind != "c" else gradient.conj()


def add_up(arrival: Arrival, value: Any) -> None:
    """Add a contribution to what has arrived."""
    total = arrival[VALUE]
    if arrival[OWNED] and total.__class__ is _ndarray:
        np.add(total, value, out=total)
    else:
        # The first to arrive may be shared with other nodes, so the second makes a sum of our own.
        arrival[VALUE] = total = total + value
        arrival[OWNED] = total.__class__ is _ndarray


def settle(arrival: Arrival, accumulate: bool, create_graph: bool) -> None:
    """Give a leaf its gradient, once all of it has arrived."""
    leaf: Tensor = arrival[NODE]
    last = arrival[ORIGIN] if arrival[PARTS] is None else arrival[PARTS]
    hooks = leaf.hooks
    if hooks is not None:
        arrival[VALUE] = call_hooks(hooks, arrival[VALUE], create_graph)
        arrival[ORIGIN] = -1
    if not accumulate:
        return
    value = arrival[VALUE]
    if leaf.gradient is None and isinstance(value, Tensor):
        leaf.gradient = value
    elif leaf.gradient is None:
        leaf.gradient = Tensor(value)
        leaf.gradient.row = arrival[ORIGIN]
        leaf.gradient.first_row = last  # a write into the gradient is one into what arrived last
    elif create_graph:
        leaf.gradient = leaf.gradient + value
    else:
        if leaf.gradient.array.__class__ is _ndarray:
            np.add(leaf.gradient.array, value, out=leaf.gradient.array)
        else:
            leaf.gradient.array = leaf.gradient.array + value
        leaf.gradient.first_row = leaf.gradient.identity  # it stays what it is
        leaf.gradient.row = -1  # a sum that no row holds: the log is told at its next use
    if hooks is not None and leaf.hooks_behind:
        given = value if isinstance(value, Tensor) else Tensor(value)
        for hook in list(leaf.hooks_behind.values()):
            with modes.grad_mode(create_graph):
                hook(leaf, given)


def call_hooks(hooks: dict[int, Any], gradient: Any, tensors: bool) -> Any:
    """Let hooks see a gradient, and put another in its place."""
    for hook in list(hooks.values()):
        given = gradient if isinstance(gradient, Tensor) else Tensor(gradient)
        with modes.grad_mode(tensors):
            answer = hook(given)
        if answer is not None:
            if answer.array.shape != given.array.shape:
                raise RuntimeError(
                    f"a hook returned a gradient of shape {answer.array.shape} for one of shape {given.array.shape}"
                )
            if answer.array.dtype != given.array.dtype:
                answer = answer.to(given.array.dtype)
            gradient = answer if tensors else answer.array
    return gradient


def retain(reference: weakref.ref[Tensor], gradient: Any) -> None:
    """Keep the gradient of a tensor that is no leaf, as it asked."""
    tensor = reference()
    if tensor is None:
        return
    value = gradient if isinstance(gradient, Tensor) else Tensor(np.array(gradient)[()])
    tensor.gradient = value if tensor.gradient is None else tensor.gradient + value
