"""Convolutions and transposed convolutions, in 1, 2 and 3 dimensions."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

from graphscope.engine.core.settings import Declared
from graphscope.engine.nn import functional, init
from graphscope.engine.nn.module import Module
from graphscope.engine.nn.parameter import blank

PADDING_MODES: Final = ("zeros", "reflect", "replicate", "circular")


def for_each_dim(value: Any, dims: int) -> Any:
    """One number for each dim."""
    return tuple(value) if isinstance(value, tuple | list) else (value,) * dims


class _ConvNd(Declared, Module):
    """What convolutions of both kinds have: settings, a weight and a bias."""

    dims: ClassVar[int]
    transposed: ClassVar[bool] = False
    in_channels: int
    out_channels: int
    kernel_size: Any
    stride: Any = 1
    padding: Any = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        settings = self.given(args, kwargs)
        bias, dtype, _ = (settings.pop(name) for name in ("bias", "dtype", "device"))
        for name in ("kernel_size", "stride", "padding", "dilation", "output_padding"):
            value = settings.get(name, 0)
            settings[name] = value if isinstance(value, str) else for_each_dim(value, self.dims)
        for name, value in settings.items():
            setattr(self, name, value)
        self._check()
        channels = (self.in_channels, self.out_channels)
        rows, columns = channels if self.transposed else channels[::-1]
        self.weight = blank(rows, columns // self.groups, *self.kernel_size, dtype=dtype)
        self.register_parameter("bias", blank(self.out_channels, dtype=dtype) if bias else None)
        self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"{name} must be divisible by groups: {getattr(self, name)} is not by {self.groups}")
        if isinstance(self.padding, str):
            if self.padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {self.padding!r}, should be 'same' or 'valid'")
            if self.padding == "same" and any(step != 1 for step in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.transposed and self.padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        if self.padding_mode not in PADDING_MODES:
            raise ValueError(f"padding_mode must be one of {PADDING_MODES}, but got padding_mode='{self.padding_mode}'")

    def reset_parameters(self) -> None:
        """Draw the weight and the bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            bound = 1 / math.sqrt(fan_in) if fan_in else 0.0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        shown = {
            "padding": self.padding if any(self.padding) else None,
            "dilation": self.dilation if any(step != 1 for step in self.dilation) else None,
            "output_padding": self.output_padding if any(self.output_padding) else None,
            "groups": self.groups if self.groups != 1 else None,
            "bias": False if self.bias is None else None,
            "padding_mode": self.padding_mode if self.padding_mode != "zeros" else None,
        }
        head = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        return "".join([head, *(f", {name}={value}" for name, value in shown.items() if value is not None)])


class _Convolution(_ConvNd):
    dilation: Any = 1
    groups: int = 1
    bias: Any = True
    padding_mode: str = "zeros"
    device: Any = None
    dtype: Any = None

    def forward(self, input: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._edges(), mode=self.padding_mode)
            padding = 0
        convolve = getattr(functional, f"conv{self.dims}d")
        return convolve(input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups)

    def _edges(self) -> list[int]:
        """How much to pad at either side of each dim, the last dim first, as `functional.pad` takes it."""
        if self.padding == "valid":
            return [0, 0] * self.dims
        if self.padding == "same":
            totals = [step * (size - 1) for step, size in zip(self.dilation, self.kernel_size, strict=True)]
            return [edge for total in reversed(totals) for edge in (total // 2, total - total // 2)]
        return [edge for edge in reversed(for_each_dim(self.padding, self.dims)) for _ in range(2)]


class Conv1d(_Convolution):
    """Convolution over the last dim of (N, C, L)."""

    dims = 1


class Conv2d(_Convolution):
    """Convolution over the last two dims of (N, C, H, W)."""

    dims = 2


class Conv3d(_Convolution):
    """Convolution over the last three dims of (N, C, D, H, W)."""

    dims = 3


class _Transposed(_ConvNd):
    transposed = True
    output_padding: Any = 0
    groups: int = 1
    bias: Any = True
    dilation: Any = 1
    padding_mode: str = "zeros"
    device: Any = None
    dtype: Any = None

    def forward(self, input: Any, output_size: Any = None) -> Any:
        extra = self.output_padding if output_size is None else self._padding_for(input, list(output_size))
        convolve = getattr(functional, f"conv_transpose{self.dims}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _padding_for(self, input: Any, output_size: list[int]) -> tuple[int, ...]:
        """The output padding that leads to the wanted size."""
        if len(output_size) == input.ndim:
            output_size = output_size[-self.dims :]
        if len(output_size) != self.dims:
            raise ValueError(
                f"{type(self).__name__}: for a {input.ndim}D input, output_size must have {self.dims} or "
                f"{input.ndim} elements (got {len(output_size)})"
            )
        smallest = [
            (length - 1) * step - 2 * pad + spread * (size - 1) + 1
            for length, step, pad, spread, size in zip(
                input.shape[-self.dims :], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        largest = [least + step - 1 for least, step in zip(smallest, self.stride, strict=True)]
        if any(not least <= size <= most for least, size, most in zip(smallest, output_size, largest, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {tuple(input.shape[-self.dims :])})"
            )
        return tuple(size - least for size, least in zip(output_size, smallest, strict=True))


class ConvTranspose1d(_Transposed):
    """The transposed convolution over the last dim of (N, C, L)."""

    dims = 1


class ConvTranspose2d(_Transposed):
    """The transposed convolution over the last two dims of (N, C, H, W)."""

    dims = 2


class ConvTranspose3d(_Transposed):
    """The transposed convolution over the last three dims of (N, C, D, H, W)."""

    dims = 3
