"""In-place ops: they write into their first input, which becomes a new version of the same tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, loops, shapes
from graphscope.engine.core.indexing import in_two_steps, is_basic, plain
from graphscope.engine.core.op import OPS, Rule, register
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writing import write
from graphscope.engine.ops.arithmetic import factor
from graphscope.engine.ops.index import getitem, marked, tensors_of, where

__all__ = [
    "add_",
]


def define_in_place(
    name: str,
    doc: str,
    forward: Callable[..., Any],
    vjp: list[Rule | None],
    *aliases: str,
    samples: Sequence[Any],
    **formula: Any,
) -> Any:
    """Define an op that writes into its first input, and make it a method of tensors under its name and aliases."""
    op = register(name, doc, forward=forward, vjp=vjp, in_place=True, samples=samples, shape=shapes.same, **formula)

    def call(input: Tensor, *others: Any, **attrs: Any) -> Tensor:
        return write(op, input, tuple(map(dtypes.operand, others)), attrs or None)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{doc}\n\n{op.formula}"
    op.call = call
    for method in (name, *aliases):
        setattr(Tensor, method, call)
    return call


def _add(x: Any, y: Any, *, alpha: float = 1, out: Any = None) -> Any:
    if x.dtype.kind in "iu":
        y = _fitted(y, x.dtype)
    if alpha == 1:
        return np.add(x, y, out=out)
    alpha = factor(alpha, x.dtype)
    is_beside = out is not None and y.__class__ is np.ndarray and y.shape == out.shape and loops.fits(out, y)
    if is_beside and loops.add_scaled(out, y, alpha):
        return out
    return np.add(x, y * alpha, out=out)


def _fitted(y: Any, dtype: np.dtype) -> Any:
    """What an array is added to or multiplied by in place: of integers those of its own dtype."""
    own = getattr(y, "dtype", dtype)
    if own is dtype:
        return dtypes.number(y, dtype)
    return y.astype(dtype) if dtype.kind in "iu" and own.kind in "iu" else y


def _sub(x: Any, y: Any, *, alpha: float = 1, out: Any = None) -> Any:
    if "b" in (x.dtype.kind, getattr(y, "dtype", x.dtype).kind) or y.__class__ is bool:
        raise TypeError("booleans are no numbers here; convert them with x.int(), or use ^, logical_not")
    return np.subtract(x, _fitted(y, x.dtype), out=out) if alpha == 1 else _add(x, y, alpha=-alpha, out=out)


def _multiply(x: Any, y: Any, *, out: Any = None) -> Any:
    return np.multiply(x, _fitted(y, x.dtype), out=out)


def zeros_of(g: Any) -> Any:
    """Zeros: what was written over has no part in what came of it, not even where the gradient is NaN."""
    data = g.array if isinstance(g, Tensor) else g
    zeros = np.zeros(data.shape, data.dtype) if data.ndim else data.dtype.type(0)
    return Tensor(zeros) if isinstance(g, Tensor) else zeros


def _zero(x: Any, *, out: Any = None) -> Any:
    return _fill(x, 0, out=out)


def _fill(x: Any, y: Any, *, out: Any = None) -> Any:
    y = dtypes.element(y, x.dtype)
    if out is None:
        return x.dtype.type(y)
    out.fill(y)
    return out


def _copy(x: Any, y: Any, *, out: Any = None) -> Any:
    if out is None:
        return y
    if np.ndim(y) > out.ndim:  # NumPy would pass over leading dims of size 1
        raise ValueError(f"what is copied has {np.ndim(y)} dims, where it goes {out.ndim}")
    np.copyto(out, y, casting="unsafe")
    return out


def _set(x: Any, y: Any, *_: Any, index: Any, out: Any = None) -> Any:
    written = np.array(x) if out is None else out
    written[index] = dtypes.wide_element(y, written.dtype)
    return written[()] if out is None else out


add_ = define_in_place(
    "add_", "Add in place; `alpha` scales what is added.",
    _add, [lambda g: g, lambda g, *, alpha: g if alpha == 1 else g * alpha], "__iadd__",
    formula="x ← x + alpha · y",
    samples=[((2, 3), (3,)), ((2, 3), (2, 3), {"alpha": 0.5}), ((), ())],
)  # fmt: skip

sub_ = define_in_place(
    "sub_", "Subtract in place; `alpha` scales what is subtracted.",
    _sub, [lambda g: g, lambda g, *, alpha: g * -alpha], "__isub__",
    formula="x ← x - alpha · y",
    samples=[((2, 3), (3,)), ((2, 3), (2, 3), {"alpha": 0.5}), ((), ())],
)  # fmt: skip

mul_ = define_in_place(
    "mul_", "Multiply in place.",
    _multiply, [lambda g, y: g * y, lambda g, x: g * x], "__imul__",
    formula="x ← x · y",
    samples=[((2, 3), (3,)), ((2, 3), (2, 3)), ((), ())],
)  # fmt: skip

div_ = define_in_place(
    "div_", "Divide in place.",
    np.true_divide, [lambda g, y: g / y, lambda g, x, y: -g * x / (y * y)], "__itruediv__",
    formula="x ← x / y",
    samples=[("positive", (2, 3), (3,)), ("positive", (2, 3), (2, 3))],
)  # fmt: skip

zero_ = define_in_place(
    "zero_", "Set every element to 0.",
    _zero, [lambda g: zeros_of(g)],  # noqa: PLW0108 - the log shows this text as the rule
    samples=[((2, 3),), ((),)],
)  # fmt: skip

define_in_place(
    "fill_", "Set every element to a number.",
    _fill, [lambda g: zeros_of(g), None],  # noqa: PLW0108
    samples=[((2, 3), 0.5), ((), 2.0)],
)  # fmt: skip


def fill_(input: Tensor, value: Any) -> Tensor:
    """Set every element to a number."""
    return write(OPS["fill_"], input, (dtypes.operand(value),))


setattr(Tensor, "fill_", fill_)  # noqa: B010

copy_ = define_in_place(
    "copy_", "Copy the elements of another tensor.",
    _copy, [lambda g: zeros_of(g), lambda g: g],  # noqa: PLW0108
    samples=[((2, 3), (2, 3)), ((2, 3), (3,)), ((), ())],
)  # fmt: skip

setitem = define_in_place(
    "setitem", "Set the elements at an index.",
    _set, [lambda g, *, index: where(marked(g.shape, index), 0.0, g), lambda g, *, index: getitem(g, index)],
    formula="x[index] ← y",
    samples=[((3, 4), (2,), {"index": (slice(0, 2), 1)}), ((3, 4), 0.5, {"index": 1}),
             ((5,), (2,), {"index": np.array([0, 3])})],
)  # fmt: skip


def _setitem(self: Tensor, key: Any, value: Any) -> None:
    index = plain(key)
    steps = in_two_steps(index)
    if steps is not None:
        self, index = getitem(self, steps[0]), steps[1]
    if isinstance(value, Tensor) and value.array.ndim and value.array.shape[0] == 1 and is_basic(index):
        rank = np.ndim(self.array[index])
        while value.array.ndim > rank and value.array.shape[0] == 1:  # as PyTorch has it: they are no part of the value
            value = getitem(value, 0)
    setitem(self, value, *tensors_of(key), index=index)


setattr(Tensor, "__setitem__", _setitem)  # noqa: B010
