"""Bytes, times and counts as people write them, in a few characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["bytes_text", "count_text", "time_text"]

_BYTES: Final = ("B", "KiB", "MiB", "GiB", "TiB")
_TIMES: Final = ("ns", "µs", "ms", "s")
_COUNTS: Final = ("", "k", "M", "G")


def bytes_text(count: float) -> str:
    """A number of bytes: `512 B`, `1.5 MiB`."""
    amount, unit = _scaled(count, _BYTES, 1024, 1024)
    return f"{amount:.0f} {unit}" if unit == _BYTES[0] else f"{amount:.1f} {unit}"


def time_text(nanoseconds: float) -> str:
    """A time: `12.3 µs`, `4.1 ms`, `2 s`; `0` of what took none."""
    return "0" if nanoseconds == 0 else _three_digits(nanoseconds, _TIMES, " ")


def count_text(count: float) -> str:
    """How many: `732`, `34.2k`, `110M`."""
    return _three_digits(count, _COUNTS, "")


def _three_digits(amount: float, units: Sequence[str], space: str) -> str:
    amount, unit = _scaled(amount, units, 1000, 999.5)
    return f"{amount:.3g}{space}{unit}" if amount < 999.5 else f"{amount:.0f}{space}{unit}"


def _scaled(amount: float, units: Sequence[str], step: int, most: float) -> tuple[float, str]:
    """An amount in the first unit in which it is less than `most`, or in the last."""
    for unit in units[:-1]:
        if amount < most:
            return amount, unit
        amount /= step
    return amount, units[-1]
