"""Losses of classes: from log-probabilities, from logits, with margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.index import put
from graphscope.engine.ops.linalg import constant
from graphscope.engine.ops.losses import reduced, reduction_of
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import expand, reshape
from graphscope.engine.ops.softmax import log_softmax

__all__: list[str] = []


def _classes(x: Any, y: Any, ignore_index: int) -> tuple[Any, Any]:
    """The index of the element of each sample's class, and which samples count (None: all).

    Raises:
        IndexError: A class that does not exist.
    """
    count = x.shape[1 if x.ndim > 1 else 0]
    valid = None
    if y.size and np.maximum.reduce(y.view(f"u{y.itemsize}"), None) >= count:  # unsigned, what is below 0 is large
        valid = y != ignore_index
        y = np.where(valid, y, 0)
        if y.min() < 0 or y.max() >= count:
            wrong = y[(y < 0) | (y >= count)][0] if y.ndim else y
            raise IndexError(f"target {wrong} is out of bounds: there are {count} classes, 0 to {count - 1}")
    elif 0 <= ignore_index < count:
        valid = y != ignore_index
    if x.ndim == 1:
        return (y,), valid
    if x.ndim == 2:
        return (np.arange(y.size), y), valid
    first, *rest = np.ogrid[tuple(slice(size) for size in y.shape)]
    return (first, y, *rest), valid


def _weights(x: Any, index: Any, valid: Any, z: Any) -> Any:
    """What each sample's loss counts, or None where all count 1."""
    if z is None:
        return None if valid is None else valid.astype(x.dtype)
    found = z[index[0] if x.ndim == 1 else index[1]]
    return found if valid is None else found * valid


def _nll_loss(x: Any, y: Any, z: Any = None, *, reduction: str, ignore_index: int) -> Any:
    wanted = x.shape[:1] + x.shape[2:] if x.ndim > 1 else ()
    if y.dtype.kind not in "iu" or y.shape != wanted:
        raise ValueError(
            f"the target must be class numbers: integers of shape {wanted}, one for each sample, not {y.dtype}{y.shape}"
        )
    if z is not None and z.shape != (x.shape[1 if x.ndim > 1 else 0],):
        raise ValueError(
            f"the weight must have shape ({x.shape[1 if x.ndim > 1 else 0]},), one for each class, not {z.shape}"
        )
    index, valid = _classes(x, y, ignore_index)
    weights = _weights(x, index, valid, z)
    losses = -x[index]
    if weights is not None:
        losses = losses * weights
    if reduction == "none":
        return losses
    total = np.add.reduce(losses, axis=None)
    if reduction == "sum":
        return total
    return total / (x.dtype.type(y.size) if weights is None else np.add.reduce(weights, axis=None))


def _spread_share(g: Any, x: Any, y: Any, z: Any, reduction: str, ignore_index: int) -> tuple[Any, Any]:
    """The index of each sample's class, and minus the cotangent of its loss."""
    index, valid = _classes(x, y, ignore_index)
    weights = _weights(x, index, valid, z)
    if reduction == "mean":
        g = g / (y.size if weights is None else float(np.add.reduce(weights, axis=None)))
    g = expand(-g, y.shape) if isinstance(g, Tensor) and reduction != "none" else -g
    return index, g if weights is None else g * constant(weights[()], g)


def _bare(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _nll_rule(g: Any, x: Any, y: Any, z: Any, *, reduction: str, ignore_index: int) -> Any:
    index, shares = _spread_share(g, _bare(x), _bare(y), _bare(z), reduction, ignore_index)
    if isinstance(g, Tensor):
        return put(shares, index, tuple(x.shape))
    out = np.zeros(x.shape, x.dtype)
    out[index] = shares
    return out


def _to_nll(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    if not len(input.shape):
        raise ValueError("nll_loss: the input must have 1 or more dims")
    return (input, target, weight), {
        "reduction": reduction_of(size_average, reduce, reduction), "ignore_index": ignore_index
    }  # fmt: skip


nll_loss = define(
    "nll_loss", "Negative logarithm of each sample's probability for its class y, from log-probabilities x.",
    formula="out = -Σ z[y_i] · x[i, y_i] / Σ z[y_i]", tensor_method=False, promotes=False,
    torch="nn.functional.nll_loss", grad_name="NllLossBackward0",
    prepare=_to_nll,
    forward=_nll_loss, accumulates=True,
    vjp=[_nll_rule,
         None,
         None],
    shape=lambda x, y, *_, reduction, **__: y if reduction == "none" else (),
    samples=[((3, 4), np.array([1, 3, 0])), ((3, 4), np.array([1, 3, 3]), {"reduction": "sum"}),
             ((3, 4), np.array([1, 3, 0]), {"reduction": "none"}), ((4,), np.array(2)),
             ((2, 3, 2), np.array([[0, 2], [1, 1]])), ((3, 4), np.array([1, 3, -100])),
             ((3, 4), np.array([1, 3, 0]), {"ignore_index": 3})],
)  # fmt: skip


def _weighted(x: Any, weight: Any, dim: int) -> Any:
    if weight is None:
        return x
    return x * reshape(weight, (1,) * dim + (-1,) + (1,) * (len(x.shape) - dim - 1))


def _classes_shape(x: Any, y: Any, *_: Any, reduction: str = "mean", **__: Any) -> Any:
    return () if reduction != "none" else x[:1] + x[2:] if len(x) > 1 else ()


@composite(
    "Cross-entropy between what logits predict and the target.", formula="out = -mean Σ_c y[c] · ln softmax(x)[c]",
    shape=_classes_shape,
    samples=[((3, 4), np.array([1, 3, 0])), ((3, 4), np.array([1, 3, 0]), {"label_smoothing": 0.1}),
             ((4,), np.array(2)), ((3, 4), np.array([1, 3, 0]), {"reduction": "sum"}),
             ((2, 3, 2), np.array([[0, 2], [1, 1]]), {"reduction": "none"}), ((3, 4), np.array([1, -100, 0])),
             ((2, 3), np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]]))],
    torch="nn.functional.cross_entropy",
)  # fmt: skip
def cross_entropy(
    input: Any,
    target: Any,
    weight: Any = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    """Cross-entropy between what logits predict and the target: class numbers, or a probability for each class.

    Args:
        input: Logits; the classes are dim 1, or dim 0 of a single sample.
        target: Class numbers (integers), or probabilities of the shape of `input`.
        weight: How much each class counts.
        size_average: Superseded by `reduction`.
        ignore_index: A class number that does not count.
        reduce: Superseded by `reduction`.
        reduction: `mean` over the samples, `sum`, or `none` for a loss each.
        label_smoothing: The share of the target that is spread over all classes.

    Raises:
        ValueError: The batch of the target is another than that of the input.
        RuntimeError: The target is of neither kind.
    """
    reduction = reduction_of(size_average, reduce, reduction)
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"cross_entropy: label_smoothing must be between 0 and 1, but got {label_smoothing}")
    shape, wanted = input.shape, target.shape
    dim = 1 if len(shape) > 1 else 0
    logarithms = log_softmax(input, dim)
    floating = target.dtype.kind == "f"
    if floating and tuple(wanted) == tuple(shape):
        return _of_probabilities(logarithms, target, weight, reduction, label_smoothing, dim)
    if floating:
        raise RuntimeError(
            f"cross_entropy: a floating target is a probability for each class, and must have the shape of the input, "
            f"{tuple(input.shape)}, not {tuple(target.shape)}; class numbers are integers: target.long()"
        )
    if dim and (not len(wanted) or wanted[0] != shape[0]):
        raise ValueError(
            f"cross_entropy: expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0] if len(target.shape) else 'none'})"
        )
    loss = nll_loss(logarithms, target, weight, None, ignore_index, None, reduction)
    if not label_smoothing:
        return loss
    return _smoothed(loss, logarithms, target, weight, ignore_index, reduction, label_smoothing, dim)


def _of_probabilities(x: Any, target: Any, weight: Any, reduction: str, smoothing: float, dim: int) -> Any:
    if smoothing:
        target = target * (1 - smoothing) + smoothing / x.shape[dim]
    losses = -sum(_weighted(x * target, weight, dim), dim)
    if reduction != "mean":
        return reduced(losses, reduction)
    return sum(losses) / max(losses.array.size if isinstance(losses, Tensor) else losses.size, 1)


def _smoothed(
    loss: Any, x: Any, target: Any, weight: Any, ignore: int, reduction: str, smoothing: float, dim: int
) -> Any:
    """The loss with a share of the target spread over all classes."""
    spread = -sum(_weighted(x, weight, dim), dim)
    counts = _bare(target) != ignore
    spread = spread * constant(counts.astype(x.dtype)[()], x)
    if reduction == "mean":
        data = _bare(x)
        index, valid = _classes(data, _bare(target), ignore)
        weights = _weights(data, index, valid, None if weight is None else _bare(weight))
        total = _bare(target).size if weights is None else float(np.add.reduce(weights, axis=None))
        spread = sum(spread) / total
    elif reduction == "sum":
        spread = sum(spread)
    return loss * (1 - smoothing) + spread * (smoothing / x.shape[dim])
