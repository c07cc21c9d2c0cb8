"""The elements of a tensor: where they lie, as an array, and what they come to."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch.dtypes import DTYPES, NamedDtype
from graphscope.adapters.torch.unusual import opens
from graphscope.eventlog.values import Summary

_MOST_BYTES: Final = 1 << 27
"""No larger copy is made to look at elements that do not lie in one row."""


def array_of(tensor: torch.Tensor) -> np.ndarray | None:
    """The elements of a tensor as an array, on the same memory where that can be; None where they can't be had."""
    plain = plainly(tensor)
    return None if plain is None else array(plain)


def plainly(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor of these elements in memory of this machine, as they are; None where there are none to be had.

    From another device they are copied once what the program has queued there, on the stream that it uses, is done.
    """
    plain = where_it_lies(tensor)
    if plain is None or plain.is_cpu:
        return plain
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        return plain.cpu()


def is_remote(tensor: torch.Tensor) -> bool:
    """Whether the elements lie in the memory of an accelerator."""
    return not (tensor.is_cpu or tensor.is_meta)


def where_it_lies(tensor: torch.Tensor) -> torch.Tensor | None:
    """The same on the device of the tensor; None also while a graph of its work is captured, when nothing may wait."""
    if not opens(tensor.__class__):
        return None
    # A mode of the program's (fake tensors, a counter of operations) is not to see what we do.
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            if tensor.is_meta or tensor.is_nested or (tensor.is_cuda and torch.cuda.is_current_stream_capturing()):
                return None
            if tensor._is_zerotensor():
                return torch.zeros((), dtype=tensor.dtype).expand(tensor.shape)
            if tensor.layout is not torch.strided and tensor.numel() * tensor.element_size() > _MOST_BYTES:
                return None
            plain = tensor.detach()
            if plain.layout is not torch.strided:
                plain = plain.to_dense()
            plain = plain.as_subclass(torch.Tensor).resolve_conj().resolve_neg()
            address = plain.data_ptr()  # a transform of `torch.func` hides it
        except (RuntimeError, TypeError, NotImplementedError):
            return None
        return plain if address or plain.numel() == 0 else None  # its storage may be lent out or given back


class _Lent:
    """Memory of a tensor, for NumPy. `Tensor.numpy` would fix the size of the program's storage for good."""

    def __init__(self, plain: torch.Tensor, dtype: np.dtype) -> None:
        self._plain = plain
        size = plain.element_size()
        self.__array_interface__ = {
            "version": 3,
            "typestr": dtype.str,
            "data": (plain.data_ptr(), False),
            "shape": tuple(plain.shape),
            "strides": tuple(stride * size for stride in plain.stride()),
        }


def array(plain: torch.Tensor) -> np.ndarray | None:
    """The elements of a plain tensor in C order; bfloat16 as its bits, None for dtypes that NumPy has no name for."""
    dtype = DTYPES.get(plain.dtype)
    if isinstance(dtype, NamedDtype):
        dtype = np.dtype(np.int16) if dtype.name == "bfloat16" else None
    if dtype is None:
        return None
    if plain.numel() == 0:
        return np.empty(tuple(plain.shape), dtype)
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
            return array(plain if isinstance(DTYPES.get(plain.dtype), np.dtype) else plain.float())
        except (RuntimeError, NotImplementedError):  # packed and quantised ones
            return None


def distinct(plain: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The elements of a tensor without those that expanding repeats, and how often it repeats them."""
    times = 1
    for axis, stride in enumerate(plain.stride()):
        if stride == 0 and plain.shape[axis] > 1:
            times *= plain.shape[axis]
            plain = plain.narrow(axis, 0, 1)
    return plain, times


def in_one_row(plain: torch.Tensor) -> torch.Tensor | None:
    """The same elements without a gap; None where that takes too large a copy."""
    if plain.is_contiguous():
        return plain
    return plain.contiguous() if plain.nbytes <= _MOST_BYTES else None


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether no element is NaN or Inf, as far as can be seen."""
    plain = where_it_lies(tensor)
    if plain is None or not (plain.is_floating_point() or plain.is_complex()):
        return True
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            total: Any = distinct(plain)[0].sum().item()
            # A sum may overflow though every element is finite: only then they are looked at one by one.
            return bool(total - total == 0) or bool(torch.isfinite(plain).all())
        except (RuntimeError, NotImplementedError):
            return True


def statistics(plain: torch.Tensor) -> Summary:
    """The statistics of a plain tensor; the NaN and Inf that it may hold are counted and left out."""
    count = plain.numel()
    nothing = Summary(0.0, 0.0, 0.0, 0.0, 0, 0, 0, count)
    if count == 0:
        return nothing
    plain, times = distinct(plain)
    with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
        try:
            if plain.is_complex():
                plain = plain.abs()
            elif not plain.is_floating_point() or plain.dtype in (torch.float16, torch.bfloat16):
                plain = plain.to(torch.float32 if plain.is_floating_point() else torch.float64)
            low, high = torch.aminmax(plain)
            least, most = low.item(), high.item()
            nan = inf = 0
            if not (least - least == 0 and most - most == 0):
                nan = int(plain.isnan().sum()) * times
                inf = int(plain.isinf().sum()) * times
                plain = plain[plain.isfinite()]
                if plain.numel() == 0:
                    return Summary(0.0, 0.0, 0.0, 0.0, nan, inf, 0, count)
                low, high = torch.aminmax(plain)
                least, most = low.item(), high.item()
            kept = plain.numel()
            mean = plain.sum().item() / kept
            root = torch.linalg.vector_norm(plain).item()
            variance = root * root / kept - mean * mean
            if variance <= 1e-5 * mean * mean:  # nothing is left of it: the numbers lie close together
                variance = float((plain - mean).square().mean())
            zero = kept - int(torch.count_nonzero(plain)) if least <= 0 <= most else 0
            return Summary(least, most, mean, variance**0.5, nan, inf, zero * times, count)
        except (RuntimeError, NotImplementedError):
            return nothing
