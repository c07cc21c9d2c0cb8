"""What programs do with parameters and their gradients besides training, in PyTorch's spelling."""

from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.nn.utils import parametrizations, parametrize, rnn
from graphscope.engine.nn.utils.clip import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from graphscope.engine.nn.utils.parametrizations import spectral_norm, weight_norm
from graphscope.engine.nn.utils.parametrize import remove_parametrizations
from graphscope.engine.nn.utils.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Take `weight_norm` back; the weight stays as it is."""
    return remove_parametrizations(module, name)


remove_spectral_norm = remove_weight_norm

_answer_for(__name__)
