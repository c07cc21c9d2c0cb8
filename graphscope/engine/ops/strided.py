"""Views told by their strides: any elements of the memory that a tensor lies in."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writes import buffer
from graphscope.engine.ops.shape import sizes
from graphscope.engine.ops.view_layout import Place, lay_view, place_of

__all__ = ["as_strided"]


def _elements(x: Any, size: tuple[int, ...], stride: tuple[int, ...], start: int | None) -> Any:
    """The elements of the memory of x that begin at `start`; those of x begin there when it is left out.

    Raises:
        RuntimeError: They reach beyond the memory.
    """
    array = np.asarray(x)
    memory = buffer(array)
    memory = memory if memory.flags.c_contiguous else memory.T
    begin = memory.__array_interface__["data"][0]
    offset = array.__array_interface__["data"][0] - begin if start is None else start * array.itemsize
    steps = tuple(step * array.itemsize for step in stride)
    try:
        return np.ndarray(size, array.dtype, memory, offset, steps)
    except (ValueError, TypeError):
        raise RuntimeError(
            f"as_strided: size {size} with stride {stride} from element {offset // array.itemsize} on reaches beyond "
            f"the memory of {memory.nbytes // array.itemsize} elements"
        ) from None


def _to_strided(input: Any, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    size, stride = sizes((size,)), sizes((stride,))
    if len(size) != len(stride) or any(step < 0 for step in stride):
        raise RuntimeError(f"as_strided: size {size} and stride {stride} must be as long, and no stride is negative")
    array = input.shared() if isinstance(input, Tensor) else np.asarray(input)
    place = place_of(array, _elements(array, size, stride, storage_offset))
    if place.view.start < 0 or _last(place) >= place.extent:
        raise RuntimeError("as_strided: the elements reach beyond those of the tensor: take them of its base")
    return (input,), {"_place": place, "size": size, "stride": stride, "storage_offset": storage_offset}


def _last(place: Place) -> int:
    view = place.view
    reach = sum((size - 1) * step for size, step in zip(view.shape, view.strides, strict=True))
    return view.start + reach if 0 not in view.shape else 0


as_strided: Any = define(
    "as_strided", "The elements of a tensor's memory at these steps, without copying.",
    formula="out[i, j] = memory[start + i · stride₀ + j · stride₁]", view=True,
    prepare=_to_strided,
    forward=lambda x, *, _place, size, stride, storage_offset: _elements(x, size, stride, storage_offset),
    vjp=[lambda g, *, _place: lay_view(g, _place)],
    shape=lambda x, *, size, **_: size,
    samples=[((3, 4), {"size": (2, 2), "stride": (4, 1)}), ((5,), {"size": (3, 3), "stride": (1, 1)}),
             ((3, 4), {"size": (3, 2), "stride": (1, 2), "storage_offset": 1})],
)  # fmt: skip
