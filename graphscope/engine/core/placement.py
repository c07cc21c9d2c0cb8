"""Where and how a tensor is kept: its dtype, its device, its layout in memory; and the same elements kept otherwise."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from graphscope.engine.core import device as devices
from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define
from graphscope.engine.core.element_types import dtype as element_type
from graphscope.engine.core.legacy import TYPES, TensorType
from graphscope.engine.core.tensor import Tensor, method

to_dtype: Any = define(
    "to", "The same elements in another dtype.", tensor_method=False,
    prepare=lambda x, dtype: ((x,), {"dtype": np.dtype(dtype), "_was": np.dtype(x.dtype)}),
    forward=lambda x, *, dtype, _was: (x.real if x.dtype.kind == "c" and dtype.kind not in "cb" else x).astype(dtype),
    vjp=[lambda g, *, _was: to_dtype(g, _was)],
    shape=shapes.same,
    samples=[((2, 3), {"dtype": dtypes.float32}), ((), {"dtype": dtypes.float32})],
)  # fmt: skip

clone: Any = define(
    "clone", "A copy, in the graph.",
    prepare=lambda input, *, memory_format=None: ((input,), {}),
    forward=lambda x: x.copy(),
    vjp=[lambda g: g],
    shape=shapes.same,
    samples=[((2, 3),), ((),), ((0, 2),)],
)  # fmt: skip


@method
def to(self: Tensor, *args: Any, device: Any = None, dtype: Any = None, copy: bool = False, **how: Any) -> Any:
    """The tensor in another dtype or on another device: `to(dtype)`, `to(device)`, `to(device, dtype)`, `to(other)`.

    Args:
        self: The tensor; it is returned itself when nothing changes.
        *args: A dtype, a device, both, or a tensor whose dtype is wanted.
        device: Where it is to be.
        dtype: What its elements are to be.
        copy: Copy it even when nothing changes.
        **how: `non_blocking` and `memory_format`, of which there is but one kind here.

    Raises:
        RuntimeError: The device is none that exists here.
        TypeError: An argument is nothing of these.
    """
    unknown = set(how) - {"non_blocking", "memory_format"}
    if unknown:
        raise TypeError(f"to() has no argument {', '.join(sorted(unknown))}")
    for argument in args:
        if isinstance(argument, Tensor):
            dtype = argument.array.dtype
        elif isinstance(argument, element_type | np.dtype | type):
            dtype = np.dtype(argument)
        elif isinstance(argument, str | devices.device):
            device = argument
        elif argument is not None and not isinstance(argument, bool):
            raise TypeError(f"to() takes a dtype, a device or a tensor, not {argument!r}")
    devices.check(device)
    if dtype is not None and self.array.dtype != dtype:
        return to_dtype(self, dtype)
    return clone(self) if copy else self


CASTS: Final = {
    "float": dtypes.float32,
    "double": dtypes.float64,
    "half": dtypes.float16,
    "byte": dtypes.uint8,
    "char": dtypes.int8,
    "short": dtypes.int16,
    "int": dtypes.int32,
    "long": dtypes.int64,
    "bool": dtypes.bool_,
    "cfloat": np.dtype("complex64"),
    "cdouble": np.dtype("complex128"),
}
"""Methods that are `to` with a dtype."""

for _name, _dtype in CASTS.items():
    setattr(Tensor, _name, lambda self, memory_format=None, *, _dtype=_dtype: to(self, _dtype))


@method
def bfloat16(self: Tensor, memory_format: Any = None) -> Any:
    """The tensor in bfloat16; there is but one memory format.

    Raises:
        RuntimeError: The package `ml_dtypes` is not installed.
    """
    if dtypes.bfloat16 is None:
        raise RuntimeError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes")
    return to(self, dtypes.bfloat16)


def type_of(self: Tensor, dtype: Any = None) -> Any:
    """The name of the tensor's type; with a dtype or such a name, the tensor in that dtype.

    Raises:
        ValueError: It is no such name.
    """
    if dtype is None:
        return next((kind.name for kind in TYPES if kind.dtype == self.array.dtype), f"torch.{self.array.dtype}")
    if isinstance(dtype, str):
        named = {kind.name: kind for kind in TYPES}
        if dtype not in named:
            raise ValueError(f"invalid type: {dtype!r}; choose among {', '.join(named)}")
        dtype = named[dtype]
    return to(self, dtype=dtype.dtype if isinstance(dtype, TensorType) else dtype)


setattr(Tensor, "type", type_of)  # noqa: B010


@method
def type_as(self: Tensor, other: Tensor) -> Any:
    """The tensor in the dtype of another."""
    return to(self, other)


@method
def contiguous(self: Tensor, memory_format: Any = None) -> Any:
    """The tensor itself where its elements lie in order in memory, else a copy whose elements do."""
    return self if is_contiguous(self) else clone(self)


@method
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in order in memory."""
    return bool(np.asarray(self.array).flags.c_contiguous)


@method
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements apart in memory the neighbours in each dim are, or in one."""
    strides = tuple(step // self.array.itemsize for step in np.asarray(self.array).strides)
    return strides if dim is None else strides[dim]


@method
def storage_offset(self: Tensor) -> int:
    """How many elements lie before the first in the memory that the tensor shares with its base."""
    base = self if self.base is None else self.base
    return int((data_ptr(self) - data_ptr(base)) // self.array.itemsize)


@method
def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return int(np.asarray(self.array).__array_interface__["data"][0])


@method
def element_size(self: Tensor) -> int:
    """How many bytes an element takes."""
    return int(self.array.itemsize)


@method
def cpu(self: Tensor) -> Tensor:
    """The tensor itself: it is on the CPU."""
    return self


@method
def cuda(self: Tensor, device: Any = None) -> Tensor:
    """There is no GPU.

    Raises:
        RuntimeError: Always.
    """
    devices.check("cuda")
    return self


@method
def pin_memory(self: Tensor) -> Tensor:
    """The tensor itself: no device asks for pinned memory."""
    return self


@method
def get_device(self: Tensor) -> int:
    """-1: the CPU has no number."""
    return -1


@method
def is_pinned(self: Tensor) -> bool:
    """False: no device asks for pinned memory."""
    return False


PROPERTIES: Final = {
    "device": lambda self: devices.CPU,
    "layout": lambda self: devices.strided,
    "itemsize": lambda self: int(self.array.itemsize),
    "nbytes": lambda self: int(self.array.nbytes),
    "is_cpu": lambda self: True,
    **{f"is_{kind}": lambda self: False for kind in ("cuda", "mps", "xpu", "meta", "sparse", "quantized", "mkldnn")},
}
"""What tensors say of themselves."""

for _name, _answer in PROPERTIES.items():
    setattr(Tensor, _name, property(_answer))
