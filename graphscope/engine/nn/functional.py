"""What layers compute, as functions, in the spelling of `torch.nn.functional`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.ops import activations as _activations
from graphscope.engine.ops import dropout as _dropout
from graphscope.engine.ops import smooth_activations as _smooth
from graphscope.engine.ops.attention import scaled_dot_product_attention
from graphscope.engine.ops.bags import embedding_bag
from graphscope.engine.ops.classification import cross_entropy, nll_loss
from graphscope.engine.ops.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from graphscope.engine.ops.ctc import ctc_loss
from graphscope.engine.ops.distances import cosine_similarity, normalize, pairwise_distance
from graphscope.engine.ops.embedding import embedding, one_hot
from graphscope.engine.ops.exponential import sigmoid
from graphscope.engine.ops.grids import affine_grid, grid_sample
from graphscope.engine.ops.linear import bilinear, linear
from graphscope.engine.ops.losses import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    huber_loss,
    l1_loss,
    mse_loss,
    smooth_l1_loss,
)
from graphscope.engine.ops.mean_square import rms_norm
from graphscope.engine.ops.normalization import (
    batch_norm,
    group_norm,
    instance_norm,
    layer_norm,
)
from graphscope.engine.ops.pad import pad
from graphscope.engine.ops.pair_losses import (
    cosine_embedding_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
from graphscope.engine.ops.pixels import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, unfold
from graphscope.engine.ops.pooling import avg_pool1d, avg_pool2d, avg_pool3d, max_pool1d, max_pool2d, max_pool3d
from graphscope.engine.ops.resampling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool1d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    interpolate,
)
from graphscope.engine.ops.rounding import relu as _relu
from graphscope.engine.ops.smooth_activations import gelu, glu, logsigmoid, softplus, softsign, tanhshrink
from graphscope.engine.ops.softmax import gumbel_softmax, log_softmax, softmax, softmin
from graphscope.engine.ops.trigonometric import tanh

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "log_softmax",
    "logsigmoid",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "mish",
    "mse_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "unfold",
]


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
rrelu = _in_place_too(_activations.rrelu, 3)
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
hardshrink, prelu, softshrink = _activations.hardshrink, _activations.prelu, _activations.softshrink

relu_, leaky_relu_, rrelu_, elu_, selu_, celu_, hardtanh_, threshold_ = (
    functools.partial(function, inplace=True)
    for function in (relu, leaky_relu, rrelu, elu, selu, celu, hardtanh, threshold)
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
