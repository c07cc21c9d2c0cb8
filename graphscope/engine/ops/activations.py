"""Activations with corners: piecewise linear and piecewise smooth functions, elementwise.

At a corner each takes the side that PyTorch takes (`derivatives.yaml` and the kernels in `aten/src/ATen/native/cpu`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.formulas import in_one_pass
from graphscope.engine.core.fused import fused, in_blocks
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.exponential import exp
from graphscope.engine.ops.index import where
from graphscope.engine.ops.shape import reshape

__all__ = ["celu", "prelu", "selu", "threshold"]

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def _piecewise(name: str, doc: str, forward: Any, rule: Any, samples: Any, **more: Any) -> Any:
    return define(
        name, doc, tensor_method=False, forward=forward, vjp=[rule], shape=shapes.same,
        samples=samples, **more,
    )  # fmt: skip


def _between(g: Any, x: Any, low: float, high: float) -> Any:
    return where((x <= low) + (x >= high), 0.0, g)


def _to_hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0) -> Any:
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: {min_val} and {max_val}")
    return (input,), {"min_val": min_val, "max_val": max_val}


def _hardtanh(x: Any, *, min_val: float, max_val: float) -> Any:
    if x.dtype.kind == "u" and min_val < 0:
        raise ValueError(f"{x.dtype} has no numbers as low as min_val={min_val}")
    return np.clip(x, dtypes.element(min_val, x.dtype), dtypes.element(max_val, x.dtype))


hardtanh = _piecewise(
    "hardtanh", "Elements below min_val become min_val, those above max_val become max_val.",
    dtypes.only("if", _hardtanh),
    lambda g, x, *, min_val, max_val: _between(g, x, min_val, max_val),
    prepare=_to_hardtanh,
    samples=[((2, 3),), ((2, 3), {"min_val": -0.5, "max_val": 0.2}), ((),)],
)  # fmt: skip

relu6 = _piecewise(
    "relu6", "Elements below 0 become 0, those above 6 become 6.",
    dtypes.only("if", lambda x: np.clip(x, 0, 6)),
    lambda g, x: _between(g, x, 0, 6),
    grad_name="HardtanhBackward0",
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _leaky(x: Any, *, negative_slope: float) -> Any:
    return np.maximum(x, x * negative_slope) if negative_slope <= 1 else np.minimum(x, x * negative_slope)


def _leaky_slope(out: Any, g: Any, x: Any, *, negative_slope: float) -> None:
    np.multiply(g, negative_slope, out=out)
    np.copyto(out, g, where=x > 0)


leaky_relu = _piecewise(
    "leaky_relu", "Rectifier that lets a share of what is negative through.",
    in_one_pass("leaky_relu", dtypes.only("f", _leaky)),
    fused(lambda g, x, *, negative_slope: where(x > 0, g, g * negative_slope),
          in_one_pass("leaky_relu_rule", partial(in_blocks, _leaky_slope))),
    prepare=lambda input, negative_slope=0.01: ((input,), {"negative_slope": negative_slope}),
    samples=[((2, 3),), ((2, 3), {"negative_slope": 0.2}), ((),)],
)  # fmt: skip


def _elu(x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    if x.dtype.itemsize < 4:
        return np.where(x <= 0, np.expm1(np.minimum(x, 0) * input_scale) * (alpha * scale), x * scale)[()]
    return in_blocks(_elu_kernel, x, buffers=1, alpha=alpha, scale=scale, input_scale=input_scale)


def _elu_kernel(out: Any, x: Any, t: Any, *, alpha: float, scale: float, input_scale: float) -> None:
    """With t = tanh(x / 2), e^x - 1 is 2 t / (1 - t): as exact for x below 0, and quicker than `np.expm1`."""
    np.minimum(x, 0, out=t)
    t *= 0.5 * input_scale
    np.tanh(t, out=t)
    np.subtract(1, t, out=out)
    np.divide(t, out, out=out)
    out *= 2 * alpha * scale
    np.maximum(x, 0, out=t)
    t *= scale
    out += t


def _elu_rule(g: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    below = where(x <= 0, x, 0.0)
    return where(x <= 0, g * exp(below * input_scale) * (alpha * scale * input_scale), g * scale)


def _elu_slope(out: Any, g: Any, x: Any, above: Any, *, alpha: float, scale: float, input_scale: float) -> None:
    np.minimum(x, 0, out=out)
    out *= input_scale
    np.exp(out, out=out)
    out *= alpha * scale * input_scale
    out *= g
    np.multiply(g, scale, out=above)
    np.copyto(out, above, where=~(x <= 0))


def _exponential(name: str, prepare: Any, samples: Any, grad_name: str) -> Any:
    return _piecewise(
        name, "Linear above 0, an exponential that levels off below.",
        in_one_pass("elu", dtypes.only("f", _elu)),
        fused(_elu_rule, in_one_pass("elu_rule", partial(in_blocks, _elu_slope, buffers=1))), samples,
        prepare=prepare, grad_name=grad_name,
    )  # fmt: skip


def _scales(alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> dict[str, float]:
    return {"alpha": alpha, "scale": scale, "input_scale": input_scale}


elu = _exponential(
    "elu", lambda input, alpha=1.0: ((input,), _scales(alpha)),
    [((2, 3),), ((2, 3), {"alpha": 0.5}), ((),)], "EluBackward0",
)  # fmt: skip


celu = _exponential(
    "celu", lambda input, alpha=1.0: ((input,), _scales(alpha, 1.0, 1.0 / alpha)),
    [((2, 3),), ((2, 3), {"alpha": 0.5}), ((),)], "CeluBackward0",
)  # fmt: skip

selu = _exponential(
    "selu", lambda input: ((input,), _scales(_SELU_ALPHA, _SELU_SCALE)), [((2, 3),), ((),)], "EluBackward0",
)  # fmt: skip

threshold = _piecewise(
    "threshold", "Elements that are not above a threshold become a value.",
    dtypes.only("if", lambda x, *, threshold, value: np.where(
        x <= dtypes.wide_element(threshold, x.dtype), x.dtype.type(dtypes.wide_element(value, x.dtype)), x)[()]),
    lambda g, x, *, threshold: where(x <= threshold, 0.0, g),
    prepare=lambda input, threshold, value: ((input,), {"threshold": threshold, "value": value}),
    samples=[((2, 3), {"threshold": 0.1, "value": 0.5}), ((), {"threshold": 0.1, "value": 0.5})],
)  # fmt: skip


hardsigmoid = _piecewise(
    "hardsigmoid", "Piecewise linear sigmoid.",
    dtypes.only("f", lambda x: np.clip(x + 3, 0, 6) / 6),
    lambda g, x: where((x > -3) * (x < 3), g / 6, 0.0),
    samples=[((2, 3),), ((),)],
)  # fmt: skip

hardswish = _piecewise(
    "hardswish", "x times a piecewise linear sigmoid of x.",
    dtypes.only("f", lambda x: x * np.clip(x + 3, 0, 6) / 6),
    lambda g, x: where(x <= -3, 0.0, where(x < 3, g * (x / 3 + 0.5), g)),
    samples=[((2, 3),), ((),)],
)  # fmt: skip

_prelu = define(
    "prelu", "Rectifier that lets a learned share y of what is negative through.",
    tensor_method=False, grad_name="PreluKernelBackward0", torch=None, promotes=False,
    forward=dtypes.only("f", lambda x, y: np.where(x > 0, x, y * x)[()]),
    vjp=[lambda g, x, y: where(x > 0, g, g * y),
         lambda g, x: where(x > 0, 0.0, g * x)],
    shape=shapes.broadcast,
    samples=[((2, 3), (1,)), ((2, 3), (3,)), ((2, 3, 2), (3, 1))],
)  # fmt: skip


def prelu(input: Tensor, weight: Tensor) -> Tensor:
    """Rectifier that lets a learned share of what is negative through.

    Args:
        input: Of any shape; its channels are dim 1.
        weight: A single share, or one for each channel.

    Raises:
        RuntimeError: There are neither one nor as many shares as channels.
    """
    count, rank = int(np.prod(weight.shape)), len(input.shape)
    if count != 1 and (rank == 0 or count != input.shape[1 if rank > 1 else 0]):
        raise RuntimeError(
            f"prelu: a weight of {count} elements does not fit an input of shape {tuple(input.shape)}: "
            "it has one element, or one for each channel (dim 1)"
        )
    shape = (1,) * min(rank, 1) if count == 1 else (count,) + (1,) * max(rank - 2, 0)
    return _prelu(input, weight if tuple(weight.shape) == shape else reshape(weight, shape))  # type: ignore[no-any-return]


setattr(Tensor, "prelu", prelu)  # noqa: B010
