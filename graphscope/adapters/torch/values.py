"""What the log keeps of a tensor: its bytes as an array, its statistics, or whether it is finite."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import numpy as np
import torch

from graphscope.adapters.torch.compiled import Site
from graphscope.eventlog.appender import FLOATING, compiled
from graphscope.eventlog.schema import DTYPE_CODES, Flag
from graphscope.eventlog.schema import DTYPES as DTYPES_BY_CODE
from graphscope.eventlog.template import Template
from graphscope.eventlog.values import Summary, pack

try:
    measure: Any = import_module("graphscope.eventlog._measure").measure
except ImportError:  # not built here
    compiled = False


@dataclass(frozen=True)
class NamedDtype:
    """A dtype that NumPy has no name for, as templates ask for it."""

    name: str
    itemsize: int
    kind: str
    isnative: bool = True
    hasobject: bool = False


DTYPES: Final[dict[torch.dtype, Any]] = {
    dtype: np.dtype(str(dtype).removeprefix("torch."))
    for dtype in (
        torch.float32, torch.float64, torch.float16, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
} | {torch.bfloat16: NamedDtype("bfloat16", 2, "f")}  # fmt: skip
"""The log's dtypes by torch's."""


def log_dtype(dtype: torch.dtype) -> Any:
    """What the log calls a dtype; one that it has no code for is named and its values are not kept."""
    found = DTYPES.get(dtype)
    if found is None:
        name = str(dtype).removeprefix("torch.")
        kind = "f" if dtype.is_floating_point else "V"
        found = DTYPES[dtype] = (
            np.dtype(name) if name in DTYPE_CODES and hasattr(np, name) else NamedDtype(name, dtype.itemsize, kind)
        )
    return found


def array_of(tensor: torch.Tensor) -> np.ndarray | None:
    """The elements of a tensor as an array, on the same memory where that can be; None where they can't be had."""
    plain = plainly(tensor)
    return None if plain is None else _array(plain)


def plainly(tensor: torch.Tensor) -> torch.Tensor | None:
    """A tensor of these elements in memory of this machine, as they are; None where there are none to be had."""
    try:
        plain = tensor.detach()
        if plain.is_meta:
            return None
        if plain.layout is not torch.strided:
            plain = plain.to_dense()
        plain = plain.resolve_conj().resolve_neg().cpu()
        plain.data_ptr()  # a transform of `torch.func` hides it
    except (RuntimeError, TypeError, NotImplementedError):
        return None
    return plain


def _array(plain: torch.Tensor) -> np.ndarray:
    if plain.dtype is torch.bfloat16:
        plain = plain.contiguous().view(torch.int16)
    array = plain.numpy()
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def is_finite(tensor: torch.Tensor) -> bool:
    """Whether no element is NaN or Inf."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.is_meta:
        return True
    try:
        total = tensor.detach().sum().item()
        # A sum may overflow though every element is finite: only then they are looked at one by one.
        return total - total == 0 or bool(torch.isfinite(tensor.detach()).all())
    except (RuntimeError, NotImplementedError):
        return True


def statistics(tensor: torch.Tensor) -> Summary:
    """The statistics of a tensor; the NaN and Inf that it may hold are counted and left out."""
    plain = tensor.detach()
    count = plain.numel()
    try:
        if count == 0 or plain.is_meta:
            return Summary(0.0, 0.0, 0.0, 0.0, 0, 0, 0, count)
        if plain.layout is not torch.strided:
            plain = plain.to_dense()
        if plain.is_complex():
            plain = plain.abs()
        elif not plain.is_floating_point() or plain.dtype in (torch.float16, torch.bfloat16):
            plain = plain.to(torch.float32 if plain.is_floating_point() else torch.float64)
        low, high = torch.aminmax(plain)
        least, most = low.item(), high.item()
        nan = inf = 0
        if not (least - least == 0 and most - most == 0):
            nan = int(plain.isnan().sum())
            inf = int(plain.isinf().sum())
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
        return Summary(least, most, mean, variance**0.5, nan, inf, zero, count)
    except (RuntimeError, NotImplementedError):
        return Summary(0.0, 0.0, 0.0, 0.0, 0, 0, 0, count)


class Keeping(Site):
    """A template, and how the value of its rows is had from a tensor."""

    __slots__ = ("floating", "nbytes", "unkept")

    def __init__(self, template: Template) -> None:
        self.template = template
        self.summary = bool(template.keep == Flag.SUMMARY)
        self.nbytes = template.nbytes
        self.floating = FLOATING.get(DTYPES_BY_CODE[template.fields[1]], 0)
        flags = Flag(template.flags) & ~(Flag.KEPT | Flag.INLINE | Flag.SUMMARY)
        self.unkept = Template(template.fields, flags, 0, Flag(0), "")
        """For a tensor whose elements can't be had."""
        self.direct = bool(compiled and not (self.summary and not self.floating))
        """Whether the elements can be read where they lie."""

    def fits(self, tensor: torch.Tensor) -> bool:
        """Whether a tensor has as many bytes as a row of this template tells of."""
        try:
            return tensor.nbytes == self.nbytes
        except RuntimeError:  # a sparse one
            return False

    def read(self, tensor: torch.Tensor) -> tuple[Template, Any]:
        """The template and the value to append for a tensor: its address, where its elements lie in one row."""
        if self.direct and tensor.is_cpu and tensor.is_contiguous():
            try:
                address = tensor.data_ptr()
            except RuntimeError:  # a transform of `torch.func` hides it
                return self.unkept, None
            if address and tensor.__class__ in _ORDINARY:
                if self.summary:
                    return self.template, measure(address, self.nbytes, self.floating)
                return self.template, address
        return self._elsewhere(tensor)

    def _elsewhere(self, tensor: torch.Tensor) -> tuple[Template, Any]:
        """The same for elements that lie apart, on another device, or are not floating."""
        plain = plainly(tensor)
        if plain is None:
            return self.unkept, None
        if not self.summary:
            return self.template, _array(plain)
        if self.direct:
            plain = plain.contiguous()
            return self.template, measure(plain.data_ptr(), plain.nbytes, self.floating)
        return self.template, pack(statistics(plain))


_ORDINARY: Final = (torch.Tensor, torch.nn.Parameter)
"""Classes whose tensors have their elements at `data_ptr`."""
