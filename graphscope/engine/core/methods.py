"""What a tensor can do besides ops: look at itself, become a number, leave the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphscope.engine.core import leaf_gradients, shapes, training
from graphscope.engine.core.calls import define
from graphscope.engine.core.element_types import KNOWN, Size, dtype
from graphscope.engine.core.node import PLAN, Node
from graphscope.engine.core.tensor import Tensor, method
from graphscope.engine.core.tensor_printing import tensor_repr
from graphscope.engine.ops import elementwise, index, linalg, shape
from graphscope.eventlog import record as recording

cut_off = define(
    "detach", "The same memory outside the graph.", tensor_method=False,
    forward=lambda x: x,
    vjp=[None],
    shape=shapes.same,
    samples=[((2, 3),), ((),)],
)  # fmt: skip


def _swapped(function: Any) -> Any:
    return lambda self, other: function(other, self)


def _transposed(self: Tensor) -> Any:
    order = range(self.array.ndim)
    return shape.t(self) if self.array.ndim <= 2 else shape.permute(self, *reversed(order))


def _comparison(function: Any) -> Any:
    """`==` or `!=`, which Python also asks with what is no operand, such as None."""

    def compare(self: Tensor, other: Any) -> Any:
        if isinstance(other, Tensor | float | int | complex | np.generic):
            return function(self, other)
        return NotImplemented

    return compare


def _data(self: Tensor) -> Tensor:
    """The same memory outside the graph; writes through it are not counted, so autograd does not learn of them."""
    out = Tensor(self.shared())
    out.uncounted_of = self if self.uncounted_of is None else self.uncounted_of
    out.row, out.first_row = self.row, self.first_row
    return out


def _set_data(self: Tensor, value: Any) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
    self.array = value.array
    self.row = -1  # the log is told anew at its next use


MEMBERS: dict[str, Any] = {
    "data": property(_data, _set_data),
    "grad": leaf_gradients.grad,
    "__rsub__": _swapped(elementwise.sub),
    "__rtruediv__": _swapped(elementwise.div),
    "__rpow__": _swapped(elementwise.pow),
    "__rfloordiv__": _swapped(elementwise.floor_divide),
    "__rmod__": _swapped(elementwise.remainder),
    "__rlshift__": _swapped(elementwise.bitwise_left_shift),
    "__rrshift__": _swapped(elementwise.bitwise_right_shift),
    "__rmatmul__": _swapped(linalg.matmul),
    "__eq__": _comparison(elementwise.eq),
    "__ne__": _comparison(elementwise.ne),
    "T": property(_transposed),
    "mT": property(lambda self: shape.transpose(self, -2, -1)),
    "shape": property(lambda self: Size(self.array.shape)),
    "dtype": property(lambda self: KNOWN.get(self.array.dtype) or dtype(self.array.dtype)),
    "ndim": property(lambda self: self.array.ndim),
    "is_leaf": property(lambda self: self.node is None),
    "grad_fn": property(lambda self: None if self.node is None else Node(self.node)),
    "_version": property(lambda self: self.version),
    "_base": property(lambda self: self.base),
    "output_nr": property(lambda self: 0 if self.node is None else max(self.node[PLAN].slot, 0)),
    "__repr__": tensor_repr,
}
"""Members that are an op under another name, or one expression."""

for _name, _member in MEMBERS.items():
    setattr(Tensor, _name, _member)


@method
def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dim."""
    return Size(self.array.shape) if dim is None else self.array.shape[dim]


@method
def dim(self: Tensor) -> int:
    """The number of dims."""
    return int(self.array.ndim)


@method
def numel(self: Tensor) -> int:
    """The number of elements."""
    return int(self.array.size)


setattr(Tensor, "nelement", numel)  # noqa: B010
setattr(Tensor, "ndimension", dim)  # noqa: B010


@method
def item(self: Tensor) -> Any:
    """The only element, as a Python number.

    Raises:
        RuntimeError: There are several elements, or none.
    """
    if self.array.size != 1:
        raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar")
    return self.array.item()


@method
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return self.array.tolist()


@method
def numpy(self: Tensor) -> np.ndarray:
    """The elements as an array that shares memory with the tensor.

    Raises:
        RuntimeError: The tensor requires grad.
    """
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return np.asarray(self.shared())


@method
def detach(self: Tensor) -> Tensor:
    """The same memory outside the graph."""
    out = Tensor(self.shared())
    if recording.writer is not None:  # the log shows where the way back is cut
        out.row = cut_off(self).row
    root = self if self.base is None else self.base
    out.shares = root if root.shares is None else root.shares
    out.name = self.name
    return out


@method
def detach_(self: Tensor) -> Tensor:
    """Leave the graph: from now on this tensor is a leaf that no gradient flows to.

    Raises:
        RuntimeError: It is a view, whose memory belongs to another tensor.
    """
    if self.base is not None:
        raise RuntimeError("Can't detach views in-place: use detach() instead, which makes another tensor")
    if recording.writer is not None:
        self.row = cut_off(self).row
    self.node, self.wants_grad = None, False
    return self


@method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask that gradients flow to this leaf, or no more.

    Raises:
        RuntimeError: It is no leaf, or its dtype is not floating.
    """
    if not requires_grad and self.node is not None:
        raise RuntimeError("you can only change requires_grad flags of leaf variables; use detach()")
    if requires_grad and self.array.dtype.kind not in "fc":
        raise RuntimeError(f"only Tensors of floating point dtype can require gradients, not {self.array.dtype}")
    if self.requires_grad != requires_grad:
        self.wants_grad = bool(requires_grad)
        self.row = -1  # the log is told anew at its next use
    if (told := training.told()) is not None:
        told.asked(self)
    return self


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    if self.node is not None:
        raise RuntimeError("only leaf tensors can be copied deeply: detach() this one first")
    out = memo[id(self)] = _rebuilt(self.array.copy(), self.wants_grad, self.is_parameter, self.name)
    return out


def _reduce(self: Tensor) -> Any:
    if self.node is not None:
        raise RuntimeError("only leaf tensors can be pickled: detach() this one first")
    return _rebuilt, (self.array, self.wants_grad, self.is_parameter, self.name)


def _rebuilt(data: Any, requires_grad: bool, is_parameter: bool, name: str | None) -> Tensor:
    out = Tensor(data, requires_grad=requires_grad)
    out.is_parameter = is_parameter
    out.name = name
    return out


def _len(self: Tensor) -> int:
    if not self.array.ndim:
        raise TypeError("len() of a 0-d tensor")
    return int(self.array.shape[0])


def _iter(self: Tensor) -> Iterator[Tensor]:
    if not self.array.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return (index.getitem(self, number) for number in range(self.array.shape[0]))


def _bool(self: Tensor) -> bool:
    if self.array.size != 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(self.array.item())


def _only(self: Tensor) -> Any:
    if self.array.size != 1:
        raise ValueError(
            f"only one element tensors can be converted to Python scalars: this one has shape {tuple(self.array.shape)}"
        )
    return self.array.item()


def _contains(self: Tensor, element: Any) -> bool:
    return bool(elementwise.eq(self, element).array.any())


def _float(self: Tensor) -> float:
    return float(_only(self))


def _complex(self: Tensor) -> complex:
    return complex(_only(self))


def _int(self: Tensor) -> int:
    return int(_only(self))


def _index(self: Tensor) -> int:
    if self.array.dtype.kind not in "iub" or self.array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


def _format(self: Tensor, spec: str) -> str:
    return object.__format__(self, spec) if self.array.ndim else format(self.array.item(), spec)


PROTOCOLS = {
    "__deepcopy__": _deepcopy,
    "__reduce__": _reduce,
    "__len__": _len,
    "__iter__": _iter,
    "__bool__": _bool,
    "__complex__": _complex,
    "__contains__": _contains,
    "__float__": _float,
    "__int__": _int,
    "__index__": _index,
    "__format__": _format,
}
"""What Python itself asks of a tensor."""

for _name, _member in PROTOCOLS.items():
    setattr(Tensor, _name, _member)


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, Tensor)


@method
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and elements."""
    return bool(np.array_equal(input.array, other.array))


@method
def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements of two tensors are close to each other."""
    return bool(np.allclose(input.array, other.array, rtol, atol, equal_nan))
