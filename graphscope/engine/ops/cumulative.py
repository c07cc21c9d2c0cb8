"""Running sums, products and extremes along a dim, and their opposite, differences."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import along, dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.core.dims import one
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.fused import fused
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.gathering import raw
from graphscope.engine.ops.index import getitem
from graphscope.engine.ops.joining import cat
from graphscope.engine.ops.pad import moved
from graphscope.engine.ops.rearrange import flip
from graphscope.engine.ops.values_and_indices import as_many, choice

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "diff"]


_MANY: Final = 1 << 16
"""So many elements are worth a loop in Python over one dim, where the others have many."""


def _to_running(input: Any, dim: int, *, dtype: Any = None) -> Any:
    if dtype is not None and dtype != input.dtype:
        input = input.to(dtype) if isinstance(input, Tensor) else input.astype(dtype)
    attrs: dict[str, Any] = {"dim": one(dim, len(input.shape))}
    if dtype is not None and np.dtype(dtype).kind in "biu":
        attrs["dtype"] = np.dtype(dtype)
    return (input,), attrs


def _running(over: Any) -> Any:
    def forward(x: Any, *, dim: int, dtype: Any = None) -> Any:
        wider = dtype or (dtypes.int64 if x.dtype.kind in "biu" else x.dtype)
        if not x.ndim:
            return x.astype(wider)
        if x.size < _MANY or x.size < 256 * x.shape[dim] or x.strides[dim] == x.itemsize or wider != x.dtype:
            return over.accumulate(x, dim, dtype=wider)
        out = x.copy()
        rows = np.moveaxis(out, dim, 0)
        for place in range(1, len(rows)):  # a row at a time: `accumulate` goes along the dim, one element after another
            over(rows[place - 1], rows[place], out=rows[place])
        return out

    return forward


def _at(x: Any, dim: int, part: Any) -> Any:
    """A part of one dim."""
    return getitem(x, (slice(None),) * dim + (part,))


def _recur(x: Any, y: Any, *, dim: int, backward: bool) -> Any:
    """By doubling: after step n, each element holds the sum over the last 2^n."""
    turn = slice(None, None, -1 if backward else 1)
    x, y = np.moveaxis(x, dim, 0)[turn].copy(), np.moveaxis(y, dim, 0)[turn].copy()
    step = 1
    while step < len(x):
        y[step:] += x[step:] * y[:-step]
        x[step:] = x[step:] * x[:-step]
        step *= 2
    return np.moveaxis(y[turn], 0, dim)


def _recur_back(g: Any, x: Any, *, dim: int, backward: bool) -> Any:
    """What each y gets from all that come after it: the recurrence again, from the other end."""
    return recurrence(moved(x, dim, 1 if backward else -1, 0.0), g, dim=dim, backward=not backward)


recurrence: Any = define(
    "recurrence", "Linear recurrence along a dim, or backward from its end: y plus x times the result before.",
    formula="out[i] = x[i] · out[i-1] + y[i]", tensor_method=False,
    prepare=lambda x, y, dim, backward=False: ((x, y), {"dim": dim, "backward": backward}),
    forward=_recur,
    vjp=[lambda g, x, out, *, dim, backward: _recur_back(g, x, dim=dim, backward=backward)
         * moved(out, dim, -1 if backward else 1, 0.0),
         lambda g, x, *, dim, backward: _recur_back(g, x, dim=dim, backward=backward)],
    shape=shapes.broadcast,
    samples=[((4,), (4,), {"dim": 0}), ((2, 3), (2, 3), {"dim": 1}), ((5, 2), (5, 2), {"dim": 0, "backward": True})],
)  # fmt: skip


def _cumsum_rule(g: Any, *, dim: int) -> Any:
    return flip(cumsum(flip(g, dim), dim), dim)


cumsum: Any = define(
    "cumsum", "Running sum along a dim.",
    prepare=_to_running,
    forward=in_one_pass("cumsum", _running(np.add)), accumulates=True,
    vjp=[fused(_cumsum_rule, in_one_pass("cumsum_rule", _cumsum_rule))],
    shape=shapes.same,
    samples=[((4,), {"dim": 0}), ((2, 3), {"dim": -1}), ((), {"dim": 0}), ((0, 2), {"dim": 0})],
)  # fmt: skip


def _cumprod_rule(g: Any, x: Any, out: Any, *, dim: int) -> Any:
    """Where there are zeros, without division: the product before, times what all later products make of it."""
    if not g.shape:
        return g
    if np.all(raw(x)):
        return flip(cumsum(flip(g * out, dim), dim), dim) / x
    return moved(out, dim, 1, 1.0) * recurrence(moved(x, dim, -1, 0.0), g, dim, backward=True)


cumprod: Any = define(
    "cumprod", "Running product along a dim.",
    prepare=_to_running,
    forward=in_one_pass("cumprod", _running(np.multiply)), accumulates=True,
    vjp=[_cumprod_rule],
    shape=shapes.same,
    samples=[((4,), {"dim": 0}), ((2, 3), {"dim": -1}), ((), {"dim": 0})],
)  # fmt: skip


def _last_place(over: Any) -> Any:
    """Where the running extreme was found last; a NaN is the extreme from then on."""

    def place(x: Any, *, dim: int) -> Any:
        found = (x == over.accumulate(x, dim)) | (x != x)
        places = np.arange(x.shape[dim]).reshape([-1 if i == dim else 1 for i in range(x.ndim)])
        return np.maximum.accumulate(np.where(found, places, 0), dim)

    return place


def _so_far(what: int) -> Any:
    """The running extremes and their places; None where the compiled part cannot."""

    def at_once(x: Any, dim: int, _: bool) -> Any:
        if dim == x.ndim - 1:
            return along.running(x, what)
        found = along.running(np.ascontiguousarray(np.moveaxis(x, dim, -1)), what)
        return found and tuple([np.moveaxis(part, -1, dim) for part in found])

    return at_once


def _to_extreme(input: Any, dim: int) -> Any:
    return (input,), {"dim": one(dim, len(input.shape)), "keepdim": True, "_from": tuple(input.shape)}


def _extreme(name: str, what: str, over: Any, number: int) -> Any:
    return choice(
        name, f"The {what} element so far along a dim, and where it is; of equal ones the last.",
        formula=f"out[i] = {name[3:]} x[j], j ≤ i", tensor_method=True, shape=as_many,
        place=_last_place(over), prepare=_to_extreme, at_once=_so_far(number),
        samples=[((4,), {"dim": 0}), ((2, 3), {"dim": -1}), ((), {"dim": 0})],
    )  # fmt: skip


cummax = _extreme("cummax", "largest", np.maximum, along.LARGEST)
cummin = _extreme("cummin", "smallest", np.minimum, along.SMALLEST)


def _after(x: Any, *, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    known = [x[dim], *(part.shape[dim] for part in (prepend, append) if part is not None)]
    size = shapes.add(known)
    return shapes.resized(x, dim, None if size is None else max(size - n, 0))


@composite("Differences of neighbours along a dim, n times over.", formula="out[i] = x[i+1] - x[i]",
           tensor_method=True, shape=_after,
           samples=[((4,), {}), ((2, 4), {"n": 2}), ((3, 2), {"dim": 0}), ((2, 3), {"n": 5})])  # fmt: skip
def diff(input: Any, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along a dim, n times over, after joining `prepend` and `append` to it."""
    if not input.shape:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    place = one(dim, len(input.shape))
    if not n:
        return input.clone()
    if prepend is not None or append is not None:
        input = cat([part for part in (prepend, input, append) if part is not None], place)
    for _ in range(n):
        later, earlier = _at(input, place, slice(1, None)), _at(input, place, slice(0, -1))
        input = later != earlier if input.dtype == dtypes.bool_ else later - earlier
    return input
