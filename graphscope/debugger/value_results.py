"""What an expression gave, as data: its text, its type, and for arrays shape, dtype and statistics."""

from __future__ import annotations

import pprint
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.debugger.expressions import describe
from graphscope.debugger.recorded_tensor import Recorded
from graphscope.debugger.results import Statistics, ValueResult
from graphscope.eventlog import record as recording
from graphscope.eventlog.foreign_tensors import reader_of
from graphscope.eventlog.values import Summary, summarize

if TYPE_CHECKING:
    from graphscope.graph import Node


def result(expression: str, value: object, *, pretty: bool = False) -> ValueResult:
    """A value as a result; a `repr` that raises becomes what it raised."""
    if isinstance(value, Recorded):
        value = value.presented
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


def as_array(value: object) -> np.ndarray | None:
    """The memory of what is an array or a framework's tensor, uncopied; None of anything else.

    A dtype that NumPy has no name for comes as one that holds its numbers, copied.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, Recorded):
        found = value.node.value
        return None if found is None else np.asarray(found)
    if isinstance(value, np.generic) or not hasattr(value, "__array__") or isinstance(value, type):
        return None
    try:
        with recording.recording_to(None):  # not of the program
            found = np.asarray(value.detach() if hasattr(value, "detach") else value)
    except Exception:  # noqa: BLE001 - of a dtype of its own, or an object that only looks like an array
        reader = reader_of(value)
        return None if reader is None else reader.array(value)
    return None if found.dtype.kind == "O" else found


def statistics(value: Any) -> Statistics | None:
    """Statistics of an array or tensor with more than one element, if it holds numbers."""
    array = as_array(value)
    if array is None or array.size < 2 or array.dtype.kind not in "fiub":
        return None
    return _of_summary(summarize(array))


def _of_summary(found: Summary) -> Statistics:
    return Statistics(
        found.minimum,
        found.maximum,
        found.mean,
        found.std,
        found.nan,
        found.inf,
        found.zero,
    )


def kept_statistics(node: Node) -> Statistics | None:
    """The statistics of a node's value where the log kept nothing else of it."""
    found = node.summary if node.value is None else None
    return None if found is None or not found.count else _of_summary(found)


def brief_of(node: Node) -> str:
    """A node's value in one short line; its statistics where the log kept nothing else of it."""
    found = kept_statistics(node)
    text = brief(node.value) if found is None else f"{in_numbers(found)} (statistics)"
    return f"{text} (edited: it was {brief(node.computed)})" if node.edited else text


def statistics_alone(expression: str, node: Node, found: Statistics) -> ValueResult:
    """What there is to say of a node's value of which the log kept nothing but statistics."""
    text = "None: only its statistics were kept (record with values='full' for all of it)"
    return ValueResult(expression, text, "NoneType", node.shape, node.dtype, found)


def in_one_line(array: np.ndarray, precision: int | None = None) -> str:
    """The elements of a small array, without what would line them up in columns."""
    columns = np.array2string(array, precision=precision, separator=", ")
    return " ".join(columns.split()).replace("[ ", "[").replace(" ,", ",")


def brief(value: Any) -> str:
    """An array in one short line."""
    if value is None:
        return "not kept"
    array = np.asarray(value)
    if array.size <= 4:
        return in_one_line(array, precision=5)
    found = statistics(array)
    if found is None:
        return f"{array.size} elements"
    return in_numbers(found)


def in_numbers(found: Statistics) -> str:
    """Statistics in one short line."""
    odd = "".join(f", {count} {name}" for name, count in (("nan", found.nan), ("inf", found.inf)) if count)
    if odd and not found.zero and found.min == found.max == 0:  # none is finite, so that there is no range
        return f"all{odd.removeprefix(',')}"
    return f"{found.min:.4g} .. {found.max:.4g}, mean {found.mean:.4g}{odd}"
