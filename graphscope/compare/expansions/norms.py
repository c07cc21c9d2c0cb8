"""Normalisation, from the mean to the bias."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.compare.expansions.part import Array, Part, Parts, weighted


def layer_norm(
    input: Array,
    normalized_shape: Sequence[int],
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Parts:
    """`(x - mean) / sqrt(variance + eps) * weight + bias`, over the last axes."""
    axes = tuple(range(-len(normalized_shape), 0))
    normalised = yield from _standardised(input, axes, eps)
    yield from weighted(normalised, weight, bias)


def rms_norm(
    input: Array, normalized_shape: Sequence[int], weight: Array | None = None, eps: float | None = None
) -> Parts:
    """`x / sqrt(mean of squares + eps) * weight`, over the last axes."""
    axes = tuple(range(-len(normalized_shape), 0))
    eps = float(np.finfo(input.dtype).eps) if eps is None else eps
    square = np.square(input).mean(axes, keepdims=True)
    yield Part("mean of squares", square)
    normalised = yield from _divided(input, square, eps)
    yield from weighted(normalised, weight, None)


def batch_norm(
    input: Array,
    running_mean: Array | None,
    running_var: Array | None,
    weight: Array | None = None,
    bias: Array | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *_: Any,
) -> Parts:
    """`(x - mean) / sqrt(variance + eps) * weight + bias`, of each channel."""
    axes = (0, *range(2, input.ndim))
    given = None
    if not training and running_mean is not None and running_var is not None:
        given = (_channels(running_mean, input), _channels(running_var, input))
    normalised = yield from _standardised(input, axes, eps, given)
    yield from weighted(normalised, _channels(weight, input), _channels(bias, input))


def instance_norm(
    input: Array,
    running_mean: Array | None = None,
    running_var: Array | None = None,
    weight: Array | None = None,
    bias: Array | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Parts:
    """The same, of each channel of each sample."""
    given = None
    if not use_input_stats and running_mean is not None and running_var is not None:
        given = (_channels(running_mean, input), _channels(running_var, input))
    normalised = yield from _standardised(input, tuple(range(2, input.ndim)), eps, given)
    yield from weighted(normalised, _channels(weight, input), _channels(bias, input))


def group_norm(
    input: Array,
    num_groups: int,
    weight: Array | None = None,
    bias: Array | None = None,
    eps: float = 1e-5,
    *_: Any,
) -> Parts:
    """The same, of groups of channels of each sample."""
    grouped = input.reshape(input.shape[0], num_groups, -1)
    normalised = yield from _standardised(grouped, (-1,), eps)
    normalised = normalised.reshape(input.shape)
    yield Part("normalised", normalised)
    yield from weighted(normalised, _channels(weight, input), _channels(bias, input))


def normalize(input: Array, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Parts:
    """`x / max(norm, eps)`."""
    norm = np.linalg.norm(input, p, dim, keepdims=True)
    yield Part("norm", norm, {"p": p, "dim": dim})
    bounded = np.maximum(norm, eps, dtype=input.dtype)
    yield Part("at least eps", bounded, {"eps": eps})
    yield Part("normalised", input / bounded)


def cosine_similarity(x1: Array, x2: Array, dim: int = 1, eps: float = 1e-8) -> Parts:
    """`sum(x1 * x2) / (max(norm of x1, eps) * max(norm of x2, eps))`."""
    product = (x1 * x2).sum(dim)
    yield Part("sum of products", product, {"dim": dim})
    norms = []
    for name, each in (("x1", x1), ("x2", x2)):
        norm = np.sqrt(np.square(each).sum(dim))
        yield Part(f"norm of {name}", norm, {"dim": dim})
        norms.append(np.maximum(norm, eps, dtype=norm.dtype))
    yield Part("product of norms", norms[0] * norms[1], {"eps": eps})
    yield Part("similarity", product / (norms[0] * norms[1]))


def var(
    input: Array,
    dim: Any = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> Parts:
    """`sum of (x - mean)^2 / (n - correction)`."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    axes = None if dim is None or dim == [] or dim == () else tuple(dim) if isinstance(dim, list | tuple) else dim
    correction = float(unbiased) if correction is None else correction
    mean = input.mean(axes, keepdims=True)
    yield Part("mean", mean, {"dim": dim})
    centred = input - mean
    yield Part("centred", centred)
    square = np.square(centred)
    yield Part("squared", square)
    total = square.sum(axes, keepdims=keepdim)
    yield Part("sum of squares", total, {"dim": dim, "keepdim": keepdim})
    count = input.size // mean.size - correction
    yield Part("variance", total / np.asarray(count, total.dtype), {"correction": correction})


def std(*given: Any, **named: Any) -> Parts:
    """The root of the variance."""
    for part in var(*given, **named):
        yield part
    yield Part("root", np.sqrt(part.value))


def _channels(each: Array | None, input: Array) -> Any:
    """What there is one of for each channel, so that it broadcasts."""
    return None if each is None else each.reshape(-1, *[1] * (input.ndim - 2))


def _standardised(input: Array, axes: tuple[int, ...], eps: float, given: Any = None) -> Any:
    mean = input.mean(axes, keepdims=True) if given is None else given[0]
    yield Part("mean", mean)
    centred = input - mean
    yield Part("centred", centred)
    variance = np.square(centred).mean(axes, keepdims=True) if given is None else given[1]
    yield Part("variance", variance)
    return (yield from _divided(centred, variance, eps))


def _divided(centred: Array, variance: Array, eps: float) -> Any:
    more = variance + np.asarray(eps, variance.dtype)
    yield Part("variance + eps", more, {"eps": eps})
    root = np.sqrt(more)
    yield Part("root", root)
    yield Part("1 / root", 1 / root)
    normalised = centred / root
    yield Part("normalised", normalised)
    return normalised
