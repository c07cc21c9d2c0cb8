"""What a log says of an op of a TensorFlow graph: where it was written, which scopes it lies in, what it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import tensorflow as tf

from graphscope.eventlog.own_files import is_own
from graphscope.eventlog.places import Line
from graphscope.eventlog.schema import DTYPE_CODES

VARIABLES: Final = frozenset({"VarHandleOp", "Variable", "VariableV2", "TemporaryVariable"})
"""Ops that stand for a variable of the session."""

LEAVES: Final = {"Placeholder": "placeholder", "Const": "constant", **dict.fromkeys(VARIABLES, "variable")}
"""Ops that are leaves of a log, and what it calls the function that makes such a leaf."""

HARMLESS: Final = VARIABLES | {
    "Assert", "IsVariableInitialized", "LookupTableFindV2", "Placeholder", "QueueSizeV2", "ReadVariableOp",
    "ResourceGather", "ResourceGatherNd", "VarIsInitializedOp", "VariableShape",
}  # fmt: skip
"""Ops that hold state, or look at it, and may run as often as one likes."""

PER_RUN: Final = ("TensorArray", "Stack")
"""Ops whose names begin so share what lives for one run: they run together, and again together."""

_LIBRARY: Final = str(tf.__path__[0])
_NO_VALUE: Final = frozenset({"type", "func", "list(type)", "list(func)", "tensor", "list(tensor)"})
"""Kinds of attributes that say nothing that a value does not say."""


@dataclass(frozen=True, slots=True)
class Described:
    """An op of a graph, as the log has it."""

    name: str
    type: str
    line: Line | None
    """None where nobody wrote it: the graph was imported."""
    scopes: tuple[str, ...]
    attributes: dict[str, Any]


def described(op: tf.Operation) -> Described:
    """An op of a graph, as the log has it."""
    return Described(op.name, op.type, _line(op), tuple(op.name.split("/")[:-1]), dict(_attributes(op)))


def is_array(dtype: tf.DType) -> bool:
    """Whether values of a dtype leave and enter a session: all but handles do."""
    return dtype.base_dtype not in (tf.resource, tf.variant)


def logged(value: Any) -> Any:
    """A value as a log takes it; None of what it has no place for."""
    return value if value is not None and np.asarray(value).dtype.name in DTYPE_CODES else None


def _line(op: tf.Operation) -> Line | None:
    """The innermost line of the program that made an op; of a graph that a library made, the library's."""
    found = None
    for frame in reversed(list(op.traceback or ())):
        if is_own(frame.filename):
            return Line(frame.filename, frame.lineno, frame.name)
        if found is None and not frame.filename.startswith((_LIBRARY, "<frozen")):
            found = Line(frame.filename, frame.lineno, frame.name)
    return found


def _attributes(op: tf.Operation) -> Iterable[tuple[str, Any]]:
    for each in op.op_def.attr:
        if each.type in _NO_VALUE:
            continue
        value = op.get_attr(each.name)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, list):
            value = [part.decode(errors="replace") if isinstance(part, bytes) else part for part in value]
        if isinstance(value, bool | int | float | str | list):
            yield each.name, value
