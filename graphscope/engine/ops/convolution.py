"""Convolution in 1, 2 and 3 dimensions, and its transpose.

Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core import correlation
from graphscope.engine.core.calls import define
from graphscope.engine.core.windows import Windows
from graphscope.engine.ops.reduce import sum

__all__ = ["conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"]


def each(name: str, what: str, value: Any, rank: int) -> tuple[int, ...]:
    """One number for all dims, or one for each.

    Raises:
        RuntimeError: There are others than 1 or `rank` numbers.
    """
    if isinstance(value, int | np.integer):
        return (int(value),) * rank
    sizes = tuple(int(part) for part in value)
    if len(sizes) == 1:
        return sizes * rank
    if len(sizes) != rank:
        raise RuntimeError(f"{name}: {what} is {tuple(value)}; it must be one number, or {rank}")
    return sizes


def _padding(name: str, padding: Any, kernel: Any, stride: Any, dilation: Any) -> tuple[Any, Any]:
    """What is padded in front and behind."""
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if padding == "same":
        if any(step != 1 for step in stride):
            raise RuntimeError(f"{name}: padding='same' is not supported for strided convolutions (stride={stride})")
        total = [d * (k - 1) for d, k in zip(dilation, kernel, strict=True)]
        return tuple(size // 2 for size in total), tuple(size - size // 2 for size in total)
    if isinstance(padding, str):
        raise RuntimeError(  # noqa: TRY004 - PyTorch's
            f"{name}: padding is {padding!r}; as text it must be 'same' or 'valid'"
        )
    low = each(name, "padding", padding, len(kernel))
    return low, low


def _check(name: str, input: Any, weight: Any, bias: Any, rank: int, channels: int, made: int, groups: int) -> None:
    shape, weights = tuple(input.shape), tuple(weight.shape)
    if len(weights) != rank + 2:
        raise RuntimeError(f"{name}: the weight must have {rank + 2} dims, not shape {weights}")
    if len(shape) not in (rank + 1, rank + 2):
        raise RuntimeError(
            f"{name}: the input must have {rank + 2} dims (samples, channels, ...), or {rank + 1} without samples, "
            f"not shape {shape}"
        )
    if groups < 1 or weights[0] % groups:
        raise RuntimeError(f"{name}: groups={groups} must divide dim 0 of the weight of shape {weights}")
    if shape[-rank - 1] != channels:
        raise RuntimeError(
            f"{name}: a weight of shape {weights} with groups={groups} takes {channels} channels, "
            f"but dim {len(shape) - rank - 1} of the input of shape {shape} is {shape[-rank - 1]}"
        )
    if bias is not None and tuple(bias.shape) != (made,):
        raise RuntimeError(
            f"{name}: the bias must have shape ({made},), one number a made channel, not {tuple(bias.shape)}"
        )


def _batched(rank: int, function: Callable[..., Any], x: Any, *others: Any) -> Any:
    """Call a function of samples with one sample too."""
    if x.ndim == rank + 2:
        return function(x, *others)
    return function(x[None], *others)[0]


def _with_bias(out: Any, bias: Any, rank: int) -> Any:
    if bias is not None:
        out += bias.reshape(-1, *(1,) * rank)
    return out


def _bias_rule(rank: int) -> Callable[..., Any]:
    def rule(g: Any) -> Any:
        dims = tuple(dim for dim in range(len(g.shape)) if dim != len(g.shape) - rank - 1)
        return sum(g, dims)

    return rule


def _define_conv(rank: int) -> Any:
    name = f"conv{rank}d"

    def prepare(
        input: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
    ) -> Any:
        _check(name, input, weight, bias, rank, weight.shape[1] * groups, weight.shape[0], groups)
        kernel = tuple(weight.shape[2:])
        steps, spacing = each(name, "stride", stride, rank), each(name, "dilation", dilation, rank)
        low, high = _padding(name, padding, kernel, steps, spacing)
        windows = Windows(kernel, steps, low, high, spacing)
        sizes = tuple(input.shape[-rank:])
        if any(count < 1 for count in windows.counts(sizes)):
            raise RuntimeError(
                f"{name}: a kernel that reaches over {windows.span} is larger than the padded input, "
                f"{tuple(a + b + c for a, b, c in zip(sizes, low, high, strict=True))}"
            )
        inputs = (input, weight) if bias is None else (input, weight, bias)
        return inputs, {"stride": steps, "padding": low, "dilation": spacing, "groups": groups, "_windows": windows}

    def forward(
        x: Any, y: Any, z: Any = None, *, stride: Any, padding: Any, dilation: Any, groups: int, _windows: Any
    ) -> Any:
        out = _batched(rank, lambda x: correlation.correlate(x, y, _windows, groups), x)
        return _with_bias(out, z, rank)

    def shape(x: Any, y: Any, *_: Any, _windows: Any, **__: Any) -> Any:
        return (*x[: -rank - 1], y[0], *_windows.counts(x[-rank:]))

    two = (2,) * rank
    return define(
        name, f"Convolution in {rank} dims: at each window of x, its elements times the weights y, plus the bias z.",
        tensor_method=False, grad_name="ConvolutionBackward0",
        prepare=prepare,
        forward=forward, accumulates=True,
        vjp=[lambda g, x, y, *, _windows, groups: conv_spread(g, y, _windows, groups, tuple(x.shape[-rank:])),
             lambda g, x, *, _windows, groups: conv_weigh(x, g, _windows, groups),
             _bias_rule(rank)],
        shape=shape,
        samples=[((2, 3, *(4,) * rank), (2, 3, *two), (2,)), ((1, 2, *(3,) * rank), (2, 1, *two), {"groups": 2}),
                 ((2, *(3,) * rank), (1, 2, *two)), ((1, 1, *(5,) * rank), (1, 1, *two), {"stride": 2, "padding": 1}),
                 ((1, 1, *(4,) * rank), (2, 1, *(3,) * rank), (2,), {"padding": "same"}),
                 ((1, 1, *(4,) * rank), (1, 1, *two), {"dilation": 2}), ((1, 2, *two), (3, 2, *(1,) * rank))],
    )  # fmt: skip


def _define_transposed(rank: int) -> Any:
    name = f"conv_transpose{rank}d"

    def prepare(
        input: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
    ) -> Any:
        _check(name, input, weight, bias, rank, weight.shape[0], weight.shape[1] * groups, groups)
        steps, spacing = each(name, "stride", stride, rank), each(name, "dilation", dilation, rank)
        low, more = each(name, "padding", padding, rank), each(name, "output_padding", output_padding, rank)
        if any(extra >= max(step, d) for extra, step, d in zip(more, steps, spacing, strict=True)):
            raise RuntimeError(
                f"{name}: output_padding={more} must be smaller than stride={steps} or dilation={spacing}"
            )
        windows = Windows(tuple(weight.shape[2:]), steps, low, low, spacing)
        sizes = _sizes_before(windows, tuple(input.shape[-rank:]), more)
        if any(size < 1 for size in sizes):
            raise RuntimeError(f"{name}: an input of shape {tuple(input.shape)} would make an output of sizes {sizes}")
        inputs = (input, weight) if bias is None else (input, weight, bias)
        attrs = {"stride": steps, "padding": low, "output_padding": more, "groups": groups, "dilation": spacing}
        return inputs, {**attrs, "_windows": windows}

    def forward(x: Any, y: Any, z: Any = None, *, groups: int, output_padding: Any, _windows: Any, **_: Any) -> Any:
        sizes = _sizes_before(_windows, x.shape[-rank:], output_padding)
        out = _batched(rank, lambda x: correlation.spread(x, y, _windows, groups, sizes), x)
        return _with_bias(out, z, rank)

    def shape(x: Any, y: Any, *_: Any, groups: int, output_padding: Any, _windows: Any, **__: Any) -> Any:
        made = None if y[1] is None else y[1] * groups
        return (*x[: -rank - 1], made, *_sizes_before(_windows, x[-rank:], output_padding))

    two = (2,) * rank
    return define(
        name, f"Transpose of convolution in {rank} dims: each element of x is spread over a window by the weights y.",
        formula="out[n, c] = z[c] + Σ_o y[o, c] * x[n, o]", tensor_method=False, grad_name="ConvolutionBackward0",
        prepare=prepare,
        forward=forward, accumulates=True,
        vjp=[lambda g, y, *, _windows, groups, output_padding: conv_correlate(
                 _reached(g, _windows, output_padding), y, _without(_windows, output_padding), groups),
             lambda g, x, *, _windows, groups, output_padding: conv_weigh(
                 _reached(g, _windows, output_padding), x, _without(_windows, output_padding), groups),
             _bias_rule(rank)],
        shape=shape,
        samples=[((2, 3, *(3,) * rank), (3, 2, *two), (2,)), ((1, 2, *two), (2, 1, *two), {"groups": 2, "dilation": 2}),
                 ((2, *two), (2, 1, *(3,) * rank), {"padding": 1}),
                 ((1, 1, *two), (1, 1, *(3,) * rank), {"stride": 2, "padding": 1, "output_padding": 1}),
                 ((1, 1, *two), (1, 1, *two), {"dilation": 3, "output_padding": 2})],
    )  # fmt: skip


def _reached(g: Any, windows: Windows, more: Any) -> Any:
    """The cotangent without the elements at the ends that no window reaches."""
    beyond = [max(extra - high, 0) for extra, high in zip(more, windows.high, strict=True)]
    sizes = g.shape[-len(more) :]
    ends = (slice(0, size - extra) for size, extra in zip(sizes, beyond, strict=True))
    return g[(..., *ends)] if any(beyond) else g


def _without(windows: Windows, more: Any) -> Windows:
    """The windows that the elements were spread over: the padding behind them is less by what is more at the ends."""
    high = tuple(max(high - extra, 0) for extra, high in zip(more, windows.high, strict=True))
    return Windows(windows.kernel, windows.stride, windows.low, high, windows.dilation)


def _sizes_before(windows: Windows, counts: Any, more: Any) -> tuple[Any, ...]:
    """The sizes of what has so many windows, and `more` elements that no window reaches."""
    parts = zip(counts, windows.stride, windows.low, windows.high, windows.span, more, strict=True)
    return tuple(
        None if count is None else (count - 1) * step - low - high + span + extra
        for count, step, low, high, span, extra in parts
    )


def _linear(name: str, doc: str, forward: Any, rules: Any, names: tuple[str, ...]) -> Any:
    """A gradient of convolution as an op of its own, so that it has gradients, too."""
    return define(
        name, doc, formula="out = ∂ (x ⋆ w) / ∂", tensor_method=False, torch=None,
        grad_name="ConvolutionBackwardBackward0",
        prepare=lambda x, y, *values: ((x, y), dict(zip(names, values, strict=True))),
        forward=forward, accumulates=True,
        vjp=rules,
        shape=lambda x, y, **attrs: forward_shape(forward, x, y, attrs),
        samples=_LINEAR_SAMPLES[name],
    )  # fmt: skip


def forward_shape(forward: Any, x: Any, y: Any, attrs: dict[str, Any]) -> Any:
    """The shape of what a forward makes, by running it on nothing but zeros."""
    return forward(np.broadcast_to(np.float32(0), x), np.broadcast_to(np.float32(0), y), **attrs).shape


_WINDOWS = Windows((2,), (2,), (1,), (1,), (1,))
_LINEAR_SAMPLES = {
    "conv_correlate": [((1, 1, 4), (1, 1, 2), _WINDOWS, 1)],
    "conv_spread": [((1, 1, 3), (1, 1, 2), _WINDOWS, 1, [4])],
    "conv_weigh": [((1, 1, 4), (1, 1, 3), _WINDOWS, 1)],
}


def _correlate(x: Any, y: Any, *, windows: Windows, groups: int) -> Any:
    return _batched(windows.rank, lambda x: correlation.correlate(x, y, windows, groups), x)


def _spread(x: Any, y: Any, *, windows: Windows, groups: int, sizes: Any) -> Any:
    return _batched(windows.rank, lambda x: correlation.spread(x, y, windows, groups, sizes), x)


def _weigh(x: Any, y: Any, *, windows: Windows, groups: int) -> Any:
    if x.ndim == windows.rank + 1:
        x, y = x[None], y[None]
    return correlation.weigh(x, y, windows, groups)


conv_correlate: Any = _linear(
    "conv_correlate", "Convolution: the gradient of its transpose.", _correlate,
    [lambda g, x, y, *, windows, groups: conv_spread(g, y, windows, groups, tuple(x.shape[-windows.rank :])),
     lambda g, x, *, windows, groups: conv_weigh(x, g, windows, groups)],
    ("windows", "groups"),
)  # fmt: skip

conv_spread: Any = _linear(
    "conv_spread", "Gradient of a convolution by its input.", _spread,
    [lambda g, y, *, windows, groups: conv_correlate(g, y, windows, groups),
     lambda g, x, *, windows, groups: conv_weigh(g, x, windows, groups)],
    ("windows", "groups", "sizes"),
)  # fmt: skip

conv_weigh: Any = _linear(
    "conv_weigh", "Gradient of a convolution by its weights.", _weigh,
    [lambda g, x, y, *, windows, groups: conv_spread(y, g, windows, groups, tuple(x.shape[-windows.rank :])),
     lambda g, x, *, windows, groups: conv_correlate(x, g, windows, groups)],
    ("windows", "groups"),
)  # fmt: skip

conv1d, conv2d, conv3d = (_define_conv(rank) for rank in (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = (_define_transposed(rank) for rank in (1, 2, 3))
