"""Shape rules: from the shapes of an op's inputs to that of its output. A dim that is not known yet is None.

A rule takes the shape of each input (a number has the shape `()`) and the attributes of the call, and returns the shape
of the output, or a list of shapes where there are several outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

Shape = tuple[int | None, ...]
Rule = Callable[..., Any]


def same(x: Shape, *_: Shape, **attrs: Any) -> Shape:
    """That of the first input."""
    return x


def given(*_: Shape, shape: Sequence[int], **attrs: Any) -> Shape:
    """The one that the call asks for."""
    return tuple(shape)


def broadcast(*shapes: Shape, **attrs: Any) -> Shape:
    """That of the inputs, broadcast together.

    Raises:
        RuntimeError: Two dims, counted from the right, differ and neither is 1.
    """
    rank = max(map(len, shapes))
    out: list[int | None] = []
    for place in range(-rank, 0):
        lengths = {shape[place] for shape in shapes if -place <= len(shape)} - {1}
        known = lengths - {None}
        if len(known) > 1:
            given = " and ".join(str(shape).replace("None", "?") for shape in shapes)
            sizes = " and ".join(map(str, sorted(known)))  # type: ignore[type-var]
            raise RuntimeError(f"shapes {given} do not fit: dim {place} is {sizes}")
        out.append(known.pop() if known else None if lengths else 1)
    return tuple(out)


def scalar(*_: Shape, **attrs: Any) -> Shape:
    """No dims: a single element."""
    return ()


def reduced(x: Shape, *_: Shape, dim: Any = None, keepdim: bool = False, **attrs: Any) -> Shape:
    """Without the dims that are reduced (None or none given: all), or with them as 1."""
    dims = range(len(x)) if dim is None or dim == () else (dim,) if isinstance(dim, int) else dim
    gone = {place % len(x) for place in dims} if x else set()
    return tuple(1 if place in gone else size for place, size in enumerate(x) if keepdim or place not in gone)


def without(x: Shape, *_: Shape, dim: int, **attrs: Any) -> Shape:
    """Without one dim."""
    place = dim % len(x)
    return x[:place] + x[place + 1 :]


def resized(x: Shape, dim: int, size: int | None) -> Shape:
    """With one dim of another size."""
    place = dim % max(len(x), 1)
    return (*x[:place], size, *x[place + 1 :])


def reshaped(x: Shape, *_: Shape, shape: Sequence[int], **attrs: Any) -> Shape:
    """The one that the call asks for, with what -1 stands for."""
    total, rest = count(x), math.prod(size for size in shape if size != -1)
    return tuple((None if total is None else total // rest if rest else 0) if size == -1 else size for size in shape)


def swapped(x: Shape, *, dim0: int, dim1: int, **attrs: Any) -> Shape:
    """With two dims swapped."""
    order = list(x)
    if order:
        order[dim0], order[dim1] = order[dim1], order[dim0]
    return tuple(order)


def permuted(x: Shape, *, dims: Sequence[int], **attrs: Any) -> Shape:
    """With the dims in another order."""
    return tuple(x[dim] for dim in dims)


def reverse(x: Shape, **attrs: Any) -> Shape:
    """With the dims in reverse."""
    return x[::-1]


def joined(*shapes: Shape, dim: int, **attrs: Any) -> Shape:
    """One dim is the sum of those of the inputs; the others are theirs."""
    shapes = tuple(shape for shape in shapes if shape != (0,)) or shapes[:1]
    rank = len(shapes[0])
    rest = broadcast(*(resized(shape, dim, 1) for shape in shapes))
    return resized(rest, dim, add(shape[dim % rank] for shape in shapes))


def stacked(*shapes: Shape, dim: int, **attrs: Any) -> Shape:
    """A new dim, as long as there are inputs."""
    rest = broadcast(*shapes)
    place = dim % (len(rest) + 1)
    return (*rest[:place], len(shapes), *rest[place:])


def matmul(x: Shape, y: Shape, **attrs: Any) -> Shape:
    """Rows of x by columns of y, for every pair of the batches broadcast together."""
    rows = x[-2:-1]
    columns = y[-1:] if len(y) > 1 else ()
    return broadcast(x[:-2], y[:-2]) + rows + columns


def indexed(x: Shape, *_: Shape, index: Any, **attrs: Any) -> Shape:
    """What NumPy makes of the index; a dim that is not known stays so under a slice."""
    places: list[Any] = []
    for part in index if isinstance(index, tuple) else (index,):
        places += part.nonzero() if isinstance(part, np.ndarray) and part.dtype == bool and part.ndim else (part,)
    # Two numbers stand for a dim that is not known: what comes of them is known where it is the same.
    sizes = [tuple(probe if size is None else size for size in x) for probe in (977, 1009)]
    one, other = (np.broadcast_to(np.zeros((), np.uint8), each)[tuple(places)].shape for each in sizes)
    return tuple(None if a != b else a for a, b in zip(one, other, strict=True))


def count(x: Shape) -> int | None:
    """How many elements there are, or None."""
    return None if None in x else math.prod(x)  # type: ignore[arg-type]


def add(sizes: Iterable[int | None]) -> int | None:
    """The sum of sizes, None when one is not known."""
    found = list(sizes)
    return None if None in found else sum(found)  # type: ignore[arg-type]
