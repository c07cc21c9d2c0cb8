"""Batch normalization, as it is when evaluating, put into the weights of the layer before it."""

from __future__ import annotations

import copy
from typing import Any

from graphscope.engine.nn.parameter import Parameter
from graphscope.engine.ops.exponential import rsqrt
from graphscope.engine.ops.like_others import ones_like, zeros_like


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Any, Any]:
    """Weight and bias of a convolution that does what it and the normalization behind it do.

    Args:
        conv_w: The weight of the convolution, outputs first (second, if `transpose`).
        conv_b: Its bias, or None.
        bn_rm: The running mean.
        bn_rv: The running variance.
        bn_eps: What is added to that.
        bn_w: The weight of the normalization, or None.
        bn_b: Its bias, or None.
        transpose: Whether the convolution is a transposed one.
    """
    scale = rsqrt(bn_rv + bn_eps) * (ones_like(bn_rm) if bn_w is None else bn_w)
    shape = [1] * conv_w.ndim
    shape[int(transpose)] = -1
    bias = zeros_like(bn_rm) if conv_b is None else conv_b
    weight = conv_w * scale.reshape(shape)
    moved = (bias - bn_rm) * scale + (0.0 if bn_b is None else bn_b)
    return (
        Parameter(weight.detach().to(conv_w.dtype), conv_w.requires_grad),
        Parameter(moved.detach().to(bias.dtype), bias.requires_grad),
    )


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Any, Any]:
    """Weight and bias of a linear layer that does what it and the normalization behind it do."""
    return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what `conv` and then `bn` do when evaluating.

    Raises:
        AssertionError: One of them is training, or `bn` keeps no running statistics.
    """
    return _fused(conv, bn, transpose)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A linear layer that does what `linear` and then `bn` do when evaluating.

    Raises:
        AssertionError: One of them is training, their sizes differ, or `bn` keeps no running statistics.
    """
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    return _fused(linear, bn, False)


def _fused(layer: Any, bn: Any, transpose: bool) -> Any:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    made = copy.deepcopy(layer)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return made
