"""Softmax and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.fused import fused
from graphscope.engine.core.generator import generator
from graphscope.engine.core.sums import sums
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.exponential import exp
from graphscope.engine.ops.reduce import sum

__all__ = ["log_softmax", "softmax"]

_CHUNK: Final = 1 << 15
"""Elements of whole rows that are worked on at a time, within the cache."""


def _by_rows(kernel: Callable[..., None], dim: int, *arrays: Any) -> Any:
    """Run a kernel over arrays of one shape, some whole rows (along `dim`) at a time; it writes its first argument."""
    first = arrays[0]
    if not first.ndim:
        return _by_rows(kernel, -1, *(array.reshape(1) for array in arrays))[0]
    out = np.empty(first.shape, first.dtype)
    if first.size <= _CHUNK or dim not in (-1, first.ndim - 1):
        kernel(out, *arrays, dim)
        return out
    length = first.shape[-1]
    lines = [np.ascontiguousarray(array).reshape(-1, length) for array in arrays]
    target = out.reshape(-1, length)
    step = max(_CHUNK // length, 1)
    for start in range(0, len(target), step):
        kernel(target[start : start + step], *(line[start : start + step] for line in lines), -1)
    return out


def _softmax_kernel(out: Any, x: Any, dim: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf), out=out)
    np.exp(out, out=out)
    out /= sums(out, (dim % out.ndim,))


def _softmax_gradient(out: Any, g: Any, y: Any, dim: int) -> None:
    np.multiply(g, y, out=out)
    total = sums(out, (dim % out.ndim,))
    np.subtract(g, total, out=out)
    out *= y


def _log_softmax_kernel(out: Any, x: Any, dim: int) -> None:
    np.subtract(x, np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf), out=out)
    out -= np.log(sums(np.exp(out), (dim % out.ndim,)))


def _log_softmax_gradient(out: Any, g: Any, y: Any, dim: int) -> None:
    np.exp(y, out=out)
    out *= sums(g, (dim % g.ndim,))
    np.subtract(g, out, out=out)


def _forward(kernel: Callable[..., None]) -> Callable[..., Any]:
    def forward(x: Any, *, dim: int) -> Any:
        if x.dtype.kind != "f":
            raise TypeError(f"not implemented for {x.dtype}: convert it first, with x.float()")
        if x.ndim:
            return _by_rows(kernel, dim, x)
        if dim not in (0, -1):
            raise IndexError(f"dim {dim} is out of range for a tensor of no dims")
        return _by_rows(kernel, -1, x.reshape(1))[0]

    return forward


def _to_softmax(input: Any, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Any:
    if dtype is not None:
        input = input.to(dtype) if isinstance(input, Tensor) else input.astype(dtype)
    if dim is None:  # as PyTorch chooses for those who do not say
        dim = 0 if len(input.shape) in (0, 1, 3) else 1
    return (input,), {"dim": dim}


def _rule(kernel: Callable[..., None]) -> Callable[..., Any]:
    return lambda g, out, *, dim: _by_rows(kernel, dim, g, out)


def _dim(g: Any, dim: int) -> Any:
    return dim if g.shape else ()


softmax = define(
    "softmax", "Exponentials, scaled so that they sum to 1 along a dim.",
    prepare=_to_softmax,
    forward=in_one_pass("softmax", _forward(_softmax_kernel)), accumulates=True,
    vjp=[fused(lambda g, out, *, dim: out * (g - sum(g * out, _dim(g, dim), True)),
               in_one_pass("softmax_rule", _rule(_softmax_gradient)))],
    shape=shapes.same,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0}), ((2, 3, 2), {"dim": -2}), ((), {"dim": 0})],
)  # fmt: skip

log_softmax = define(
    "log_softmax", "Logarithm of softmax, computed without overflow.",
    prepare=_to_softmax,
    forward=in_one_pass("log_softmax", _forward(_log_softmax_kernel)), accumulates=True,
    vjp=[fused(lambda g, out, *, dim: g - exp(out) * sum(g, _dim(g, dim), True),
               in_one_pass("log_softmax_rule", _rule(_log_softmax_gradient)))],
    shape=shapes.same,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": 0}), ((2, 3, 2), {"dim": -2}), ((), {"dim": 0})],
)  # fmt: skip


def softmin(input: Any, dim: int | None = None, dtype: Any = None, _stacklevel: int = 3) -> Any:
    """Softmax of what is negated: the smallest element gets the largest share."""
    return softmax(-input, dim, dtype)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A random sample of softmax that gradients flow through.

    Args:
        logits: Unnormalised log-probabilities.
        tau: Temperature.
        hard: Whether the sample is one-hot; its gradient is that of the soft one.
        eps: Has no effect, as in PyTorch.
        dim: The dim that the probabilities are along.

    Source: Jang, Gu, Poole: Categorical Reparameterization with Gumbel-Softmax, 2017.
    """
    noise = -np.log(generator().standard_exponential(logits.shape))
    soft = softmax((logits + Tensor(np.asarray(noise, logits.dtype)[()])) / tau, dim)
    if not hard:
        return soft
    chosen = np.argmax(soft.array, dim, keepdims=True)
    one_hot = np.zeros(soft.shape, soft.dtype)
    np.put_along_axis(one_hot, chosen, 1, dim)
    return Tensor(one_hot) - soft.detach() + soft
