"""Variance, standard deviation, and the logarithm of a sum of exponentials."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.dims import several
from graphscope.engine.core.layer_loops import distances
from graphscope.engine.core.moments import centred, lie, moments
from graphscope.engine.core.precision import rounded, widened
from graphscope.engine.ops.elementwise import exp
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import count, mean, reduced_dims, spread, to_reduction

__all__ = ["logsumexp", "std", "var"]


def _to_variance(
    input: Any,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Any:
    """`var(x, False)` means unbiased=False: a boolean is no dim."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if input.dtype.kind in "biuc":
        raise RuntimeError(
            f"std and var take floating numbers, not {input.dtype}; of complex ones, take x.real and x.imag"
        )
    return (input,), {
        "dim": reduced_dims(dim, len(input.shape)),
        "correction": int(unbiased) if correction is None else correction,
        "keepdim": keepdim,
        "_from": input.shape,
    }


def _freedom(shape: tuple[int, ...], dim: Any, correction: float) -> float:
    """By what the sum of squares is divided."""
    return float(max(count(shape, dim) - correction, 0))


def _variance(x: Any, dim: Any, correction: float, keepdim: bool) -> Any:
    """In double where the compiled part takes the array."""
    freedom = _freedom(x.shape, dim, correction)
    out = moments(x, _places(dim, x.ndim))[1] * (count(x.shape, dim) / freedom if freedom else float("inf"))
    return out if keepdim else out.reshape(shapes.reduced(x.shape, dim=dim))


@functools.lru_cache(256)
def _places(dim: Any, rank: int) -> tuple[int, ...]:
    return tuple(sorted(several(dim, rank)))


def _var(x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    return _variance(x, dim, correction, keepdim).astype(x.dtype, copy=False)[()]


def _std(x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    return np.sqrt(_variance(x, dim, correction, keepdim)).astype(x.dtype, copy=False)[()]


def _slope(shape: Any, dim: Any, correction: float) -> float:
    """By what distances from the mean are multiplied."""
    freedom = _freedom(shape, dim, correction)
    return 2.0 / freedom if freedom else float("inf") if count(shape, dim) > 1 else float("nan")


def _var_rule(g: Any, x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    return spread(g, _from, dim, keepdim) * _slope(_from, dim, correction) * (x - mean(x, dim, True))


def _var_rule_on_arrays(g: Any, x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    dims = _places(dim, len(_from))
    factors: Any = np.reshape(widened(g) * _slope(_from, dim, correction), -1)
    along = lie(_from, dims)
    out = None if along is None else distances(x, factors, *along)
    if out is None:
        out = centred(widened(x), dims)[0]
        out *= factors.reshape(shapes.reduced(_from, dim=dim, keepdim=True))
    return rounded(out, x.dtype)


@functools.wraps(_var_rule)
def _of_variance(g: Any, *saved: Any, **attrs: Any) -> Any:
    """The cotangent of the variance of all elements is a scalar, for which `fused` would not take the twin."""
    bare = isinstance(g, np.ndarray | np.generic)
    return (_var_rule_on_arrays if bare else _var_rule)(g, *saved, **attrs)


def _std_rule(g: Any, x: Any, out: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    of_variance = where(out == 0, 0.0, g / (out * 2))
    return _of_variance(of_variance, x, dim=dim, correction=correction, keepdim=keepdim, _from=_from)


_SAMPLES = [((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True, "correction": 0}),
            ((2, 3, 2), {"dim": (0, -1), "unbiased": False})]  # fmt: skip

var = define(
    "var", "Variance over the given dims, or over all; n - correction stands for n.",
    prepare=_to_variance,
    forward=_var, accumulates=True,
    vjp=[_of_variance],
    shape=shapes.reduced,
    samples=_SAMPLES,
)  # fmt: skip

std = define(
    "std", "Standard deviation over the given dims, or over all; n - correction stands for n.",
    prepare=_to_variance,
    forward=_std, accumulates=True,
    vjp=[_std_rule],
    shape=shapes.reduced,
    samples=_SAMPLES,
)  # fmt: skip


def _logsumexp(x: Any, *, dim: Any, keepdim: bool, _from: Any) -> Any:
    if x.dtype.kind == "c":
        raise TypeError("it takes real numbers")
    largest = np.maximum.reduce(x, axis=dim, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), x.dtype.type(0), largest)
    total: Any = np.add.reduce
    out = np.log(total(np.exp(x - largest), axis=dim, keepdims=True)) + largest
    return out if keepdim or not x.ndim else np.squeeze(out, axis=dim)[()]


logsumexp = define(
    "logsumexp", "Logarithm of the sum of exponentials over the given dims, computed without overflow.",
    floating=True,
    prepare=lambda input, dim, keepdim=False: to_reduction(input, dim, keepdim),
    forward=_logsumexp, accumulates=True,
    vjp=[lambda g, x, out, *, dim, keepdim, _from: spread(g, _from, dim, keepdim)
         * exp(x - spread(out, _from, dim, keepdim))],
    shape=shapes.reduced,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": (0, 1), "keepdim": True}), ((), {"dim": 0})],
)  # fmt: skip
