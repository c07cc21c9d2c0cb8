"""All parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from graphscope.engine.core.modes import no_grad
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.joining import cat


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """The elements of all parameters in one vector, in the graph."""
    return cat([parameter.reshape(-1) for parameter in parameters], 0)


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give parameters the elements of a vector.

    Raises:
        TypeError: It is no tensor.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    place = 0
    with no_grad():
        for parameter in parameters:
            count = parameter.numel()
            parameter.copy_(vec[place : place + count].reshape(parameter.shape))
            place += count
