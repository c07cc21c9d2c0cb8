"""Convolutions and pooling, of pictures whose last dim is that of the channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.nn.functional import pad as _pad
from graphscope.errors import StaticError
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import listed, of_kinds, op, tensor

# TensorFlow has channels last, the engine first; and SAME pads by what the windows need, more behind than before.


def _steps(strides: Any, what: str, count: int = 2) -> tuple[int, ...]:
    """What a list of four, or of one for both, says of height and width."""
    given = listed(strides)
    if len(given) == count + 2:
        if given[0] != 1 or given[-1] != 1:
            raise StaticError(f"{what}={given} moves along batch or channels", hint=f"{what}=[1, 2, 2, 1]")
        return tuple(given[1:-1])
    return tuple(given * count if len(given) == 1 else given)


def _check(data_format: Any, padding: Any) -> str:
    if data_format not in (None, "NHWC", "NWC"):
        raise StaticError(f"data_format={data_format!r} is not here", hint="channels come last: NHWC; tf.transpose(x)")
    if padding not in ("SAME", "VALID"):
        raise StaticError(f"padding={padding!r} is none", hint="padding='SAME' or 'VALID'")
    return str(padding)


def _around(size: Any, window: int, step: int) -> tuple[int, int]:
    """How much SAME adds before and behind along a dim."""
    missing = max((-(-size // step) - 1) * step + window - size, 0)
    return missing // 2, missing - missing // 2


def _padded(x: Any, windows: tuple[int, ...], steps: tuple[int, ...], number: float = 0.0) -> Any:
    sides = [_around(size, window, step) for size, window, step in zip(x.shape[2:], windows, steps, strict=True)]
    if not any(before or behind for before, behind in sides):
        return x
    return _pad(x, tuple(each for side in reversed(sides) for each in side), "constant", number)


def _convolved(
    x: Any, kernel: Any, steps: tuple[int, ...], wide: tuple[int, ...], padding: str, groups: int = 1
) -> Any:
    if padding == "SAME":
        windows = tuple((size - 1) * each + 1 for size, each in zip(kernel.shape[2:], wide, strict=True))
        x = _padded(x, windows, steps)
    return op("conv2d", x, kernel, None, steps, 0, wide, groups)


def _first(x: Any) -> Any:
    """The channels first."""
    return op("permute", x, (0, 3, 1, 2))


def _last(x: Any) -> Any:
    return op("permute", x, (0, 2, 3, 1))


@offer("nn.conv2d", type="Conv2D")
def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None, use_cudnn_on_gpu: bool = True,
    data_format: Any = "NHWC", dilations: Any = (1, 1, 1, 1), name: Any = None, filters: Any = None,
) -> Any:  # fmt: skip
    """The products of windows of height and width with kernels [height, width, in, out]."""
    x = of_kinds(input, "f")
    kernel = tensor(filters if filter is None else filter, x.dtype)
    how = _check(data_format, padding)
    steps, wide = _steps(strides, "strides"), _steps(dilations, "dilations")
    return _last(_convolved(_first(x), op("permute", kernel, (3, 2, 0, 1)), steps, wide, how))


@offer("nn.conv1d", type="Squeeze", node="conv1d")
def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None, use_cudnn_on_gpu: Any = None,
    data_format: Any = None, name: Any = None, input: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """As `conv2d`, of sequences [batch, width, channels]."""
    x = of_kinds(input if value is None else value, "f")
    kernel = tensor(filters, x.dtype)
    how = _check(data_format, padding)
    step, wide = _steps(stride, "stride", 1), _steps(1 if dilations is None else dilations, "dilations", 1)
    tall, flat = op("unsqueeze", op("permute", x, (0, 2, 1)), 2), op("unsqueeze", op("permute", kernel, (2, 1, 0)), 2)
    return op("permute", op("squeeze", _convolved(tall, flat, (1, *step), (1, *wide), how), 2), (0, 2, 1))


@offer("nn.conv2d_transpose", type="Conv2DBackpropInput", node="conv2d_transpose")
def conv2d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None, padding: Any = "SAME",
    data_format: Any = "NHWC", name: Any = None, input: Any = None, filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """What `conv2d` does, turned round: each element spread by kernels [height, width, out, in]."""
    if dilations is not None:
        raise StaticError("conv2d_transpose takes no dilations here", hint="leave them out")
    x = of_kinds(input if value is None else value, "f")
    kernel = tensor(filters if filter is None else filter, x.dtype)
    how, steps, sizes = _check(data_format, padding), _steps(strides, "strides"), listed(output_shape)
    whole = op("conv_transpose2d", _first(x), op("permute", kernel, (3, 2, 0, 1)), None, steps)
    for dim, (size, window, step) in enumerate(zip(sizes[1:3], kernel.shape[:2], steps, strict=True), 2):
        before = _around(size, window, step)[0] if how == "SAME" else 0
        missing = before + size - whole.shape[dim]
        if missing > 0:
            sides = [0, missing] if dim == 3 else [0, 0, 0, missing]
            whole = _pad(whole, tuple(sides), "constant", 0.0)
        whole = whole.narrow(dim, before, size)
    return _last(whole)


@offer("nn.depthwise_conv2d", type="DepthwiseConv2dNative", node="depthwise")
def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: Any = None,
    data_format: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Each channel by kernels of its own, [height, width, in, so many of each]."""
    x = of_kinds(input, "f")
    kernel = tensor(filter, x.dtype)
    how = _check(data_format, padding)
    wide = _steps([1, 1] if rate is None and dilations is None else dilations if rate is None else rate, "rate")
    high, broad, channels, times = kernel.shape
    flat = op("reshape", op("permute", kernel, (2, 3, 0, 1)), (channels * times, 1, high, broad))
    return _last(_convolved(_first(x), flat, _steps(strides, "strides"), wide, how, channels))


@offer("nn.separable_conv2d", type="Conv2D", node="separable_conv2d")
def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, rate: Any = None,
    name: Any = None, data_format: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """`depthwise_conv2d`, and the channels mixed by a kernel of one element."""
    apart = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format, dilations)
    return conv2d(apart, pointwise_filter, [1, 1, 1, 1], "VALID")


# Pooling --------------------------------------------------------------------------------------------------------------


def _largest(x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any) -> Any:
    how, windows, steps = _check(data_format, padding), _steps(ksize, "ksize"), _steps(strides, "strides")
    first = _first(of_kinds(x, "f"))
    if how == "SAME":
        first = _padded(first, windows, steps, -np.inf)
    return _last(op("max_pool2d", first, windows, steps))


@offer("nn.max_pool", type="MaxPool")
def max_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: Any = None, input: Any = None
) -> Any:
    """The largest of each window."""
    return _largest(value if input is None else input, ksize, strides, padding, data_format)


@offer("nn.max_pool2d", type="MaxPool", node="MaxPool2d")
def max_pool2d(input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: Any = None) -> Any:
    """The largest of each window."""
    return _largest(input, ksize, strides, padding, data_format)


def _average(x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any) -> Any:
    how, windows, steps = _check(data_format, padding), _steps(ksize, "ksize"), _steps(strides, "strides")
    first = _first(of_kinds(x, "f"))
    if how == "VALID":
        return _last(op("avg_pool2d", first, windows, steps))
    one = op("add", op("mul", first, 0.0), 1.0)
    sums = op("avg_pool2d", _padded(first, windows, steps), windows, steps)
    return _last(op("div", sums, op("avg_pool2d", _padded(one, windows, steps), windows, steps)))


@offer("nn.avg_pool", "nn.avg_pool2d", type="AvgPool")
def avg_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: Any = None, input: Any = None
) -> Any:
    """The mean of each window, of what is in the picture."""
    return _average(value if input is None else input, ksize, strides, padding, data_format)
