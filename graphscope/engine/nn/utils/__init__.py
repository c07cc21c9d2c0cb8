"""What programs do with parameters and their gradients besides training, in PyTorch's spelling."""

from typing import Any

from graphscope.engine.nn.utils import parametrizations, parametrize, prune, rnn
from graphscope.engine.nn.utils.clip import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from graphscope.engine.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from graphscope.engine.nn.utils.renewed import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm
from graphscope.engine.nn.utils.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """A module whose parameters are yet to be initialised: here they are, as always."""
    return module_cls(*args, **{name: value for name, value in kwargs.items() if name != "device"})
