"""Modules that only move elements: flattening, shuffling of pixels, patches, and sampling up."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.function_module import FunctionModule
from graphscope.engine.ops import shape


class Flatten(FunctionModule):
    """Several dims made one; the first, the batch, is left."""

    function = shape.flatten
    start_dim: int = 1
    end_dim: int = -1


class Unflatten(FunctionModule):
    """One dim made several."""

    function = shape.unflatten
    passed = MappingProxyType({"unflattened_size": "sizes"})
    dim: int
    unflattened_size: Any

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        sizes = settings["unflattened_size"]
        if not isinstance(sizes, tuple | list) or not all(isinstance(n, int) for n in sizes):
            raise TypeError(f"unflattened_size must be tuple of ints, but found {sizes!r}")
        return settings


class PixelShuffle(FunctionModule):
    """Channels become pixels: (N, C·r², H, W) becomes (N, C, H·r, W·r)."""

    function = functional.pixel_shuffle
    upscale_factor: int


class PixelUnshuffle(FunctionModule):
    """Pixels become channels: (N, C, H·r, W·r) becomes (N, C·r², H, W)."""

    function = functional.pixel_unshuffle
    downscale_factor: int


class Unfold(FunctionModule):
    """The patches of an image as columns."""

    function = functional.unfold
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class Fold(FunctionModule):
    """An image from its patches; where they overlap they are summed."""

    function = functional.fold
    output_size: Any
    kernel_size: Any
    dilation: Any = 1
    padding: Any = 0
    stride: Any = 1


class Upsample(FunctionModule):
    """More elements along the last dims, by repetition or interpolation."""

    function = functional.interpolate
    size: Any = None
    scale_factor: Any = None
    mode: str = "nearest"
    align_corners: bool | None = None
    recompute_scale_factor: bool | None = None

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        scale = settings["scale_factor"]
        each = tuple(map(float, scale)) if isinstance(scale, tuple) else float(scale) if scale else None
        return {**settings, "scale_factor": each}

    def extra_repr(self) -> str:
        amount = f"size={self.size!r}" if self.scale_factor is None else f"scale_factor={self.scale_factor!r}"
        return f"{amount}, mode={self.mode!r}"
