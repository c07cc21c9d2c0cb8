"""The loss of connectionist temporal classification, stepped into: one step for each time."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.exponential import logaddexp
from graphscope.engine.ops.index import getitem, where
from graphscope.engine.ops.joining import cat, stack
from graphscope.engine.ops.linalg import constant
from graphscope.engine.ops.losses import REDUCTIONS, reduced
from graphscope.engine.ops.shape import reshape, unsqueeze
from graphscope.engine.ops.statistics import logsumexp

__all__ = ["ctc_loss"]

_NEVER: Final = -1e30
"""The logarithm of the probability of what can't be; an infinity would make gradients nan."""


def _numbers(value: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(value.array if isinstance(value, Tensor) else value))


def _labels(targets: np.ndarray, lengths: np.ndarray, blank: int) -> np.ndarray:
    """The labels of each sample with blanks between them and around them."""
    longest = int(lengths.max(initial=0))
    ends = np.cumsum(lengths)
    out = np.full((len(lengths), 2 * longest + 1), blank, np.int64)
    for row, (end, length) in enumerate(zip(ends, lengths, strict=True)):
        own = targets[end - length : end] if targets.ndim == 1 else targets[row, :length]
        out[row, 1 : 2 * length : 2] = own
    return out


def _shifted(x: Any, by: int) -> Any:
    """Moved to the right by some places, behind which nothing can be."""
    empty = constant(np.full((x.shape[0], min(by, x.shape[1])), _NEVER, x.dtype), x)
    return cat([empty, getitem(x, (slice(None), slice(max(x.shape[1] - by, 0))))], 1)


def _ctc_shape(x: Any, *_: Any, reduction: str = "mean", **__: Any) -> Any:
    return x[1:2] if reduction == "none" else ()


@composite(
    "Negative logarithm of the probability of a sequence of labels, summed over all ways to align it with the input.",
    formula="out = -ln Σ over alignments Π_t p_t", torch=None, shape=_ctc_shape,
    samples=[((4, 2, 3), np.array([[1, 2], [1, 1]]), [4, 4], [2, 1], {"reduction": "sum"})],
)  # fmt: skip
def ctc_loss(
    log_probs: Any,
    targets: Any,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:
    """Negative log-likelihood of sequences of labels.

    Args:
        log_probs: Log-probabilities of the classes, (times, samples, classes) or (times, classes).
        targets: Labels, a row for each sample, or all in one row.
        input_lengths: How many times count, for each sample.
        target_lengths: How many labels count, for each sample.
        blank: The class that stands for no label.
        reduction: `none`, `sum`, or `mean`: of the losses over the lengths of their targets.
        zero_infinity: Whether the loss of what can't be aligned is 0.

    The gradient is that of the log-probabilities as they are given; PyTorch's takes for granted that they come from
    log_softmax, behind which both are the same.

    Source: Graves, Fernández, Gomez, Schmidhuber: Connectionist temporal classification, 2006, section 4.1.
    """
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction!r} is not a valid value for reduction: choose among {', '.join(REDUCTIONS)}")
    single = len(log_probs.shape) == 2
    x = unsqueeze(log_probs, 1) if single else log_probs
    times, lengths, given = _numbers(input_lengths), _numbers(target_lengths), _numbers(targets)
    if single and given.ndim == 2:
        given = given[0]
    if len(times) != x.shape[1] or len(lengths) != x.shape[1]:
        raise RuntimeError(f"ctc_loss: there must be a length for each of the {x.shape[1]} samples")
    if times.max(initial=0) > x.shape[0]:
        raise RuntimeError(f"ctc_loss: an input length, {times.max()}, is above the number of times, {x.shape[0]}")
    labels = _labels(given, lengths, blank)
    rows = np.arange(len(labels))
    skips = np.zeros(labels.shape, bool)  # over a blank between two labels that differ
    skips[:, 2:] = (labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2])
    allowed, starts = constant(skips, x), constant(np.arange(labels.shape[1]) < 2, x)
    reached = where(starts, getitem(x, (0, rows[:, None], labels)), _NEVER)
    for time in range(1, int(times.max(initial=0))):
        ways = [reached, _shifted(reached, 1), where(allowed, _shifted(reached, 2), _NEVER)]
        following = logsumexp(stack(ways), 0) + getitem(x, (time, rows[:, None], labels))
        running = times > time
        reached = following if running.all() else where(constant(running[:, None], x), following, reached)
    last = getitem(reached, (rows, 2 * lengths))
    before = where(constant(lengths > 0, x), getitem(reached, (rows, np.maximum(2 * lengths - 1, 0))), _NEVER)
    losses = -logaddexp(last, before)
    impossible = constant((losses.array if isinstance(losses, Tensor) else losses) > -_NEVER / 2, x)
    losses = where(impossible, 0.0 if zero_infinity else np.inf, losses)
    if reduction == "mean":
        losses = losses / constant(np.maximum(lengths, 1).astype(x.dtype), x)
    return reshape(losses, ()) if single and reduction == "none" else reduced(losses, reduction)
