"""The elements of a tensor: where they lie, as an array, and what they come to."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch import compiled, tensor_base
from graphscope.adapters.torch.distributed_tensors import held
from graphscope.adapters.torch.dtypes import DTYPES, NamedDtype
from graphscope.adapters.torch.resized_storages import is_within
from graphscope.adapters.torch.tensor_base import ORDINARY, Own
from graphscope.adapters.torch.tensor_properties import opens
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.values import Summary

_MOST_BYTES: Final = 1 << 27
"""No larger copy is made to look at elements that do not lie in one row."""
_SINGLE: Final = 4
"""So many bytes a number of single precision has."""
_HIGH: Final = 1 << 40
"""No storage is so large that a place in it is taken for an address from here on."""

_zeros: Final[Any] = torch._C._VariableFunctions.zeros
_norm: Final[Any] = torch._C._linalg.linalg_vector_norm  # type: ignore[attr-defined]


def array_of(tensor: torch.Tensor) -> np.ndarray | None:
    """The elements of a tensor as an array, on the same memory where that can be; None where they can't be had."""
    plain = plainly(tensor)
    return None if plain is None else array(plain)


def plainly(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor of these elements in memory of this machine, as they are; None where there are none to be had.

    From another device they are copied once what the program has queued there, on the stream that it uses, is done.
    """
    plain = where_it_lies(tensor)
    if plain is None or tensor_base.is_cpu(plain):
        return plain
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return _tensor(Own.cpu(plain))


def is_remote(tensor: torch.Tensor) -> bool:
    """Whether the elements lie in the memory of an accelerator."""
    return not (tensor_base.is_cpu(tensor) or tensor_base.is_meta(tensor))


def is_lazy(tensor: torch.Tensor) -> bool:
    """Whether a tensor has not the elements that lie in its memory, but their conjugates or negatives, or zeros."""
    return bool(Own.is_neg(tensor) or Own.is_conj(tensor) or Own._is_zerotensor(tensor))


def address(tensor: torch.Tensor) -> int:
    """Where the first element lies; 0 where not all do: the storage was lent out, given back or made smaller.

    A view into such a storage answers how many bytes behind nothing its elements would lie.
    """
    found: int = Own.data_ptr(tensor)
    is_there = found >= _HIGH or found != Own.storage_offset(tensor) * Own.element_size(tensor)
    return found if is_there and is_within(tensor) else 0


def is_gone(tensor: torch.Tensor) -> bool:
    """Whether a tensor has elements that do not lie where it says: torch itself would read past what is there."""
    if tensor.__class__ not in ORDINARY or is_lazy(tensor):
        return False
    try:
        return not address(tensor) and Own.numel(tensor) > 0
    except own(RuntimeError):  # a sparse one, or one that a transform of `torch.func` hides
        return False


def where_it_lies(tensor: torch.Tensor) -> torch.Tensor | None:
    """The same on the device of the tensor, of a distributed one the part that is held here.

    None also while a graph of its work is captured, when nothing may wait.
    """
    if tensor.__class__ not in ORDINARY:
        tensor = held(tensor)
    if not opens(tensor.__class__):
        return None
    # A mode of the program's (fake tensors, a counter of operations) is not to see what we do.
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            if tensor_base.is_meta(tensor) or tensor_base.is_nested(tensor) or is_captured(tensor):
                return None
            lazy = is_lazy(tensor)
            if lazy:
                compiled.look_closely()
            if Own._is_zerotensor(tensor):
                return _tensor(Own.expand(_zeros((), dtype=tensor_base.dtype(tensor)), tensor_base.shape(tensor)))
            if (
                tensor_base.layout(tensor) is not torch.strided
                and Own.numel(tensor) * Own.element_size(tensor) > _MOST_BYTES
            ):
                return None
            if tensor.__class__ in ORDINARY:
                plain = tensor_base.data(tensor)  # which is no op: a profiler of the program's would see one
            else:
                plain = Own.as_subclass(Own.detach(tensor), torch.Tensor)
            if tensor_base.layout(plain) is not torch.strided:
                plain = Own.to_dense(plain)
            is_there = address(plain) or Own.numel(plain) == 0  # a transform of `torch.func` hides its address
            if lazy and is_there:
                plain = Own.resolve_neg(Own.resolve_conj(plain))
        except own(RuntimeError, TypeError, NotImplementedError):
            return None
        return _tensor(plain) if is_there else None


def _tensor(found: Any) -> torch.Tensor:
    return found  # type: ignore[no-any-return]


def is_capturing() -> bool:
    """Whether a graph of what a CUDA device does is captured, when nothing may wait, or the device has failed."""
    try:
        return bool(torch._C._cuda_isCurrentStreamCapturing())
    except own(RuntimeError):
        return True


def is_captured(tensor: torch.Tensor) -> bool:
    """Whether a graph of what an accelerator does for a tensor is being captured."""
    return bool(tensor_base.is_cuda(tensor)) and is_capturing()


class _Lent:
    """Memory of a tensor, for NumPy. `Tensor.numpy` would fix the size of the program's storage for good."""

    def __init__(self, plain: torch.Tensor, dtype: np.dtype) -> None:
        self._plain = plain
        size = Own.element_size(plain)
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "data": (Own.data_ptr(plain), False),
            "shape": tuple(tensor_base.shape(plain)),
            "strides": tuple(stride * size for stride in Own.stride(plain)),
        }


def array(plain: torch.Tensor) -> np.ndarray | None:
    """The elements of a plain tensor in C order; bfloat16 as its bits, None for dtypes that NumPy has no name for."""
    dtype = DTYPES.get(tensor_base.dtype(plain))
    if isinstance(dtype, NamedDtype):
        dtype = np.dtype(np.int16) if dtype.name == "bfloat16" else None
    if dtype is None:
        return None
    if Own.numel(plain) == 0:
        return np.empty(tuple(tensor_base.shape(plain)), dtype)
    found = np.asarray(_Lent(plain, dtype))
    try:
        return found if found.flags.c_contiguous else np.ascontiguousarray(found)
    except MemoryError:
        return None


def numbers(tensor: torch.Tensor) -> np.ndarray | None:
    """The elements of a tensor as numbers that NumPy has, on the same memory where that can be; None if there are none.

    Those of bfloat16 and other dtypes that NumPy has no name for come as float32.
    """
    plain = plainly(tensor)
    if plain is None:
        return None
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            return array(plain if isinstance(DTYPES.get(tensor_base.dtype(plain)), np.dtype) else Own.float(plain))
        except own(RuntimeError, NotImplementedError):  # packed and quantised ones
            return None


def distinct(plain: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The elements of a plain tensor as they lie, without those that expanding repeats, and how often it does.

    They come in the order of memory: what was transposed is not any more.
    """
    times = 1
    shape, strides = tensor_base.shape(plain), Own.stride(plain)
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        for axis, stride in enumerate(strides):
            if stride == 0 and shape[axis] > 1:
                times *= shape[axis]
                plain = Own.narrow(plain, axis, 0, 1)
        return _tensor(Own.permute(plain, sorted(range(len(strides)), key=lambda axis: -strides[axis]))), times


def in_one_row(plain: torch.Tensor) -> torch.Tensor | None:
    """The same elements without a gap; None where that takes too large a copy."""
    if Own.is_contiguous(plain):
        return plain
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return _tensor(Own.contiguous(plain)) if tensor_base.nbytes(plain) <= _MOST_BYTES else None


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether no element is NaN or Inf, as far as can be seen."""
    plain = where_it_lies(tensor)
    if plain is None or not (Own.is_floating_point(plain) or Own.is_complex(plain)):
        return True
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            total: Any = Own.item(Own.sum(distinct(plain)[0]))
            # A sum may overflow though every element is finite: only then they are looked at one by one.
            return bool(total - total == 0) or bool(Own.item(Own.all(Own.isfinite(plain))))
        except own(RuntimeError, NotImplementedError):
            return True


def statistics(plain: torch.Tensor) -> Summary | None:
    """The statistics of a plain tensor; the NaN and Inf that it may hold are counted and left out.

    None of a dtype whose elements torch itself has no numbers for.
    """
    count = Own.numel(plain)
    nothing = Summary(0.0, 0.0, 0.0, 0.0, 0, 0, 0, count)
    if count == 0:
        return nothing
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            plain, times = distinct(plain)
            plain = _measurable(plain)
            least, most = map(Own.item, Own.aminmax(plain))
            nan = inf = 0
            if not (least - least == 0 and most - most == 0):
                nan = int(Own.item(Own.sum(Own.isnan(plain)))) * times
                inf = int(Own.item(Own.sum(Own.isinf(plain)))) * times
                plain = Own.masked_select(plain, Own.isfinite(plain))
                if Own.numel(plain) == 0:
                    return Summary(0.0, 0.0, 0.0, 0.0, nan, inf, 0, count)
                least, most = map(Own.item, Own.aminmax(plain))
            kept = Own.numel(plain)
            zero = kept - int(Own.item(Own.count_nonzero(plain))) if least <= 0 <= most else 0
            unit = _unit(max(-least, most), tensor_base.dtype(plain))
            if unit != 1:
                plain = Own.div(plain, unit)
            mean = Own.item(Own.sum(plain)) / kept
            root = Own.item(_norm(plain))
            variance = root * root / kept - mean * mean
            if variance <= 1e-5 * mean * mean:  # nothing is left of it: the numbers lie close together
                variance = Own.item(Own.mean(Own.square(Own.sub(plain, mean))))
            return Summary(least, most, mean * unit, variance**0.5 * unit, nan, inf, zero * times, count)
        except own(RuntimeError, NotImplementedError):
            return None


def _measurable(plain: torch.Tensor) -> Any:
    """Elements as real numbers of a dtype that torch computes statistics of: of complex ones their absolute values."""
    dtype = tensor_base.dtype(plain)
    if tensor_base.is_quantized(plain):
        return Own.dequantize(plain)
    if Own.is_complex(plain):
        return Own.abs(Own.to(plain, torch.complex64) if dtype is torch.complex32 else plain)
    if not Own.is_floating_point(plain):
        return Own.to(plain, torch.float64)
    return Own.float(plain) if Own.element_size(plain) < _SINGLE else plain


def _unit(largest: float, dtype: torch.dtype) -> float:
    """The power of 2 that numbers are told in, of which one is so large: 1 unless their squares had no room."""
    most = 1000 if dtype is torch.float64 else 120
    exponent = math.frexp(largest)[1]
    return 1.0 if abs(exponent) < most // 4 else 2.0 ** max(-most, min(exponent, most))
