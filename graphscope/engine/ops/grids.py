"""Pictures looked up at any places: the grid of an affine map, and sampling at a grid."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.composite import composite
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.index import getitem, where
from graphscope.engine.ops.linalg import constant, matmul
from graphscope.engine.ops.rounding import clamp
from graphscope.engine.ops.shape import permute, reshape, unsqueeze
from graphscope.engine.ops.signs import abs as absolute

__all__: list[str] = []


def affine_grid(theta: Any, size: Any, align_corners: bool | None = None) -> Any:
    """The places, from -1 to 1, that an affine map of pictures of `size` (N, C, H, W) takes its elements from."""
    height, width = tuple(size)[2:]
    axes = []
    for count in (height, width):
        ends = 1.0 if align_corners else (count - 1) / count
        axes.append(np.linspace(-ends, ends, count) if count > 1 else np.zeros(1))
    y, x = np.meshgrid(*axes, indexing="ij")
    base = np.stack([x, y, np.ones_like(x)], -1).reshape(-1, 3).astype(theta.dtype)
    return reshape(matmul(constant(base, theta), theta.mT), (theta.shape[0], height, width, 2))


def _folded(place: Any, size: int, align_corners: bool) -> Any:
    """Reflected at the borders until it lies inside."""
    low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
    span = high - low
    if span <= 0:
        return place * 0.0
    distance = absolute(place - low)
    turns = np.floor(np.asarray(_bare(distance)) / span)
    rest = distance - constant((turns * span).astype(place.dtype), place)
    odd = constant(turns % 2 == 1, place)
    return where(odd, high - rest, rest + low)


def _bare(value: Any) -> Any:
    return value.array if isinstance(value, Tensor) else value


def _places(grid: Any, size: int, padding_mode: str, align_corners: bool) -> Any:
    place = (grid + 1.0) * ((size - 1) / 2) if align_corners else ((grid + 1.0) * size - 1.0) / 2
    if padding_mode == "reflection":
        place = _folded(place, size, align_corners)
    return place if padding_mode == "zeros" else clamp(place, 0, size - 1)


def _taken(input: Any, y: Any, x: Any) -> Any:
    """Elements at whole places, 0 outside: (N, H, W, C)."""
    height, width = input.shape[2:]
    inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
    rows = np.arange(input.shape[0])[:, None, None]
    found = getitem(input, (rows, slice(None), np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)))
    return where(constant(inside[..., None], input), found, 0.0)


@composite(
    "A picture, looked up at the places of a grid.", formula="out[n, :, i, j] = x[n, :, y[n, i, j]]",
    torch="nn.functional.grid_sample", shape=lambda x, y, **_: (*x[:2], *y[1:3]),
    samples=[((1, 2, 4, 3), (1, 2, 2, 2), {"align_corners": False}),
             ((2, 1, 3, 3), (2, 2, 3, 2), {"align_corners": True, "padding_mode": "border"}),
             ((1, 2, 4, 3), (1, 2, 2, 2), {"align_corners": False, "mode": "nearest"}),
             ((1, 2, 2, 3), (1, 2, 2, 2), {"align_corners": False, "padding_mode": "reflection"})],
)  # fmt: skip
def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Any:
    """A picture, looked up at the places of a grid.

    Args:
        input: (N, C, H, W).
        grid: (N, h, w, 2): for each element of the result its place (x, y) in the picture, from -1 to 1.
        mode: bilinear or nearest.
        padding_mode: What lies outside: zeros, the border, or a reflection.
        align_corners: Whether -1 and 1 are the centres of the outermost elements, or their edges.

    Raises:
        NotImplementedError: Another mode, or other than 4 dims.
        RuntimeError: Shapes do not fit.
    """
    if len(input.shape) != 4 or mode not in ("bilinear", "nearest"):
        raise NotImplementedError("grid_sample: bilinear and nearest are known, of pictures of 4 dims (N, C, H, W)")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"grid_sample: padding_mode is {padding_mode!r}; it must be zeros, border or reflection")
    if len(grid.shape) != 4 or grid.shape[-1] != 2 or grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            f"grid_sample: a grid of shape {tuple(grid.shape)} does not fit an input of shape {tuple(input.shape)}: "
            "it has as many samples, and 2 numbers in its last dim"
        )
    height, width = input.shape[2:]
    x = _places(grid[..., 0], width, padding_mode, bool(align_corners))
    y = _places(grid[..., 1], height, padding_mode, bool(align_corners))
    if mode == "nearest":
        near = _taken(input, *(np.rint(_bare(place)).astype(np.int64) for place in (y, x)))
        return permute(near, (0, 3, 1, 2))
    left, top = (np.floor(_bare(place)).astype(np.int64) for place in (x, y))
    right_share, low_share = x - constant(left.astype(x.dtype), x), y - constant(top.astype(y.dtype), y)
    total: Any = 0.0
    for down in (0, 1):
        for right in (0, 1):
            share = (right_share if right else 1.0 - right_share) * (low_share if down else 1.0 - low_share)
            total = _taken(input, top + down, left + right) * unsqueeze(share, -1) + total
    return permute(total, (0, 3, 1, 2))
