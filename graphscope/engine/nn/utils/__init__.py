"""What programs do with parameters and their gradients besides training, in PyTorch's spelling."""

from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.nn.utils import parametrizations as parametrizations
from graphscope.engine.nn.utils import parametrize as parametrize
from graphscope.engine.nn.utils import rnn as rnn
from graphscope.engine.nn.utils.clip import clip_grad_norm_ as clip_grad_norm_
from graphscope.engine.nn.utils.clip import clip_grad_value_ as clip_grad_value_
from graphscope.engine.nn.utils.clip import clip_grads_with_norm_ as clip_grads_with_norm_
from graphscope.engine.nn.utils.clip import get_total_norm as get_total_norm
from graphscope.engine.nn.utils.parametrizations import spectral_norm as spectral_norm
from graphscope.engine.nn.utils.parametrizations import weight_norm as weight_norm
from graphscope.engine.nn.utils.parametrize import remove_parametrizations
from graphscope.engine.nn.utils.vectors import parameters_to_vector as parameters_to_vector
from graphscope.engine.nn.utils.vectors import vector_to_parameters as vector_to_parameters


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Take `weight_norm` back; the weight stays as it is."""
    return remove_parametrizations(module, name)


remove_spectral_norm = remove_weight_norm

_answer_for(__name__)
