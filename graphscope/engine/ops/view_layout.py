"""Where a view lies in its base, and the ops that go from one to the other: how a write through a view is undone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from graphscope.engine.core.calls import define


class Layout(NamedTuple):
    """Where the elements of an array are in a piece of memory, counted in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int

    def of(self, memory: np.ndarray) -> np.ndarray:
        """The array."""
        strides = tuple(stride * memory.itemsize for stride in self.strides)
        return as_strided(memory[self.start :], self.shape, strides)

    def distinct(self) -> bool:
        """Whether no two elements share a place."""
        reach = 0
        for stride, length in sorted(zip(map(abs, self.strides), self.shape, strict=True)):
            if length > 1:
                if stride <= reach:
                    return False
                reach += stride * (length - 1)
        return True


class Place(NamedTuple):
    """A base and a view of it, and how many elements the memory has that both lie in."""

    base: Layout
    view: Layout
    extent: int


def place_of(base: np.ndarray, view: np.ndarray) -> Place:
    """Where a view lies in its base."""
    size = base.itemsize
    first = last = _address(base)
    for length, stride in zip(base.shape, base.strides, strict=True):
        first += min(0, (length - 1) * stride)
        last += max(0, (length - 1) * stride)
    layouts = [
        Layout(array.shape, tuple(stride // size for stride in array.strides), (_address(array) - first) // size)
        for array in (base, view)
    ]
    return Place(layouts[0], layouts[1], (last - first) // size + 1)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _taken(x: Any, *, _place: Place) -> Any:
    memory = np.empty(_place.extent, x.dtype)
    _place.base.of(memory)[...] = x
    return _place.view.of(memory).copy()[()]


def _laid(x: Any, *, _place: Place) -> Any:
    memory = np.zeros(_place.extent, x.dtype)
    view = _place.view
    if view.distinct():
        view.of(memory)[...] = x
    else:
        places = view.of(np.arange(_place.extent))
        np.add.at(memory, places, x)
    return _place.base.of(memory).copy()[()]


def _overlaid(x: Any, y: Any, *, _place: Place) -> Any:
    memory = np.empty(_place.extent, x.dtype)
    base = _place.base.of(memory)
    base[...] = x
    _place.view.of(memory)[...] = y
    return base.copy()[()]


def _cleared(g: Any, *, _place: Place) -> Any:
    return overlay(g, 0.0, _place)


_EXAMPLE = Place(Layout((3, 4), (4, 1), 0), Layout((2, 3), (1, 4), 1), 12)
_ROWS = Place(Layout((3, 4), (4, 1), 0), Layout((2, 4), (0, 1), 4), 12)

take_view: Any = define(
    "take_view", "The elements of a tensor that a view of it looks at.", formula="out = view of x",
    tensor_method=False, torch=None, grad_name="AsStridedBackward0",
    prepare=lambda x, _place: ((x,), {"_place": _place}),
    forward=_taken,
    vjp=[lambda g, *, _place: lay_view(g, _place)],
    shape=lambda x, *, _place: _place.view.shape,
    samples=[((3, 4), {"_place": _EXAMPLE}), ((3, 4), {"_place": _ROWS})],
)  # fmt: skip

lay_view: Any = define(
    "lay_view", "Zeros, with x added where a view looks.", formula="out = 0; view of out += x",
    tensor_method=False, torch=None, prepare=lambda x, _place: ((x,), {"_place": _place}),
    forward=_laid,
    vjp=[lambda g, *, _place: take_view(g, _place)],
    shape=lambda x, *, _place: _place.base.shape,
    samples=[((2, 3), {"_place": _EXAMPLE}), ((2, 4), {"_place": _ROWS})],
)  # fmt: skip

overlay: Any = define(
    "copy_slices", "What a tensor is after one of its views was written.", formula="out = x; view of out = y",
    tensor_method=False, torch=None, grad_name="CopySlices",
    prepare=lambda x, y, _place: ((x, y), {"_place": _place}),
    forward=_overlaid,
    vjp=[_cleared,
         lambda g, *, _place: take_view(g, _place)],
    shape=lambda x, y, *, _place: x,
    samples=[((3, 4), (2, 3), {"_place": _EXAMPLE})],
)  # fmt: skip
