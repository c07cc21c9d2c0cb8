"""What PyTorch has under a second spelling: methods as functions, functions as methods, arguments in another order."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.complex_numbers import conj_physical
from graphscope.engine.ops.decompositions import cholesky, svd
from graphscope.engine.ops.distances import cross
from graphscope.engine.ops.embedding import embedding as lookup
from graphscope.engine.ops.inplace import fill_, zero_
from graphscope.engine.ops.inplace_forms import FUNCTIONS
from graphscope.engine.ops.inverses import logdet
from graphscope.engine.ops.linalg import addmm, baddbmm

__all__ = [
    "detach",
    "embedding",
    "fill",
    "get_device",
    "is_same_size",
]


def detach(input: Any) -> Any:
    """The same memory outside the graph."""
    return input.detach()


def fill(input: Any, value: Any) -> Any:
    """A tensor of the shape of another, filled with a number."""
    return input.clone().fill_(value)


def get_device(input: Tensor) -> int:
    """-1: the CPU has no number."""
    return -1


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape."""
    return tuple(input.shape) == tuple(other.shape)


def embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """Rows of a table; `nn.functional.embedding` is what programs call."""
    return lookup(indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq=scale_grad_by_freq)


def _in_place(function: Any) -> Any:
    """A method that writes what a function of several tensors computes into the first of them."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.copy_(function(self.clone(), *args, **kwargs))

    return write


_in_place_too: tuple[Any, ...] = (addmm, baddbmm, conj_physical)

for _function in (cross, logdet, svd, cholesky, is_same_size):
    setattr(Tensor, _function.__name__, _function)
for _written in _in_place_too:
    setattr(Tensor, f"{_written.__name__}_", _in_place(_written))
FUNCTIONS.update(fill_=fill_, zero_=zero_)
FUNCTIONS["conj_physical_"] = getattr(Tensor, "conj_physical_")  # noqa: B009
