"""What an expression gave, as data: its text, its type, and for arrays shape, dtype and statistics."""

from __future__ import annotations

import pprint
from typing import Any

import numpy as np

from graphscope.debugger.expressions import describe
from graphscope.debugger.recorded import Recorded
from graphscope.debugger.results import Statistics, ValueResult
from graphscope.eventlog.values import summarize


def result(expression: str, value: object, *, pretty: bool = False) -> ValueResult:
    """A value as a result; a `repr` that raises becomes what it raised."""
    if isinstance(value, Recorded):
        value = value.node.value
    try:
        text = pprint.pformat(value) if pretty else repr(value)
    except Exception as error:  # noqa: BLE001 - the program's own __repr__ may raise anything
        text = f"<its repr raised {describe(error)}>"
    shape = getattr(value, "shape", None)
    return ValueResult(
        expression,
        text,
        type(value).__name__,
        tuple(shape) if isinstance(shape, tuple) else None,
        str(getattr(value, "dtype", "")) if isinstance(shape, tuple) else "",
        statistics(value),
    )


def statistics(value: Any) -> Statistics | None:
    """Statistics of an array with more than one element, if it holds numbers."""
    if not isinstance(value, np.ndarray) or value.size < 2 or value.dtype.kind not in "fiub":
        return None
    found = summarize(value)
    return Statistics(
        found.minimum,
        found.maximum,
        found.mean,
        found.std,
        found.nan,
        found.inf,
        found.zero,
    )


def brief(value: Any) -> str:
    """An array in one short line."""
    if value is None:
        return "not kept"
    array = np.asarray(value)
    if array.size <= 4:
        return " ".join(np.array2string(array, precision=5, separator=", ").split())
    found = statistics(array)
    if found is None:
        return f"{array.size} elements"
    odd = "".join(f" {count} {name}" for name, count in (("nan", found.nan), ("inf", found.inf)) if count)
    return f"{found.min:.4g} .. {found.max:.4g}, mean {found.mean:.4g}{odd}"
