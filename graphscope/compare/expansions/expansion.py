"""The parts of a node: what its op computes on the way to its result, from its recorded inputs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.compare.errors import allowed
from graphscope.compare.expansions.part import Part
from graphscope.compare.expansions.table import EXPANSIONS
from graphscope.compare.rounding import agree
from graphscope.eventlog.typed import Input

if TYPE_CHECKING:
    from graphscope.graph import Node


def expand(node: Node) -> tuple[Part, ...] | None:
    """What a composite op computes on its way, in order; the last part is its result.

    None where the op is no composite one, where its inputs were not kept, or where what is computed here is not
    what was recorded (dropout, an option that is not known here).
    """
    result = node.computed
    parts = None if result is None else _parts(node)
    if not parts or result is None:
        return None
    if parts[-1].value.shape != node.shape or not agree(parts[-1].value, result, allowed(node, ())):
        return None
    return parts


def ahead_of_dropout(node: Node) -> tuple[Part, ...] | None:
    """What attention computes up to its weights, where some of these are dropped then: what follows is chance.

    None where nothing is dropped, or the inputs were not kept.
    """
    compute = EXPANSIONS.get(node.op)
    if compute is None or node.kind != "op":
        return None
    try:
        operands, attributes = _call(node)
        given = inspect.signature(compute).bind(*operands, **attributes).arguments
    except (TypeError, ValueError):
        return None
    drops = given.get("dropout_p", 0.0) and given.get("training", True)
    parts = _parts(node) if drops else None
    labels = [each.label for each in parts or ()]
    return parts[: labels.index("weights") + 1] if parts and "weights" in labels else None


def _parts(node: Node) -> tuple[Part, ...] | None:
    compute = EXPANSIONS.get(node.op)
    if compute is None or node.kind != "op":
        return None
    try:
        operands, attributes = _call(node)
        with np.errstate(all="ignore"):
            return tuple(compute(*operands, **attributes))
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, np.exceptions.AxisError, MemoryError):
        return None  # a call of another form, or a damaged log


def _call(node: Node) -> tuple[list[Any], dict[str, Any]]:
    """Operands and attributes of an op, tensors where they stood.

    Raises:
        ValueError: A tensor was not kept, or the log doesn't say what stood where.
    """
    values = {}
    for edge in node.inputs:
        value = edge.source.output(edge.slot)
        if value is None:
            raise ValueError(f"#{edge.source.row} was not kept")
        wide = np.result_type(value.dtype, np.float64 if node.dtype == "float64" else np.float32)
        values[edge.number] = value.astype(wide, copy=False) if value.dtype.kind == "f" else value
    given = node.arguments
    if given.operands is None:
        raise ValueError("no operands")
    attributes = {name: _filled(each, values) for name, each in given.attributes.items() if not name.startswith("_")}
    return [_filled(each, values) for each in given.operands], attributes


def _filled(given: Any, values: dict[int, np.ndarray]) -> Any:
    """A constant with tensors in the places of inputs."""
    if isinstance(given, Input):
        return values[given.number]
    if isinstance(given, tuple | list):
        return type(given)(_filled(each, values) for each in given)
    return given
