"""Pooling: the largest, the mean or a norm of what lies in a window."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.convolution import for_each_dim
from graphscope.engine.nn.function_module import FunctionModule


class _Windows(FunctionModule):
    """Windows, which lie side by side unless told otherwise."""

    kernel_size: Any
    stride: Any = None
    padding: Any = 0

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        stride = settings["stride"]
        return {**settings, "stride": settings["kernel_size"] if stride is None else stride}


class _MaxPool(_Windows):
    shown = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
    dilation: Any = 1
    return_indices: bool = False
    ceil_mode: bool = False


class MaxPool1d(_MaxPool):
    """The largest in each window of the last dim."""

    function = functional.max_pool1d


class MaxPool2d(_MaxPool):
    """The largest in each window of the last two dims."""

    function = functional.max_pool2d


class MaxPool3d(_MaxPool):
    """The largest in each window of the last three dims."""

    function = functional.max_pool3d


class AvgPool1d(_Windows):
    """The mean of each window of the last dim."""

    function = functional.avg_pool1d
    shown = ("kernel_size", "stride", "padding")
    ceil_mode: bool = False
    count_include_pad: bool = True

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        settings = super().settled(settings)
        return {**settings, **{name: for_each_dim(settings[name], 1) for name in ("kernel_size", "stride", "padding")}}


class _AvgPool(_Windows):
    shown = ("kernel_size", "stride", "padding")
    ceil_mode: bool = False
    count_include_pad: bool = True
    divisor_override: int | None = None


class AvgPool2d(_AvgPool):
    """The mean of each window of the last two dims."""

    function = functional.avg_pool2d


class AvgPool3d(_AvgPool):
    """The mean of each window of the last three dims."""

    function = functional.avg_pool3d


class _Adaptive(FunctionModule):
    output_size: Any


class AdaptiveAvgPool1d(_Adaptive):
    """Means over windows of the last dim, so many as are wanted."""

    function = functional.adaptive_avg_pool1d


class AdaptiveAvgPool2d(_Adaptive):
    """Means over windows of the last two dims, so many as are wanted."""

    function = functional.adaptive_avg_pool2d


class AdaptiveAvgPool3d(_Adaptive):
    """Means over windows of the last three dims, so many as are wanted."""

    function = functional.adaptive_avg_pool3d


class _AdaptiveMax(_Adaptive):
    shown = ("output_size",)
    return_indices: bool = False


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest in windows of the last dim, so many as are wanted."""

    function = functional.adaptive_max_pool1d


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest in windows of the last two dims, so many as are wanted."""

    function = functional.adaptive_max_pool2d


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest in windows of the last three dims, so many as are wanted."""

    function = functional.adaptive_max_pool3d
