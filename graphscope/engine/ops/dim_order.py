"""Dims moved, swapped and added: other names and forms of transpose, permute and unsqueeze. All are views."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core.dims import several
from graphscope.engine.core.shapes import broadcast
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.shape import permute, reshape, sizes, t, transpose

__all__ = ["atleast_1d", "atleast_2d", "broadcast_shapes", "movedim", "swapaxes"]


def movedim(input: Any, source: Any, destination: Any) -> Any:
    """Dims moved to other places; the others keep their order.

    Raises:
        RuntimeError: Not as many sources as destinations, or one is named twice.
    """
    rank = len(input.shape)
    whence, whither = sizes((source,)), sizes((destination,))
    if len(whence) != len(whither):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source {whence} and destination {whither} must be as many"
        )
    if not whence:
        return permute(input, tuple(range(rank)))
    whence, whither = several(whence, rank), several(whither, rank)
    rest = iter(place for place in range(rank) if place not in whence)
    goes = dict(zip(whither, whence, strict=True))
    return permute(input, tuple(goes[place] if place in goes else next(rest) for place in range(rank)))


def swapaxes(input: Any, axis0: int, axis1: int) -> Any:
    """Two dims swapped."""
    return transpose(input, axis0, axis1)


def _each(function: Any) -> Any:
    """A function of one tensor that takes several too, or a sequence of them."""

    def call(*tensors: Any) -> Any:
        if len(tensors) == 1 and not isinstance(tensors[0], list | tuple):
            return function(tensors[0])
        return tuple(function(one) for one in (tensors[0] if len(tensors) == 1 else tensors))

    call.__name__ = call.__qualname__ = function.__name__
    call.__doc__ = function.__doc__
    return call


@_each
def atleast_1d(tensor: Any) -> Any:
    """A tensor of no dims gets one; others are as they were."""
    return tensor if tensor.shape else reshape(tensor, (1,))


@_each
def atleast_2d(tensor: Any) -> Any:
    """New dims in front, until there are two."""
    return tensor if len(tensor.shape) > 1 else reshape(tensor, (1, -1))


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """The shape that tensors of these shapes are broadcast to.

    Raises:
        RuntimeError: They do not fit.
    """
    return broadcast(*(sizes((shape,)) for shape in shapes))  # type: ignore[return-value] # all sizes are known


def _transposed(self: Any) -> Any:
    return t(self) if len(self.shape) <= 2 else permute(self, *reversed(range(len(self.shape))))


def _matrix_transposed(self: Any) -> Any:
    if len(self.shape) < 2:
        raise RuntimeError(f"tensor.mT is only supported on matrices or batches of matrices, not on {self.ndim} dims")
    return transpose(self, -2, -1)


def _of_matrix(self: Any) -> Any:
    if len(self.shape) not in (0, 2):
        raise RuntimeError(f"tensor.H is only supported on matrices (2-D tensors), not on {self.ndim} dims")
    return t(self)


MEMBERS = {
    "H": property(_of_matrix),
    "T": property(_transposed),
    "mH": property(_matrix_transposed),
    "mT": property(_matrix_transposed),
    "movedim": movedim,
    "swapaxes": swapaxes,
}
"""Methods and properties that are one of these."""

for _name, _member in MEMBERS.items():
    setattr(Tensor, _name, _member)
