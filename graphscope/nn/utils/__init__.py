"""What programs do with parameters and their gradients besides training, in PyTorch's spelling."""

from graphscope.nn.utils import rnn
from graphscope.nn.utils.clip import clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from graphscope.nn.utils.vectors import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "rnn",
    "vector_to_parameters",
]
