"""How much of a value is kept: policies, and the statistics that stand for a value that is too large."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from graphscope.eventlog import schema
from graphscope.eventlog.appender import FLOATING, measure
from graphscope.eventlog.schema import Flag

POLICIES: Final = ("full", "summary", "none")
SMALL: Final = 4096
"""Under `summary`, a value of so many bytes or fewer is kept whole: a copy costs less than its statistics."""

_CAP: Final = 1 << 20
_SHARE: Final = 128
"""Of a small budget a value takes no more than such a share. A segment, which has a quarter of it, then holds dozens of
values; were it filled by a few, leaves above all, there would be very many segments, and no step whole in one."""


def cap_of(budget: int) -> int:
    """Bytes above which a value is summarised, where nobody says how many."""
    return min(_CAP, budget // _SHARE)


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of a value; `minimum`, `maximum`, `mean` and `std` are those of its finite elements."""

    minimum: float
    maximum: float
    mean: float
    std: float
    nan: int
    inf: int
    zero: int
    count: int

    @property
    def finite(self) -> bool:
        """Whether no element is NaN or infinite."""
        return self.nan == 0 and self.inf == 0


_FIRST_OF_OTHERS: Final = 256
"""Packages that add dtypes to NumPy, as `ml_dtypes` does, number them from here on."""


def summarize(value: np.ndarray) -> Summary:
    """The statistics of an array of any shape and numeric dtype; all zero for an empty one."""
    count = int(value.size)
    if value.dtype.num >= _FIRST_OF_OTHERS and nature(value.dtype).has_values:  # NumPy knows nothing of their kind
        value = value.astype(np.float32)
    if count == 0 or value.dtype.kind not in "fiubc":
        return Summary(0.0, 0.0, 0.0, 0.0, 0, 0, 0, count)
    with np.errstate(all="ignore"):
        numbers = np.abs(value) if value.dtype.kind == "c" else value
    nan = inf = 0
    finite = numbers.ravel()
    if numbers.dtype.kind == "f" and not np.isfinite(finite).all():
        nan = int(np.isnan(finite).sum())
        inf = int(np.isinf(finite).sum())
        finite = finite[np.isfinite(finite)]
    zero = count - int(np.count_nonzero(numbers))
    if finite.size == 0:
        return Summary(0.0, 0.0, 0.0, 0.0, nan, inf, zero, count)
    with np.errstate(all="ignore"):  # the program's numbers may be too large to be squared; that is no news from us
        mean = float(finite.mean(dtype=np.float64))
        std = float(finite.std(dtype=np.float64))
    return Summary(float(finite.min()), float(finite.max()), mean, std, nan, inf, zero, count)


def finite(value: Any, *, bfloat16: bool = False) -> bool:
    """Whether no element is NaN or infinite; values of bfloat16, which NumPy does not know, may come as their bits."""
    array = np.asarray(value)
    if bfloat16:
        return not bool(((array.view(np.uint16) & 0x7F80) == 0x7F80).any())
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def pack(summary: Summary) -> bytes:
    """The bytes of a `SUMMARY` record."""
    fields = schema.SUMMARY.names or ()
    return np.array(tuple(getattr(summary, name) for name in fields), schema.SUMMARY).tobytes()


_MEASURED: Final = {np.dtype(name).char: FLOATING[name] for name in ("float16", "float32", "float64")}
"""The floating types of NumPy that are measured by compiled code, by the letters of their dtypes."""


def summary_record(value: np.ndarray) -> bytes:
    """The bytes of a `SUMMARY` record of an array."""
    floating = _MEASURED.get(value.dtype.char)
    if measure is not None and floating and value.size and value.flags.forc and value.dtype.isnative:
        found: bytes = measure(value, value.nbytes, floating)
        return found
    return pack(summarize(value))


def unpack(record: bytes, count: int) -> Summary:
    """A summary from the bytes of a `SUMMARY` record, of a value with `count` elements."""
    (row,) = np.frombuffer(record, schema.SUMMARY, 1)
    minimum, maximum, mean, std, nan, inf, zero = row.item()
    return Summary(minimum, maximum, mean, std, nan, inf, zero, count)


def storage(policy: str, cap: int, nbytes: int, dtype: np.dtype) -> Flag:
    """How a value of so many bytes is kept: INLINE, KEPT, SUMMARY, or not at all.

    Args:
        policy: One of POLICIES.
        cap: Values of more bytes are summarised.
        nbytes: The value's size.
        dtype: Its dtype; what the format has no code for, or no more than a name, is not kept.
    """
    kind = nature(dtype)
    if policy == "none" or not kind.has_values:
        return Flag(0)
    if not kind.is_read:
        return Flag.SUMMARY
    if nbytes <= schema.INLINE_BYTES:
        return Flag.INLINE
    limit = min(SMALL, cap) if policy == "summary" else cap
    return Flag.KEPT if nbytes <= limit else Flag.SUMMARY


class Nature(NamedTuple):
    """What of a dtype decides how values of it are kept."""

    name: str
    has_values: bool
    """Whether the format knows more of it than its name."""
    is_read: bool
    """Whether readers have its elements from the bytes: they know the dtype, and these are in this machine's order."""


@lru_cache(maxsize=256)
def nature(dtype: np.dtype) -> Nature:
    """What of a dtype decides how values of it are kept; NumPy puts its name together anew each time."""
    name = dtype.name
    has_values = name in schema.DTYPE_CODES and name not in schema.NAMED and not dtype.hasobject
    return Nature(name, has_values, dtype.isnative and name not in schema.MEASURED)


def advice(dtype: str) -> str:
    """What to do where a value of a dtype was not kept and is wanted."""
    if dtype in schema.NAMED:
        return f"values of {dtype} are never kept: in PyTorch, .view(torch.uint8) of a tensor has its bits"
    return "record with values='full' and a larger cap or budget"
