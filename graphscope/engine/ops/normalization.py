"""Normalization: elements less their mean, over their standard deviation, by batch, layer, group or instance.

All four are one computation on the input in another shape: statistics over some of its dims, a weight and a bias along
others. Source of the gradients: Ioffe and Szegedy, "Batch normalization", 2015, section 3.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from graphscope.engine.core import modes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.fused import fused
from graphscope.engine.core.layer_loops import normalized, normalized_rule
from graphscope.engine.core.moments import moments
from graphscope.engine.core.op import joint
from graphscope.engine.core.precision import SINGLE, converted, is_half, widened
from graphscope.engine.core.sums import sums
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.exponential import rsqrt
from graphscope.engine.ops.reduce import mean, sum
from graphscope.engine.ops.shape import reshape

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


def _inverse_root(variance: Any, eps: float) -> Any:
    out = variance + eps
    np.sqrt(out, out)
    return np.reciprocal(out, out)


def _normalized(x: Any, y: Any, z: Any, *, eps: float, _shape: Any, _dims: Any, _affine: Any, **_: Any) -> Any:
    """The output in another shape, the mean, the variance and one over its root."""
    x = x.reshape(_shape)
    centre, variance = (each.astype(x.dtype, copy=False) for each in moments(x, _dims))
    out = x - centre
    scale = _inverse_root(variance, eps)
    out *= scale
    if y is not None:
        out *= y.reshape(_affine)
    if z is not None:
        out += z.reshape(_affine)
    return out, centre, variance, scale


def _forward(x: Any, y: Any = None, z: Any = None, **attrs: Any) -> Any:
    if attrs["_dims"] == (1,):
        found = normalized(x, y, z, attrs["_shape"][1], attrs["eps"])
        if found is not None:
            return found[0], found[1:]
    out, centre, _, scale = _normalized(x, y, z, **attrs)
    return out.reshape(x.shape), (centre, scale)


def _outside(affine: Any) -> tuple[int, ...]:
    return tuple(dim for dim, size in enumerate(affine) if size == 1)


def _rule(g: Any, x: Any, y: Any, z: Any, residuals: Any, *, eps: float, _shape: Any, _dims: Any, _affine: Any) -> Any:
    return _gradients(g, x, y, z, eps, _shape, _dims, _affine)


def _gradients(g: Any, x: Any, y: Any, z: Any, eps: float, shape: Any, dims: Any, affine: Any) -> Any:
    flat, g = reshape(x, shape), reshape(g, shape)
    rest = flat - mean(flat, dims, True)
    scale = rsqrt(mean(rest * rest, dims, True) + eps)
    unit = rest * scale
    inner = g if y is None else g * reshape(y, affine)
    gx = scale * (inner - mean(inner, dims, True) - unit * mean(inner * unit, dims, True))
    gy = None if y is None else reshape(sum(g * unit, _outside(affine)), y.shape)
    gz = None if z is None else reshape(sum(g, _outside(affine)), z.shape)
    return reshape(gx, x.shape), gy, gz


def _rule_on_arrays(
    g: Any, x: Any, y: Any, z: Any, residuals: Any, *, eps: float, _shape: Any, _dims: Any, _affine: Any
) -> Any:
    centre, scale = residuals
    if _dims == (1,):
        found = normalized_rule(g, x, y, z, centre, scale)
        if found is not None:
            return found
    return _gradients_on_arrays(g, x, y, z, centre, scale, _shape, _dims, _affine)


def _gradients_on_arrays(
    g: Any, x: Any, y: Any, z: Any, centre: Any, scale: Any, shape: Any, dims: Any, affine: Any
) -> Any:
    g = g.reshape(shape)
    unit = x.reshape(shape) - centre
    unit *= scale
    count = x.dtype.type(max(math.prod(shape[dim] for dim in dims), 1))
    product = g * unit
    outside = _outside(affine)
    gy = gz = None
    if z is not None:
        gz = sums(g, outside).reshape(z.shape)
    if y is not None:
        gy = sums(product, outside).reshape(y.shape)
        weight = y.reshape(affine)
        g = g * weight
        product *= weight
    unit *= sums(product, dims) / count
    gx = np.subtract(g, unit, out=unit)
    gx -= sums(g, dims) / count
    gx *= scale
    return gx.reshape(x.shape), gy, gz


def _normalization(name: str, doc: str, prepare: Any, samples: Any, grad_name: str, **formula: Any) -> Any:
    rule = joint(fused(_rule, _rule_on_arrays))
    return define(
        name, doc, tensor_method=False, grad_name=grad_name, residuals=True,
        prepare=prepare,
        forward=_forward, accumulates=True,
        vjp=[rule, rule, rule],
        shape=shapes.same,
        samples=samples,
        **formula,
    )  # fmt: skip


def _affine_inputs(input: Any, weight: Any, bias: Any) -> Any:
    if input.dtype.kind != "f":
        raise RuntimeError(f"the input is {input.dtype}; it must be floating: convert it with x.float()")
    if is_half(input.dtype):  # parameters may be of single precision, as they are where only layers of the rest are not
        weight, bias = (each if each is None else converted(each, input.dtype) for each in (weight, bias))
    return (input, weight, bias)


def _to_layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    inner = tuple(normalized_shape) if isinstance(normalized_shape, list) else normalized_shape
    parameters = [None if each is None else each.shape for each in (weight, bias)]
    return _affine_inputs(input, weight, bias), _layer_layout(input.shape, inner, eps, *parameters)


@functools.lru_cache(256)
def _layer_layout(shape: Any, normalized_shape: Any, eps: float, *parameters: Any) -> dict[str, Any]:
    inner = normalized_sizes("layer_norm", shape, normalized_shape, *parameters)
    count = math.prod(inner)
    whole = (math.prod(shape[: len(shape) - len(inner)]), count)
    return {"normalized_shape": inner, "eps": eps, "_shape": whole, "_dims": (1,), "_affine": (1, count)}


def normalized_sizes(name: str, given: Any, normalized_shape: Any, *parameters: Any) -> tuple[int, ...]:
    """The last sizes of a shape, over which it is normalized, and which those of the parameters are."""
    inner = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    shape = tuple(given)
    if not inner or shape[len(shape) - len(inner) :] != inner:
        raise RuntimeError(f"{name}: normalized_shape={inner} must be the last sizes of the input of shape {shape}")
    for parameter in parameters:
        if parameter is not None and tuple(parameter) != inner:
            raise RuntimeError(
                f"{name}: weight and bias must have shape normalized_shape={inner}, not {tuple(parameter)}"
            )
    return inner


layer_norm = _normalization(
    "layer_norm", "The last dims less their mean, over their standard deviation, times the weight y, plus the bias z.",
    _to_layer_norm,
    [((2, 3), {"normalized_shape": (3,)}), ((2, 3), [3], (3,), (3,)), ((2, 2, 3), [2, 3], (2, 3), (2, 3))],
    "NativeLayerNormBackward0",
)  # fmt: skip


def _to_group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    shape = tuple(input.shape)
    if len(shape) < 2 or num_groups < 1 or shape[1] % num_groups:
        raise RuntimeError(f"group_norm: num_groups={num_groups} must divide the channels (dim 1) of shape {shape}")
    _check_channels("group_norm", shape, weight, bias)
    whole = (shape[0], num_groups, shape[1] // num_groups, math.prod(shape[2:]))
    return _affine_inputs(input, weight, bias), {
        "num_groups": num_groups, "eps": eps, "_shape": whole, "_dims": (2, 3), "_affine": (1, *whole[1:3], 1)
    }  # fmt: skip


def _check_channels(name: str, shape: tuple[int, ...], *parameters: Any) -> None:
    for parameter in parameters:
        if parameter is not None and tuple(parameter.shape) != (shape[1],):
            raise RuntimeError(
                f"{name}: weight, bias and statistics must have shape ({shape[1]},), one number for each channel "
                f"(dim 1) of the input of shape {shape}, not {tuple(parameter.shape)}"
            )


group_norm = _normalization(
    "group_norm",
    "Groups of channels less their mean, over their standard deviation, times the weight y, plus the bias z.",
    _to_group_norm,
    [((2, 4, 3), {"num_groups": 2}), ((2, 6), 2, (6,), (6,)), ((1, 2, 2, 2), 1, (2,), (2,))],
    "NativeGroupNormBackward0", formula="out = (x - mean x) / √(var x + eps) · y + z",
)  # fmt: skip


def _channel_layout(shape: Any) -> tuple[Any, Any, Any]:
    """Of samples by channels by any dims: the shape, the dims that statistics are over, and the shape of these."""
    if len(shape) == 2:
        return shape, (0,), (1, shape[1])
    return (*shape[:2], math.prod(shape[2:])), (0, 2), (1, shape[1], 1)


def _batch_forward(x: Any, y: Any = None, z: Any = None, **attrs: Any) -> Any:
    out, centre, variance, scale = _normalized(x, y, z, **attrs)
    return (out.reshape(x.shape), centre.reshape(-1), variance.reshape(-1)), (centre, scale)


def _batch_rule(
    g: Any, x: Any, y: Any, z: Any, residuals: Any, *, eps: float, _shape: Any, _dims: Any, _affine: Any
) -> Any:
    gx, gy, gz = _gradients(g[0], x, y, z, eps, _shape, _dims, _affine)
    return gx + _moments_rule(g, x, mean(reshape(x, _shape), _dims, True), _shape, _affine), gy, gz


def _moments_rule(g: Any, x: Any, centre: Any, shape: Any, affine: Any) -> Any:
    """The share of the gradient that comes by mean and variance."""
    towards, widening = reshape(g[1], affine), reshape(g[2], affine)
    count = shape[0] * math.prod(shape[2:])
    return reshape((towards + (reshape(x, shape) - centre) * widening * 2) / count, x.shape)


def _batch_rule_on_arrays(
    g: Any, x: Any, y: Any, z: Any, residuals: Any, *, eps: float, _shape: Any, _dims: Any, _affine: Any
) -> Any:
    centre, scale = residuals
    gx, gy, gz = _gradients_on_arrays(g[0], x, y, z, centre, scale, _shape, _dims, _affine)
    if g[1].any() or g[2].any():
        gx = gx + _moments_rule(g, x, centre, _shape, _affine)
    return gx, gy, gz


def _to_batch(input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    shape, dims, affine = _channel_layout(tuple(input.shape))
    return _affine_inputs(input, weight, bias), {"eps": eps, "_shape": shape, "_dims": dims, "_affine": affine}


_by_batch = define(
    "native_batch_norm",
    "Channels less their mean, over their standard deviation, times the weight y, plus the bias z; and these two.",
    torch=None,
    formula="out = (x - mean x) / √(var x + eps) · y + z", tensor_method=False,
    outputs=("output", "mean", "variance"), residuals=True, grad_name="NativeBatchNormBackward0",
    prepare=_to_batch,
    forward=_batch_forward, accumulates=True,
    vjp=[joint(fused(_batch_rule, _batch_rule_on_arrays))] * 3,
    shape=lambda x, *_, **__: [x, x[1:2], x[1:2]],
    samples=[((3, 2, 2), (2,), (2,)), ((3, 2),), ((2, 2, 2, 2), (2,), (2,))],
)  # fmt: skip


def _by_statistics_forward(x: Any, y: Any, z: Any, w: Any, v: Any, *, eps: float) -> Any:
    affine = (-1, *(1,) * (x.ndim - 2))
    scale = 1 / np.sqrt(v + eps)
    if y is not None:
        scale = scale * y
    out = x - w.reshape(affine)
    out *= scale.reshape(affine)
    if z is not None:
        out += z.reshape(affine)
    return out


def _by_statistics_rule(g: Any, inputs: Any, *, eps: float) -> Any:
    x, y, _, centre, variance = inputs
    affine = (-1, *(1,) * (len(x.shape) - 2))
    outside = (0, *range(2, len(x.shape)))
    scale = rsqrt(variance + eps)
    total, product = sum(g, outside), sum(g * (x - reshape(centre, affine)), outside)
    whole = scale if y is None else scale * y
    slope = product * whole * scale * scale * -0.5
    return g * reshape(whole, affine), product * scale, total, total * -whole, slope


_by_statistics = define(
    "batch_norm_eval", "Channels less a given mean, over a given standard deviation, times a weight, plus a bias.",
    formula="out = (x - mean) / √(var + eps) · y + z", tensor_method=False, torch=None, promotes=False,
    grad_name="NativeBatchNormBackward0",
    prepare=lambda x, y, z, w, v, eps=1e-5: ((x, y, z, w, v), {"eps": eps}),
    forward=_by_statistics_forward, accumulates=True,
    vjp=[joint(_by_statistics_rule)] * 5,
    shape=shapes.same,
    samples=[((3, 2, 2), (2,), (2,), np.array([0.1, -0.2]), np.array([0.5, 1.5]))],
)  # fmt: skip


def _follow(running: Any, found: Any, momentum: float, factor: float = 1.0) -> None:
    """Move a running statistic towards what was found."""
    if running is not None:
        with modes.no_grad():
            running.mul_(1 - momentum).add_(found.detach() * (momentum * factor))


def batch_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel (dim 1) less its mean, over its standard deviation, times the weight, plus the bias.

    Args:
        input: Samples by channels by any dims.
        running_mean: The mean of each channel so far; used when not training, moved when training.
        running_var: The same of the variance.
        weight: A factor for each channel.
        bias: A term for each channel.
        training: Whether statistics are those of the input.
        momentum: How far the running statistics move.
        eps: Keeps the divisor off 0.

    Raises:
        RuntimeError: Statistics or parameters do not fit the channels.
        ValueError: In training there is one element a channel: its variance is none.
    """
    if is_half(input.dtype) and any(each is not None and each.dtype == SINGLE for each in (running_mean, weight)):
        whole = converted(input, SINGLE)
        out = batch_norm(whole, running_mean, running_var, weight, bias, training, momentum, eps)
        return converted(out, input.dtype)
    shape = tuple(input.shape)
    if len(shape) < 2:
        raise RuntimeError(f"batch_norm: the input must have at least 2 dims, samples and channels, not shape {shape}")
    _check_channels("batch_norm", shape, running_mean, running_var, weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm: running_mean and running_var must be given when not training")
        return _by_statistics(input, weight, bias, running_mean, running_var, eps)
    count = math.prod(shape) // max(shape[1], 1)
    if count == 1:
        raise ValueError(f"batch_norm: expected more than 1 value per channel when training, got input size {shape}")
    out, centre, variance = _by_batch(input, weight, bias, eps)
    _follow(running_mean, centre, momentum)
    _follow(running_var, variance, momentum, count / max(count - 1, 1))
    return out


def instance_norm(
    input: Tensor,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Each channel of each sample less its mean, over its standard deviation, times the weight, plus the bias.

    Raises:
        RuntimeError: Statistics or parameters do not fit the channels.
        ValueError: There is one element a channel.
    """
    shape = tuple(input.shape)
    _check_channels("instance_norm", shape, running_mean, running_var, weight, bias)
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    size = math.prod(shape[2:])
    if size == 1:
        raise ValueError(f"instance_norm: expected more than 1 spatial element when training, got input size {shape}")
    if running_mean is not None:
        found = moments(widened(input.array).reshape(*shape[:2], size), (2,))
        centre, variance = (Tensor(each.mean((0, 2)).astype(running_mean.dtype)) for each in found)
        _follow(running_mean, centre, momentum)
        _follow(running_var, variance, momentum, size / (size - 1))
    return group_norm(input, shape[1], weight, bias, eps)
