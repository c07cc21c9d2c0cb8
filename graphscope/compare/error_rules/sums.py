"""Rules of sums, products of matrices and convolutions.

Bounds for sums of K terms hold with a probability next to 1: `u sqrt(K)`, where the worst case is `u K` (Higham,
Accuracy and Stability of Numerical Algorithms, 2nd ed., sections 2.8 and 4.2; Higham and Mary, A new approach to
probabilistic rounding error analysis, 2019).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphscope.compare.error_rules.sizes import SCALAR, Array, Rule, norms, terms_of
from graphscope.compare.operation import Operand, Operation
from graphscope.compare.rounding import Allowed


def by_size(call: Operation) -> Allowed:
    """Of an op that nothing is known of: as much of the size of the result as may be lost in sums of what came in."""
    size = _largest(call)
    terms = max((terms_of(each, call.shape) for each in call.tensors.values()), default=1.0)
    if call.node.graph_pass == "backward":  # the gradient of a weight is a sum over all rows
        terms = max(terms, *(math.prod(each.shape[:-1]) for each in call.tensors.values()), 1.0)
    part = call.unit * 8 + call.sums * (16 + 2 * math.sqrt(terms))
    part += 8 * math.hypot(call.saved, *(each.relative for each in call.tensors.values()))
    bound = part * size
    if call.node.graph_pass == "backward":
        bound += sum(_summed(each, call) for each in call.tensors.values())
    return Allowed(bound, part, call.slope(2 * SCALAR * call.unit) + 2 * call.saved)


def _summed(gradient: Operand, call: Operation) -> float:
    """The error of a gradient that is summed, as that of a bias is: what is left may be nothing but that."""
    terms = gradient.count / max(math.prod(call.shape), 1)
    if terms <= 1 or gradient.array is None:
        return 0.0
    return terms * gradient.size * (4 * call.sums + 2 * (gradient.relative + call.saved))


def total(call: Operation) -> Allowed:
    """A sum: `|error| <= u sqrt(K) * sum of |x|`, and less where signs are mixed (Higham, section 4.2)."""
    of, size, terms = _reduced(call)
    part = call.sums * (8 + math.sqrt(terms)) + 2 * call.unit
    bound = call.sums * (2 + math.sqrt(terms) / 4) * math.sqrt(terms) * size + 8 * math.sqrt(terms) * of.spread
    return Allowed(bound, part + 8 * of.relative, call.slope(SCALAR * call.unit))


def average(call: Operation) -> Allowed:
    """A sum divided by its number of terms."""
    found = total(call)
    return Allowed(found.absolute / _reduced(call)[2], found.relative, found.slope)


def running(call: Operation) -> Allowed:
    """Sums of all that is ahead: those of the whole."""
    of = call.operand(0)
    terms = max(of.shape, default=1)
    part = call.sums * (8 + math.sqrt(terms)) + 2 * call.unit
    bound = call.sums * (2 + math.sqrt(terms) / 4) * terms * of.size + 8 * math.sqrt(terms) * of.spread
    return Allowed(bound, part + 8 * of.relative, call.slope(SCALAR * call.unit))


def deviating(call: Operation) -> Allowed:
    """Variance and standard deviation: condition `1 + mean^2 / variance` where a mean is subtracted (Higham, 1.9)."""
    of, size, terms = _reduced(call)
    condition = (size / _least(call.value)) ** 2 if call.node.op == "std" else size**2 / _least(call.value)
    part = call.sums * (8 + math.sqrt(terms)) * (1 + min(condition, 1e3)) + 4 * call.unit
    return Allowed(
        4 * of.spread * (size + of.spread) if of.largest else 0.0,
        part + 8 * of.relative,
        call.slope(SCALAR * call.unit),
    )


def product(rows: int, columns: int, added: int | None = None, transposed: bool = False) -> Rule:
    """A product of matrices: `|error| <= u sqrt(K) |x| |W|`, and `|x| |W| <= norm of the row * norm of the column`.

    (Higham, section 3.5, eq. 3.13.)

    Args:
        rows: The place of the operand whose rows are multiplied.
        columns: The place of the one whose columns are.
        added: The place of what is added.
        transposed: Whether the second is given as its transpose.
    """

    def rule(call: Operation) -> Allowed:
        x, w = call.operand(rows), call.operand(columns)
        terms = max(x.shape[-1], 1)
        across = norms(x.value, -1)
        column = float(norms(w.value, -1 if transposed or w.value.ndim < 2 else -2).max(initial=0))
        if x.value.ndim < 2 or across.ndim > len(call.shape) or across.shape[-2:-1] != call.shape[-2:-1]:
            across = across.max(initial=0)
        bound = products(call, x, w, across, column, terms)
        bias = call.operand(added) if added is not None else None
        if isinstance(bias, Operand):
            bound = bound + 2 * bias.largest + call.unit * np.abs(bias.value).max(initial=0)
        return _of_products(call, x, w, bound, terms)

    return rule


def convolution(call: Operation) -> Allowed:
    """The same of windows: their norm is at most that of the largest pixel times the root of the window's size."""
    x, w = call.operand(0), call.operand(1, "weight")
    window = math.prod(w.shape[2:])
    pixels = (
        np.einsum("ij...,ij...->i...", x.value, x.value) if len(x.shape) == len(w.shape) else np.square(x.value).sum(0)
    )
    across = math.sqrt(float(pixels.max(initial=0)) * window)
    column = float(norms(w.value.reshape(w.shape[0], -1), -1).max(initial=0))
    terms = max(window * w.shape[1], 1)
    bound = 3 * products(call, x, w, across, column, terms)  # Winograd's and Fourier's ways lose more
    bias = call.operand(2, "bias")
    if isinstance(bias, Operand):
        bound += 2 * bias.largest + call.unit * float(np.abs(bias.value).max(initial=0))
    return _of_products(call, x, w, bound, terms)


def contraction(call: Operation) -> Allowed:
    """A sum over indices of any operands."""
    tensors = [*call.tensors.values()]
    terms = max(terms_of(each, call.shape) for each in tensors)
    size = math.prod(each.size for each in tensors)
    part = 8 * sum(each.relative for each in tensors)
    bound = 4 * (call.sums * (2 + math.sqrt(terms) / 4) * terms + part * math.sqrt(terms)) * size
    return Allowed(bound, call.sums * (8 + math.sqrt(terms)) + 2 * call.unit + part, call.slope(SCALAR * call.unit))


def loss(call: Operation) -> Allowed:
    """What is left of many elements: relative errors of sums of terms that are not negative, and of its inputs."""
    found = by_size(call)
    x = call.operand(0)
    reduced = call.operand(99, "reduction", default="mean")
    many = max(1.0, x.count / max(math.prod(call.shape), 1)) if reduced == "sum" else 1.0
    highest = float(np.abs(x.value[np.isfinite(x.value)]).max(initial=0))
    bound = (
        call.sums * (8 + 2 * highest) * math.sqrt(many) + sum(4 * each.spread for each in call.tensors.values()) * many
    )
    return Allowed(found.absolute + bound, found.relative, found.slope)


def _largest(call: Operation) -> float:
    """The largest finite magnitude of the result, also where only statistics of it were kept."""
    result = call.result
    if result is None:
        summary = call.node.summary
        return 0.0 if summary is None else max(abs(summary.minimum), abs(summary.maximum))
    if result.dtype.kind in "bc" or not result.size:
        return float(np.abs(result).max(initial=0))
    ends = float(result.max()), -float(result.min())
    return max(ends) if np.isfinite(ends).all() else float(np.abs(result[np.isfinite(result)]).max(initial=0))


def _reduced(call: Operation) -> tuple[Operand, float, float]:
    """What is reduced, the root of its mean square where that is largest, and how many elements make one."""
    of = call.operand(0)
    terms = max(of.count / max(math.prod(call.shape), 1), 1.0)
    dim = call.operand(1, "dim", "axis")
    if dim is None or isinstance(dim, bool | Operand) or terms <= 1:
        return of, of.size, terms
    axes = tuple(dim) if isinstance(dim, list | tuple) else (dim,)
    with np.errstate(all="ignore"):
        squares = np.square(of.value, dtype=np.result_type(of.value.dtype, np.float32)).mean(axes or None)
        largest = squares[np.isfinite(squares)].max(initial=0) if squares.ndim else squares
    return of, math.sqrt(largest), terms


def _least(value: Array) -> float:
    """The least magnitude but 0."""
    sizes = np.abs(value)[value != 0]
    return float(sizes.min()) if sizes.size else 1.0


def products(call: Operation, x: Operand, w: Operand, across: Any, column: float, terms: float) -> Any:
    """The bound of sums of products, of norms of a row and a column."""
    bound = call.sums * (2 + math.sqrt(terms) / 4) * across * column
    if call.unit > call.sums:
        bound = bound + 4 * call.unit * across * column / math.sqrt(terms)  # what went in is rounded, too
    if x.largest:
        bound = bound + 8 * x.spread * column
    if w.largest:
        bound = bound + 8 * w.spread * across
    return bound


def _of_products(call: Operation, x: Operand, w: Operand, bound: Any, terms: float) -> Allowed:
    part = call.sums * (8 + 2 * math.sqrt(terms)) + 2 * call.unit + 8 * (x.relative + w.relative)
    return Allowed(bound, part, call.slope(SCALAR * call.unit))
