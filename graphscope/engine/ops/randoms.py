"""Random tensors: of the usual distributions, from nothing or by what another tensor says, and written in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.generator import Generator
from graphscope.engine.core.generator import generator as numbers
from graphscope.engine.core.op import register
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.core.writing import write
from graphscope.engine.ops.create import made
from graphscope.engine.ops.flat_rules import nothing
from graphscope.engine.ops.shape import sizes

__all__ = ["bernoulli", "multinomial", "normal", "poisson", "rand", "randint", "randn", "randperm"]


def _in_dtype(draw: Any, shape: tuple[int, ...], dtype: Any, part: float = 1.0) -> Any:
    """Random numbers as a dtype; of complex ones both parts are drawn, each times `part`."""
    wanted = np.dtype(dtype or dtypes.get_default_dtype())
    if wanted.kind == "c":
        return (draw((*shape, 2)) * part).view(np.complex128)[..., 0].astype(wanted)
    return np.asarray(draw(shape)).astype(wanted)


def rand(
    *size: Any,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Uniform random numbers from 0 to 1."""
    array = _in_dtype(numbers(generator).random, sizes(size), dtype)
    return made(array, requires_grad, "rand", device, how)


def randn(
    *size: Any,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Random numbers of the standard normal distribution; complex ones have a variance of 1 in all."""
    array = _in_dtype(numbers(generator).standard_normal, sizes(size), dtype, 0.5**0.5)
    return made(array, requires_grad, "randn", device, how)


def randint(
    low: int,
    high: Any = None,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Random integers from `low` (0 when left out) up to `high`, without it.

    Raises:
        RuntimeError: There is no integer between them.
    """
    if size is None:
        low, high, size = 0, low, high
    if high is None or size is None:
        raise TypeError("randint: give high and size, or low, high and size")
    if low >= high:
        raise RuntimeError(f"randint: from {low} up to {high} there is no integer: low must be below high")
    array = np.asarray(numbers(generator).integers(low, high, sizes((size,)))).astype(dtype or dtypes.int64)
    return made(array, requires_grad, "randint", device, how)


def randperm(
    n: int,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """The integers below `n` in random order."""
    array = numbers(generator).permutation(n).astype(dtype or dtypes.int64)
    return made(array, requires_grad, "randperm", device, how)


def _bernoulli(x: Any, *, p: float | None, generator: Generator | None) -> Any:
    chances = x if p is None else p
    if np.any(np.less(chances, 0)) or np.any(np.greater(chances, 1)):
        raise RuntimeError("bernoulli: probabilities lie between 0 and 1")
    return np.asarray(numbers(generator).random(x.shape) < chances).astype(x.dtype)[()]


bernoulli = define(
    "bernoulli", "1 with the probability that x says, else 0.", formula="out ~ Bernoulli(x)", torch=None,
    prepare=lambda input, p=None, *, generator=None: ((input,), {"p": p, "generator": generator}),
    forward=_bernoulli,
    vjp=[nothing],
    shape=shapes.same,
    samples=[("fraction", (2, 3)), ("fraction", ()), ((2, 3), {"p": 0.3})],
)  # fmt: skip


def _poisson(x: Any, *, generator: Generator | None) -> Any:
    if x.dtype.kind != "f" or np.any(x < 0):
        raise RuntimeError("poisson: rates are floating numbers, and none is negative")
    return np.asarray(numbers(generator).poisson(x)).astype(x.dtype)[()]


poisson = define(
    "poisson", "How many events happen, at the rate that x says.", formula="out ~ Poisson(x)", torch=None,
    tensor_method=False,
    prepare=lambda input, generator=None: ((input,), {"generator": generator}),
    forward=_poisson,
    vjp=[nothing],
    shape=shapes.same,
    samples=[("positive", (2, 3)), ("positive", ())],
)  # fmt: skip


def _multinomial(x: Any, *, num_samples: int, replacement: bool, generator: Generator | None) -> Any:
    if x.dtype.kind != "f" or x.ndim not in (1, 2):
        raise RuntimeError(f"multinomial: weights are floating numbers in one or two dims, not {x.dtype}{x.shape}")
    if not np.isfinite(x).all() or np.any(x < 0) or np.any(np.sum(x, -1) <= 0):
        raise RuntimeError("multinomial: weights are finite and not negative, and their sum is not 0")
    if not replacement and num_samples > x.shape[-1]:
        raise RuntimeError(f"multinomial: {num_samples} of {x.shape[-1]} can't be drawn without replacement")
    drawn = numbers(generator)
    if replacement:
        ends = np.cumsum(x, -1, dtype=np.float64)
        places = drawn.random((*x.shape[:-1], num_samples)) * ends[..., -1:]
        return np.sum(places[..., None] >= ends[..., None, :], -1)
    waits = drawn.standard_exponential(x.shape) / np.where(x > 0, x, np.nan)  # the first of exponential waits
    found = np.argsort(waits, -1)[..., :num_samples]
    if np.isnan(np.take_along_axis(waits, found, -1)).any():
        raise RuntimeError(f"multinomial: fewer than {num_samples} weights are above 0, and none is drawn twice")
    return found


multinomial = define(
    "multinomial", "Places in the last dim, drawn with the weights that x says.", formula="out ~ Multinomial(x)",
    torch=None,
    prepare=lambda input, num_samples, replacement=False, *, generator=None: (
        (input,), {"num_samples": num_samples, "replacement": replacement, "generator": generator}),
    forward=_multinomial,
    vjp=[None],
    shape=lambda x, *, num_samples, **_: (*x[:-1], num_samples),
    samples=[("positive", (5,), {"num_samples": 3}), ("positive", (2, 3), {"num_samples": 4, "replacement": True})],
)  # fmt: skip


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Generator | None = None,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **how: Any,
) -> Tensor:
    """Normal random numbers, of a mean and a standard deviation that are numbers (with `size`) or tensors.

    Raises:
        RuntimeError: A standard deviation is negative.
    """
    means, deviations = (getattr(value, "array", value) for value in (mean, std))
    if np.any(np.less(deviations, 0)):
        raise RuntimeError("normal: a standard deviation is not negative")
    shape = np.broadcast_shapes(np.shape(means), np.shape(deviations)) if size is None else sizes((size,))
    kind = dtype or next((v.dtype for v in (means, deviations) if hasattr(v, "dtype")), dtypes.get_default_dtype())
    array = numbers(generator).standard_normal(shape) * deviations + means
    return made(np.asarray(array).astype(kind), requires_grad, "normal", device, how)


def _in_place(name: str, doc: str, formula: str, draw: Callable[..., Any], **defaults: Any) -> None:
    """Define a method that overwrites a tensor with random numbers; `draw` takes NumPy's generator and the shape."""

    def forward(x: Any, *, generator: Generator | None, out: Any = None, **attrs: Any) -> Any:
        drawn = np.asarray(draw(numbers(generator), x.shape, **attrs)).astype(x.dtype)
        if out is None:
            return drawn[()]
        out[...] = drawn
        return out

    op = register(
        name, doc, formula=formula, forward=forward, vjp=[nothing], in_place=True, samples=[((2, 3),), ((),)],
        shape=shapes.same, torch=None,
    )  # fmt: skip

    def call(input: Tensor, *args: Any, generator: Generator | None = None, **kwargs: Any) -> Tensor:
        unknown = set(kwargs) - set(defaults)
        if unknown or len(args) > len(defaults):
            raise TypeError(f"{name}: it takes {', '.join(defaults)}, not {args} {kwargs}")
        given = {**defaults, **dict(zip(defaults, args, strict=False)), **kwargs}
        return write(op, input, (), {**given, "generator": generator})

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{doc}\n\n{formula}"
    op.call = call
    method(call)


_in_place(
    "uniform_", "Overwrite with uniform random numbers.", "x ~ U(from, to)",
    lambda drawn, shape, to, **low: drawn.uniform(low["from"], to, shape), **{"from": 0.0, "to": 1.0},
)  # fmt: skip
_in_place(
    "normal_", "Overwrite with normal random numbers.", "x ~ N(mean, std²)",
    lambda drawn, shape, mean, std: drawn.normal(mean, std, shape), mean=0.0, std=1.0,
)  # fmt: skip
_in_place(
    "exponential_", "Overwrite with exponential random numbers.", "x ~ Exp(lambd)",
    lambda drawn, shape, lambd: drawn.exponential(1 / lambd, shape), lambd=1.0,
)  # fmt: skip
_in_place(
    "random_", "Overwrite with random integers from `from` up to `to`, without it.", "x ~ {from, ..., to - 1}",
    lambda drawn, shape, to, **low: drawn.integers(*((0, low["from"]) if to is None else (low["from"], to)), shape),
    **{"from": 1 << 24, "to": None},
)  # fmt: skip
_in_place(
    "bernoulli_", "Overwrite with 1 with probability p, else with 0.", "x ~ Bernoulli(p)",
    lambda drawn, shape, p: drawn.random(shape) < getattr(p, "array", p), p=0.5,
)  # fmt: skip
