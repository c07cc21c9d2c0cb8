"""What PyTorch has under a second spelling: methods as functions, functions as methods, arguments in another order."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.decompositions import cholesky, svd
from graphscope.engine.ops.distances import cross
from graphscope.engine.ops.inplace import fill_, zero_
from graphscope.engine.ops.inplace_forms import FUNCTIONS
from graphscope.engine.ops.inverses import logdet
from graphscope.engine.ops.linalg import addmm, baddbmm

__all__ = ["detach", "fill"]


def fill(input: Any, value: Any) -> Any:
    """A tensor of the shape of another, filled with a number."""
    return input.clone().fill_(value)


def detach(input: Any) -> Any:
    """The same memory outside the graph."""
    return input.detach()


def _in_place(function: Any) -> Any:
    """A method that writes what a function of several tensors computes into the first of them."""

    def write(self: Any, *args: Any, **kwargs: Any) -> Any:
        return self.copy_(function(self.clone(), *args, **kwargs))

    return write


for _function in (cross, logdet, svd, cholesky):
    setattr(Tensor, _function.__name__, _function)
for _written in (addmm, baddbmm):
    setattr(Tensor, f"{_written.__name__}_", _in_place(_written))
FUNCTIONS.update(fill_=fill_, zero_=zero_)
