"""Variance, standard deviation and what else describes a set of numbers by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.ops.elementwise import exp
from graphscope.engine.ops.index import where
from graphscope.engine.ops.reduce import count, mean, nansum, reduced_dims, spread, sum, to_reduction

__all__ = ["corrcoef", "cov", "logsumexp", "nanmean", "std", "var"]


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


def _var(x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    if dim is None and x.ndim and x.flags.c_contiguous:
        x = x.reshape(-1)
        distance = x - np.add.reduce(x) / x.dtype.type(x.size)
        out = distance.dot(distance) / x.dtype.type(_freedom(_from, None, correction))
        return out.reshape((1,) * len(_from)) if keepdim else out
    places = tuple(range(x.ndim)) if dim is None else dim
    total: Any = np.add.reduce
    distance = x - total(x, axis=places, keepdims=True) / x.dtype.type(count(_from, dim))
    out = total(distance * distance, axis=places, keepdims=keepdim)
    return np.true_divide(out, _freedom(_from, dim, correction)).astype(x.dtype, copy=False)


def _std(x: Any, **attrs: Any) -> Any:
    return np.sqrt(_var(x, **attrs))


def _var_rule(g: Any, x: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    freedom = _freedom(_from, dim, correction)
    scale = 2.0 / freedom if freedom else float("inf") if count(_from, dim) > 1 else float("nan")
    return spread(g, _from, dim, keepdim) * scale * (x - mean(x, dim, True))


def _std_rule(g: Any, x: Any, out: Any, *, dim: Any, correction: float, keepdim: bool, _from: Any) -> Any:
    of_variance = where(out == 0, 0.0, g / (out * 2))
    return _var_rule(of_variance, x, dim=dim, correction=correction, keepdim=keepdim, _from=_from)


_SAMPLES = [((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": 0, "keepdim": True, "correction": 0}),
            ((2, 3, 2), {"dim": (0, -1), "unbiased": False})]  # fmt: skip

var = define(
    "var", "Variance over the given dims, or over all; n - correction stands for n.",
    formula="out = Σ (x - mean x)² / (n - correction)",
    prepare=_to_variance,
    forward=_var, accumulates=True,
    vjp=[_var_rule],
    shape=shapes.reduced,
    samples=_SAMPLES,
)  # fmt: skip

std = define(
    "std", "Standard deviation over the given dims, or over all; n - correction stands for n.",
    formula="out = √(Σ (x - mean x)² / (n - correction))",
    prepare=_to_variance,
    forward=_std, accumulates=True,
    vjp=[_std_rule],
    shape=shapes.reduced,
    samples=_SAMPLES,
)  # fmt: skip


@composite(
    "Mean over the given dims, or over all, that leaves NaN out.", formula="out = Σ x / n where x = x",
    tensor_method=True, shape=shapes.reduced,
    samples=[((2, 3), {}), ((2, 3), {"dim": 1}), ((2, 3), {"dim": (0, 1), "keepdim": True})],
)  # fmt: skip
def nanmean(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Mean over the given dims, or over all, of the elements that are not NaN."""
    return nansum(input, dim, keepdim, dtype=dtype) / sum(input == input, dim, keepdim)


def _scattered(x: Any, **_: Any) -> Any:
    return (x[0], x[0]) if len(x) > 1 and x[0] != 1 else ()


@composite(
    "Covariance of the rows of a matrix.", formula="out = (x - mean x) · (x - mean x)ᵀ / (n - correction)",
    tensor_method=True, shape=_scattered, samples=[((3, 4), {}), ((5,), {}), ((2, 4), {"correction": 0})],
)  # fmt: skip
def cov(input: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """Covariance of variables, which are rows, of observations, which are columns.

    Args:
        input: A matrix, or a vector: one variable.
        correction: What is taken off the number of observations.
        fweights: How often each observation counts: integers.
        aweights: How much each observation weighs.

    Raises:
        RuntimeError: The tensor has more than two dims.
    """
    if input.dtype.kind == "c":
        raise RuntimeError("cov: complex numbers are not offered here")
    if len(input.shape) > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got {len(input.shape)}")
    if input.dtype.kind in "biu":
        input = input.to(dtypes.get_default_dtype())
    rows = input if len(input.shape) == 2 else input.reshape(1, -1)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    number = rows.shape[1] if weights is None else weights.sum()
    middle = mean(rows, 1, True) if weights is None else sum(rows * weights, 1, True) / number
    if aweights is not None:
        freedom = number - correction * (weights * aweights).sum() / number
    else:
        freedom = number - correction
    distance = rows - middle
    freedom = max(freedom, 0) if isinstance(freedom, int) else freedom
    out = (distance if weights is None else distance * weights) @ distance.mT / freedom
    return out.reshape(()) if len(rows) == 1 else out


@composite(
    "Correlation of the rows of a matrix.", formula="out = cov x / (std x · std xᵀ)",
    tensor_method=True, shape=_scattered, samples=[((3, 4),), ((2, 5),)],
)  # fmt: skip
def corrcoef(input: Any) -> Any:
    """Pearson's correlation of variables, which are rows, of observations, which are columns."""
    covariance = cov(input)
    if not covariance.shape:
        return covariance / covariance
    deviation = covariance.diagonal().sqrt()
    return (covariance / deviation[:, None] / deviation[None]).clamp(-1, 1)


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
    formula="out = ln Σ e^x", floating=True,
    prepare=lambda input, dim, keepdim=False: to_reduction(input, dim, keepdim),
    forward=_logsumexp, accumulates=True,
    vjp=[lambda g, x, out, *, dim, keepdim, _from: spread(g, _from, dim, keepdim)
         * exp(x - spread(out, _from, dim, keepdim))],
    shape=shapes.reduced,
    samples=[((2, 3), {"dim": 1}), ((2, 3), {"dim": (0, 1), "keepdim": True}), ((), {"dim": 0})],
)  # fmt: skip
