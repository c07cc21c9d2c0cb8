"""Linear maps of the last dim, of one input and of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.ops.einsum import einsum
from graphscope.engine.ops.linalg import matmul, outer
from graphscope.engine.ops.shape import reshape

__all__ = ["bilinear"]


def _linear(x: Any, y: Any, z: Any = None) -> Any:
    if x.ndim == 2:
        out = x.dot(y.T)
    elif x.ndim > 2 and x.size:
        out = x.reshape(-1, x.shape[-1]).dot(y.T).reshape(*x.shape[:-1], *y.shape[:-1])
    else:
        out = np.matmul(x, y.T)
    if z is not None:
        if out.__class__ is not np.ndarray:
            return out + z
        out += z
    return out


def _to_linear(input: Any, weight: Any, bias: Any = None) -> Any:
    shape, weights = input.shape, weight.shape
    if len(weights) not in (1, 2):
        raise RuntimeError(f"linear: the weight must be a matrix, not of shape {tuple(weights)}")
    if not len(shape) or shape[-1] != weights[-1]:
        raise RuntimeError(
            f"linear: operands of shape {tuple(shape)} and {tuple(weights)} do not fit: the last dim of the input is "
            f"{shape[-1] if len(shape) else 'missing'}, the weight takes {weights[-1]} features"
        )
    return (input, weight) if bias is None else (input, weight, bias), {}


def _linear_shape(x: Any, y: Any, z: Any = ()) -> Any:
    return shapes.matmul(x, y[::-1])


def _input_rule(g: Any, y: Any) -> Any:
    if len(y.shape) == 1:
        return g[..., None] * y if len(g.shape) else g * y
    return g @ y if len(g.shape) < 3 else matmul(g, y)


def _weight_rule(g: Any, x: Any, y: Any) -> Any:
    if len(y.shape) == 1:
        return g * x if len(x.shape) == 1 else reshape(g, (-1,)) @ reshape(x, (-1, x.shape[-1]))
    if len(g.shape) == 2:
        return g.T @ x
    return outer(g, x) if len(g.shape) == 1 else reshape(g, (-1, g.shape[-1])).T @ reshape(x, (-1, x.shape[-1]))


linear = define(
    "linear", "Linear map of the last dim: x times the transposed weight y, plus the bias z.",
    tensor_method=False, grad_name="AddmmBackward0", torch="nn.functional.linear",
    prepare=_to_linear,
    forward=_linear, accumulates=True,
    vjp=[_input_rule,
         _weight_rule,
         lambda g: g],
    shape=_linear_shape,
    samples=[((2, 3), (4, 3), (4,)), ((2, 3), (4, 3)), ((3,), (4, 3), (4,)), ((5, 2, 3), (4, 3), (4,)), ((2, 3), (3,))],
)  # fmt: skip


@composite(
    "Bilinear map of the last dims of two tensors.", formula="out[o] = x · W[o] · y + b[o]",
    samples=[((2, 3), (2, 4), (5, 3, 4), (5,)), ((2, 2, 3), (2, 2, 2), (1, 3, 2)), ((3,), (4,), (5, 3, 4))],
    shape=lambda x, y, z, *_, **__: (*x[:-1], z[0]), torch="nn.functional.bilinear",
)  # fmt: skip
def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """Bilinear map of the last dims of two tensors: for each made feature, a matrix between them."""
    if tuple(weight.shape[1:]) != (input1.shape[-1], input2.shape[-1]):
        raise RuntimeError(
            f"bilinear: a weight of shape {tuple(weight.shape)} takes {weight.shape[1]} and {weight.shape[2]} "
            f"features, not {input1.shape[-1]} and {input2.shape[-1]}"
        )
    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias
