"""What a tensor can do besides ops: look at itself, leave the graph, go backward."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from graphscope.engine import dtypes
from graphscope.engine.autograd import run_backward
from graphscope.engine.node import RETAINED, Handle, Node, hooks_of
from graphscope.engine.ops import elementwise, index, linalg, reduce, shape
from graphscope.engine.printing import tensor_repr
from graphscope.engine.calls import define
from graphscope.engine.tensor import Tensor


def method(function: Any) -> Any:
    """Make a function a method of Tensor."""
    setattr(Tensor, function.__name__, function)
    return function


def _cast(x: Any, *, dtype: np.dtype) -> Any:
    return x.astype(dtype)


to_dtype = define(
    "to", "The same elements in another dtype.", formula="out = x as dtype", tensor_method=False,
    prepare=lambda x, dtype: ((x,), {"dtype": np.dtype(dtype), "_from": x.dtype}),
    forward=lambda x, *, dtype, _from: _cast(x, dtype=dtype),
    vjp=[lambda g, *, _from: to_dtype(g, _from)],
    samples=[((2, 3), {"dtype": dtypes.float32}), ((), {"dtype": dtypes.float32})],
)  # fmt: skip

clone = define(
    "clone", "A copy, in the graph.", formula="out = x",
    forward=lambda x: x.copy(),
    vjp=[lambda g: g],
    samples=[((2, 3),), ((),)],
)  # fmt: skip

for _name, _op in (("__rsub__", elementwise.sub), ("__rtruediv__", elementwise.div), ("__rpow__", elementwise.pow), ("__rmatmul__", linalg.matmul)):  # fmt: skip
    setattr(Tensor, _name, lambda self, other, _op=_op: _op(other, self))
Tensor.T = property(lambda self: shape.t(self) if self.data.ndim <= 2 else shape.permute(self, *reversed(range(self.data.ndim))))  # type: ignore[attr-defined]  # fmt: skip
Tensor.mT = property(lambda self: shape.transpose(self, -2, -1))  # type: ignore[attr-defined]
Tensor.view = shape.reshape  # type: ignore[attr-defined]
Tensor.shape = property(lambda self: self.data.shape)  # type: ignore[attr-defined]
Tensor.dtype = property(lambda self: self.data.dtype)  # type: ignore[attr-defined]
Tensor.ndim = property(lambda self: self.data.ndim)  # type: ignore[attr-defined]
Tensor.is_leaf = property(lambda self: self.node is None)  # type: ignore[attr-defined]
Tensor.grad_fn = property(lambda self: None if self.node is None else Node(self.node))  # type: ignore[attr-defined]
Tensor._version = property(lambda self: self.version)  # type: ignore[attr-defined]
Tensor.__repr__ = tensor_repr  # type: ignore[method-assign,assignment]


@method
def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or the size of one dim."""
    return self.data.shape if dim is None else self.data.shape[dim]


@method
def dim(self: Tensor) -> int:
    """The number of dims."""
    return int(self.data.ndim)


@method
def numel(self: Tensor) -> int:
    """The number of elements."""
    return int(self.data.size)


@method
def item(self: Tensor) -> Any:
    """The only element, as a Python number.

    Raises:
        RuntimeError: There are several elements, or none.
    """
    if self.data.size != 1:
        raise RuntimeError(f"a Tensor with {self.data.size} elements cannot be converted to Scalar")
    return self.data.item()


@method
def tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return self.data.tolist()


@method
def numpy(self: Tensor) -> np.ndarray:
    """The elements as an array that shares memory with the tensor (but for a tensor of no dims).

    Raises:
        RuntimeError: The tensor requires grad.
    """
    if self.requires_grad:
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    return np.asarray(self.data)


@method
def detach(self: Tensor) -> Tensor:
    """The same memory outside the graph."""
    out = Tensor(self.data)
    out.base = self if self.base is None else self.base
    out.name = self.name
    return out


@method
def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Ask that gradients flow to this leaf, or no more.

    Raises:
        RuntimeError: It is no leaf, or its dtype is not floating.
    """
    if not requires_grad and self.node is not None:
        raise RuntimeError("you can only change requires_grad flags of leaf variables; use detach()")
    if requires_grad and self.data.dtype.kind not in "fc":
        raise RuntimeError(f"only Tensors of floating point dtype can require gradients, not {self.data.dtype}")
    if self.requires_grad != requires_grad:
        self.wants_grad = requires_grad
        self.row = -1  # the log is told anew at its next use
    return self


@method
def to(self: Tensor, target: Any = None, dtype: Any = None) -> Tensor:
    """The tensor in another dtype; devices are accepted, and are all the CPU.

    Raises:
        RuntimeError: The device is none that exists here.
    """
    wanted = dtype if dtype is not None else target
    if wanted is None or isinstance(wanted, str):
        if isinstance(wanted, str) and wanted != "cpu":
            raise RuntimeError(f"there is no device {wanted!r} here: the engine runs on the CPU")
        return self
    if isinstance(wanted, Tensor):
        wanted = wanted.data.dtype
    return self if self.data.dtype == wanted else to_dtype(self, wanted)  # type: ignore[no-any-return]


for _name, _dtype in {"float": dtypes.float32, "double": dtypes.float64, "half": dtypes.float16, "int": dtypes.int32, "long": dtypes.int64, "bool": dtypes.bool_}.items():  # fmt: skip
    setattr(Tensor, _name, lambda self, _dtype=_dtype: to(self, _dtype))


@method
def contiguous(self: Tensor) -> Tensor:
    """The tensor itself: every op takes any layout."""
    return self


@method
def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return self


@method
def max(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The largest element; along a dim, the largest elements and their indices."""
    if dim is None:
        return reduce.amax(self)
    indices = reduce.argmax(self, dim, True)
    picked = _along(self, indices, dim)
    return Pair(picked, indices) if keepdim else Pair(shape.squeeze(picked, dim), shape.squeeze(indices, dim))


class Pair(tuple[Tensor, Tensor]):
    """Values and their indices."""

    def __new__(cls, values: Tensor, indices: Tensor) -> Pair:
        return super().__new__(cls, (values, indices))

    values = property(lambda self: self[0])
    indices = property(lambda self: self[1])


def _along(tensor: Tensor, indices: Tensor, dim: int) -> Any:
    grid = list(np.ogrid[tuple(slice(length) for length in indices.data.shape)])
    grid[dim] = indices.data
    return index.getitem(tensor, tuple(grid))


@method
def retain_grad(self: Tensor) -> None:
    """Keep the gradient that passes through this tensor in its `grad`.

    Raises:
        RuntimeError: It does not require grad.
    """
    if not self.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if self.node is not None:
        self.retains_grad = True
        self.node[RETAINED] = weakref.ref(self)


@method
def register_hook(self: Tensor, hook: Any) -> Handle:
    """Call `hook(gradient)` when the gradient of this tensor is whole; what it returns takes the gradient's place.

    Raises:
        RuntimeError: The tensor does not require grad.
    """
    if not self.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if self.node is not None:
        return Handle(hooks_of(self.node), hook)
    if self.hooks is None:
        self.hooks = []
    return Handle(self.hooks, hook)


@method
def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | None = None,
) -> None:
    """Compute the gradients of this tensor, and add them to the `grad` of the leaves that it was made of.

    Args:
        gradient: The cotangent to begin with; may be left out for a single element.
        retain_graph: Keep the graph for another pass (default: as `create_graph`).
        create_graph: Make the gradients differentiable themselves.
        inputs: Accumulate into these tensors alone.

    Raises:
        RuntimeError: There is no graph, it was freed, or `gradient` is missing or of the wrong shape.
    """
    start = [_cotangent(self, gradient, create_graph)]
    retain = create_graph if retain_graph is None else retain_graph
    if inputs is None:
        run_backward([self], start, retain_graph=retain, create_graph=create_graph)
        return
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    found = run_backward([self], start, retain_graph=retain, create_graph=create_graph, wanted=wanted, accumulate=False)
    for leaf, value in zip(wanted, found, strict=True):
        if value is not None:
            value = value if isinstance(value, Tensor) else Tensor(value)
            leaf.grad = value if leaf.grad is None else leaf.grad + value  # type: ignore[operator]


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of `outputs` with respect to `inputs`, without touching any `grad`.

    Raises:
        RuntimeError: An input was not used (and `allow_unused` is False), or as `backward`.
    """
    roots = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    given = [grad_outputs] if isinstance(grad_outputs, Tensor) or grad_outputs is None else list(grad_outputs)
    given += [None] * (len(roots) - len(given))
    for number, tensor in enumerate(wanted):
        if not tensor.requires_grad:
            raise RuntimeError(f"input {number} of grad() does not require grad")
    start = [_cotangent(root, gradient, create_graph) for root, gradient in zip(roots, given, strict=True)]
    retain = create_graph if retain_graph is None else retain_graph
    found = run_backward(roots, start, retain_graph=retain, create_graph=create_graph, wanted=wanted, accumulate=False)
    for number, value in enumerate(found):
        if value is None and not allow_unused:
            raise RuntimeError(
                f"One of the differentiated Tensors appears to not have been used in the graph: input {number} of "
                "grad(). Set allow_unused=True if this is the desired behavior."
            )
    return tuple(value if value is None or isinstance(value, Tensor) else Tensor(value) for value in found)


def _cotangent(root: Tensor, gradient: Any, create_graph: bool) -> Any:
    if not root.requires_grad:
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn: nothing that it was made of "
            "requires grad, or it was made under no_grad() or after detach()"
        )
    data = root.data
    if gradient is None:
        if data.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs: this tensor has shape {tuple(data.shape)}. "
                "Reduce it first, for example with .sum(), or pass a gradient of that shape."
            )
        value: Any = np.ones(data.shape, data.dtype) if data.ndim else data.dtype.type(1)
    else:
        value = gradient.data if isinstance(gradient, Tensor) else np.asarray(gradient)
        if value.shape != data.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output has a shape of {tuple(value.shape)} and output has a shape of "
                f"{tuple(data.shape)}"
            )
        if create_graph and isinstance(gradient, Tensor):
            return gradient
    return Tensor(value) if create_graph else value


@method
def __len__(self: Tensor) -> int:
    if not self.data.ndim:
        raise TypeError("len() of a 0-d tensor")
    return int(self.data.shape[0])


@method
def __iter__(self: Tensor) -> Iterator[Tensor]:
    if not self.data.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return (index.getitem(self, number) for number in range(self.data.shape[0]))


@method
def __bool__(self: Tensor) -> bool:
    if self.data.size != 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    return bool(self.data.item())


@method
def __float__(self: Tensor) -> float:
    return float(item(self))


@method
def __int__(self: Tensor) -> int:
    return int(item(self))


@method
def __index__(self: Tensor) -> int:
    if self.data.dtype.kind not in "iub":
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(item(self))


@method
def __format__(self: Tensor, spec: str) -> str:
    return object.__format__(self, spec) if self.data.ndim else format(self.data.item(), spec)
