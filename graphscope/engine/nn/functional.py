"""What layers compute, as functions, in the spelling of `torch.nn.functional`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.ops import activations as _activations
from graphscope.engine.ops import dropout as _dropout
from graphscope.engine.ops import smooth_activations as _smooth
from graphscope.engine.ops.attention import scaled_dot_product_attention as scaled_dot_product_attention
from graphscope.engine.ops.bags import embedding_bag as embedding_bag
from graphscope.engine.ops.classification import cross_entropy as cross_entropy
from graphscope.engine.ops.classification import nll_loss as nll_loss
from graphscope.engine.ops.convolution import conv1d as conv1d
from graphscope.engine.ops.convolution import conv2d as conv2d
from graphscope.engine.ops.convolution import conv3d as conv3d
from graphscope.engine.ops.convolution import conv_transpose1d as conv_transpose1d
from graphscope.engine.ops.convolution import conv_transpose2d as conv_transpose2d
from graphscope.engine.ops.convolution import conv_transpose3d as conv_transpose3d
from graphscope.engine.ops.ctc import ctc_loss as ctc_loss
from graphscope.engine.ops.distances import cosine_similarity as cosine_similarity
from graphscope.engine.ops.distances import normalize as normalize
from graphscope.engine.ops.distances import pairwise_distance as pairwise_distance
from graphscope.engine.ops.embedding import embedding as embedding
from graphscope.engine.ops.embedding import one_hot as one_hot
from graphscope.engine.ops.exponential import sigmoid as sigmoid
from graphscope.engine.ops.grids import affine_grid as affine_grid
from graphscope.engine.ops.grids import grid_sample as grid_sample
from graphscope.engine.ops.linear import bilinear as bilinear
from graphscope.engine.ops.linear import linear as linear
from graphscope.engine.ops.losses import binary_cross_entropy as binary_cross_entropy
from graphscope.engine.ops.losses import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from graphscope.engine.ops.losses import huber_loss as huber_loss
from graphscope.engine.ops.losses import l1_loss as l1_loss
from graphscope.engine.ops.losses import mse_loss as mse_loss
from graphscope.engine.ops.losses import smooth_l1_loss as smooth_l1_loss
from graphscope.engine.ops.mean_square import rms_norm as rms_norm
from graphscope.engine.ops.normalization import batch_norm as batch_norm
from graphscope.engine.ops.normalization import group_norm as group_norm
from graphscope.engine.ops.normalization import instance_norm as instance_norm
from graphscope.engine.ops.normalization import layer_norm as layer_norm
from graphscope.engine.ops.pad import pad as pad
from graphscope.engine.ops.pair_losses import cosine_embedding_loss as cosine_embedding_loss
from graphscope.engine.ops.pair_losses import gaussian_nll_loss as gaussian_nll_loss
from graphscope.engine.ops.pair_losses import kl_div as kl_div
from graphscope.engine.ops.pair_losses import triplet_margin_loss as triplet_margin_loss
from graphscope.engine.ops.pixels import fold as fold
from graphscope.engine.ops.pixels import pixel_shuffle as pixel_shuffle
from graphscope.engine.ops.pixels import pixel_unshuffle as pixel_unshuffle
from graphscope.engine.ops.pixels import unfold as unfold
from graphscope.engine.ops.pooling import avg_pool1d as avg_pool1d
from graphscope.engine.ops.pooling import avg_pool2d as avg_pool2d
from graphscope.engine.ops.pooling import avg_pool3d as avg_pool3d
from graphscope.engine.ops.pooling import max_pool1d as max_pool1d
from graphscope.engine.ops.pooling import max_pool2d as max_pool2d
from graphscope.engine.ops.pooling import max_pool3d as max_pool3d
from graphscope.engine.ops.resampling import adaptive_avg_pool1d as adaptive_avg_pool1d
from graphscope.engine.ops.resampling import adaptive_avg_pool2d as adaptive_avg_pool2d
from graphscope.engine.ops.resampling import adaptive_avg_pool3d as adaptive_avg_pool3d
from graphscope.engine.ops.resampling import adaptive_max_pool1d as adaptive_max_pool1d
from graphscope.engine.ops.resampling import adaptive_max_pool2d as adaptive_max_pool2d
from graphscope.engine.ops.resampling import adaptive_max_pool3d as adaptive_max_pool3d
from graphscope.engine.ops.resampling import interpolate as interpolate
from graphscope.engine.ops.rounding import relu as _relu
from graphscope.engine.ops.smooth_activations import gelu as gelu
from graphscope.engine.ops.smooth_activations import glu as glu
from graphscope.engine.ops.smooth_activations import logsigmoid as logsigmoid
from graphscope.engine.ops.smooth_activations import softplus as softplus
from graphscope.engine.ops.smooth_activations import softsign as softsign
from graphscope.engine.ops.softmax import gumbel_softmax as gumbel_softmax
from graphscope.engine.ops.softmax import log_softmax as log_softmax
from graphscope.engine.ops.softmax import softmax as softmax
from graphscope.engine.ops.softmax import softmin as softmin
from graphscope.engine.ops.trigonometric import tanh as tanh


def _in_place_too(function: Callable[..., Any], options: int = 0) -> Callable[..., Any]:
    """A function that also takes PyTorch's `inplace`, behind its `options`: the result is then written over the input.

    What a rule of the function saves is a copy, so that the write does not spoil it.
    """
    if not options:

        @functools.wraps(function)
        def plain(input: Any, inplace: bool = False) -> Any:
            return input.copy_(function(input.clone())) if inplace else function(input)

        plain.__module__ = __name__  # where pickle is to look for it
        return plain

    @functools.wraps(function)
    def call(input: Any, *given: Any, inplace: bool = False, **named: Any) -> Any:
        if len(given) > options:
            *given, inplace = given  # type: ignore[assignment]
        if not inplace:
            return function(input, *given, **named)
        return input.copy_(function(input.clone(), *given, **named))

    call.__module__ = __name__
    return call


relu = _in_place_too(_relu)
relu6 = _in_place_too(_activations.relu6)
leaky_relu = _in_place_too(_activations.leaky_relu, 1)
elu = _in_place_too(_activations.elu, 1)
selu = _in_place_too(_activations.selu)
celu = _in_place_too(_activations.celu, 1)
hardtanh = _in_place_too(_activations.hardtanh, 2)
hardswish = _in_place_too(_activations.hardswish)
hardsigmoid = _in_place_too(_activations.hardsigmoid)
threshold = _in_place_too(_activations.threshold, 2)
silu = _in_place_too(_smooth.silu)
mish = _in_place_too(_smooth.mish)
dropout = _in_place_too(_dropout.dropout, 2)
dropout1d = _in_place_too(_dropout.dropout1d, 2)
dropout2d = _in_place_too(_dropout.dropout2d, 2)
dropout3d = _in_place_too(_dropout.dropout3d, 2)
alpha_dropout = _in_place_too(_dropout.alpha_dropout, 2)
prelu = _activations.prelu

relu_, leaky_relu_, elu_, selu_, celu_, hardtanh_, threshold_ = (
    functools.partial(function, inplace=True) for function in (relu, leaky_relu, elu, selu, celu, hardtanh, threshold)
)


def _with_indices(pool: Callable[..., Any]) -> Callable[..., Any]:
    """A pooling that always tells where its maxima are."""

    def with_indices(*args: Any, **kwargs: Any) -> Any:
        return pool(*args, **{**kwargs, "return_indices": True})

    with_indices.__name__ = f"{pool.__name__}_with_indices"
    return with_indices


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = (
    _with_indices(pool) for pool in (max_pool1d, max_pool2d, max_pool3d)
)
adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = (
    _with_indices(pool) for pool in (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)

_answer_for(__name__)
