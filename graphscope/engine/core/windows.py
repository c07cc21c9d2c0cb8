"""Windows that slide over the last dims of an array: where they lie, and how their elements become columns.

The elements at one place of all windows are a strided view of the array, so a window is worked on place by place:
as many calls as the window has elements, each over all windows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

Sizes = tuple[int, ...]
Array = Any
"""An `np.ndarray`; NumPy's stubs know no index of dots and a tuple of slices."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of one size, at equal distances; `low` and `high` are the padding in front and behind."""

    kernel: Sizes
    stride: Sizes
    low: Sizes
    high: Sizes
    dilation: Sizes

    @property
    def rank(self) -> int:
        """Over how many dims they slide."""
        return len(self.kernel)

    @property
    def span(self) -> Sizes:
        """How many elements a window reaches over in each dim."""
        return tuple((k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True))

    @property
    def bare(self) -> bool:
        """Whether each window is a single element, and there is one for each element."""
        ones = (1,) * self.rank
        return self.kernel == ones and self.stride == ones and not any(self.low) and not any(self.high)

    def counts(self, sizes: Sequence[Any]) -> tuple[Any, ...]:
        """How many windows there are along dims of these sizes (None of what is not known)."""
        return tuple(
            None if size is None else (size + low + high - span) // step + 1
            for size, low, high, span, step in zip(sizes, self.low, self.high, self.span, self.stride, strict=True)
        )

    def places(self, counts: Sizes) -> Iterator[tuple[Sizes, Any]]:
        """Each place in a window, and where it lies of all windows, in the padded array."""
        for place in product(*map(range, self.kernel)):
            yield (
                place,
                tuple(
                    slice(at * d, at * d + step * (count - 1) + 1, step)
                    for at, d, step, count in zip(place, self.dilation, self.stride, counts, strict=True)
                ),
            )

    def whole(self, sizes: Sizes) -> Sizes:
        """The sizes with the padding."""
        return tuple(size + low + high for size, low, high in zip(sizes, self.low, self.high, strict=True))

    def inner(self, sizes: Sizes) -> tuple[slice, ...]:
        """Where the array itself lies in the padded one."""
        return tuple(slice(low, low + size) for low, size in zip(self.low, sizes, strict=True))

    def padded(self, x: Array, fill: float = 0.0) -> Array:
        """The array with its padding."""
        if not any(self.low) and not any(self.high):
            return x
        sizes = x.shape[-self.rank :]
        out: Array = np.full(x.shape[: -self.rank] + self.whole(sizes), fill, x.dtype)
        out[(..., *self.inner(sizes))] = x
        return out


def columns(x: Array, windows: Windows, counts: Sizes, last: bool = False) -> Array:
    """The elements of all windows of padded samples as columns: (C, places, N, windows).

    Args:
        x: (C, N, ...), or with `last` (C, ..., N): then the columns are (C, places, windows, N).
        windows: The windows.
        counts: How many there are.
        last: Whether the samples are the last dim; what is copied at a time is longer so, where windows are few.
    """
    lead = (slice(None),) if last else (slice(None), slice(None))
    rest = (*counts, x.shape[-1]) if last else (x.shape[1], *counts)
    out: Array = np.empty((x.shape[0], *windows.kernel, *rest), x.dtype)
    for place, where in windows.places(counts):
        out[(slice(None), *place)] = x[(*lead, *where)]
    return out


def add_columns(parts: Array, windows: Windows, counts: Sizes, into: Array, last: bool = False) -> None:
    """The reverse: add to each element of padded samples what the windows over it say of it."""
    lead = (slice(None),) if last else (slice(None), slice(None))
    for place, where in windows.places(counts):
        target = into[(*lead, *where)]
        target += parts[(slice(None), *place)]
