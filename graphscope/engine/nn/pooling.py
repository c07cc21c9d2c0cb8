"""Pooling: the largest, the mean or a norm of what lies in a window."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.convolution import for_each_dim
from graphscope.engine.nn.module import Module


class _MaxPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return getattr(functional, f"max_pool{self.dims}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest in each window of the last dim."""

    dims = 1


class MaxPool2d(_MaxPool):
    """The largest in each window of the last two dims."""

    dims = 2


class MaxPool3d(_MaxPool):
    """The largest in each window of the last three dims."""

    dims = 3


class _MaxUnpool(Module):
    dims: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = for_each_dim(kernel_size, self.dims)
        self.stride = for_each_dim(kernel_size if stride is None else stride, self.dims)
        self.padding = for_each_dim(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return getattr(functional, f"max_unpool{self.dims}d")(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """Puts what `MaxPool1d` took back to where it was, among zeros."""

    dims = 1


class MaxUnpool2d(_MaxUnpool):
    """Puts what `MaxPool2d` took back to where it was, among zeros."""

    dims = 2


class MaxUnpool3d(_MaxUnpool):
    """Puts what `MaxPool3d` took back to where it was, among zeros."""

    dims = 3


class _AvgPool(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        return getattr(functional, f"avg_pool{self.dims}d")(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The mean of each window of the last dim."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        stride = kernel_size if stride is None else stride
        super().__init__(
            for_each_dim(kernel_size, 1),
            for_each_dim(stride, 1),
            for_each_dim(padding, 1),
            ceil_mode,
            count_include_pad,
        )

    def forward(self, input: Any) -> Any:
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool2d(_AvgPool):
    """The mean of each window of the last two dims."""

    dims = 2


class AvgPool3d(_AvgPool):
    """The mean of each window of the last three dims."""

    dims = 3


class _LPPool(Module):
    dims: int

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return getattr(functional, f"lp_pool{self.dims}d")(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The p-norm of each window of the last dim."""

    dims = 1


class LPPool2d(_LPPool):
    """The p-norm of each window of the last two dims."""

    dims = 2


class LPPool3d(_LPPool):
    """The p-norm of each window of the last three dims."""

    dims = 3


class _Fractional(Module):
    dims: int

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        if (output_size is None) == (output_ratio is None):
            raise ValueError(f"{type(self).__name__} requires specifying either an output size, or a pooling ratio")

        def each(value: Any) -> Any:
            return value if value is None or isinstance(value, tuple | list) else (value,) * self.dims

        self.kernel_size, self.output_size, self.output_ratio = map(each, (kernel_size, output_size, output_ratio))
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)

    def forward(self, input: Any) -> Any:
        pool = getattr(functional, f"fractional_max_pool{self.dims}d")
        given = (self.kernel_size, self.output_size, self.output_ratio, self.return_indices)
        return pool(input, *given, _random_samples=self._random_samples)


class FractionalMaxPool2d(_Fractional):
    """Maxima over windows at random places of the last two dims."""

    dims = 2


class FractionalMaxPool3d(_Fractional):
    """Maxima over windows at random places of the last three dims."""

    dims = 3


class _Adaptive(Module):
    function: str

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return getattr(functional, self.function)(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_Adaptive):
    """Means over windows of the last dim, so many as are wanted."""

    function = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    """Means over windows of the last two dims, so many as are wanted."""

    function = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    """Means over windows of the last three dims, so many as are wanted."""

    function = "adaptive_avg_pool3d"


class _AdaptiveMax(_Adaptive):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__(output_size)
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return getattr(functional, self.function)(input, self.output_size, self.return_indices)


class AdaptiveMaxPool1d(_AdaptiveMax):
    """The largest in windows of the last dim, so many as are wanted."""

    function = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMax):
    """The largest in windows of the last two dims, so many as are wanted."""

    function = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMax):
    """The largest in windows of the last three dims, so many as are wanted."""

    function = "adaptive_max_pool3d"
