"""The rows of a log for nodes of a graph that are no ops of the engine, and for gradients of values."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Final

import numpy as np

from graphscope.engine.core import slots, tracing
from graphscope.engine.core.modes import Context
from graphscope.engine.core.op import OPS
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import arguments, record
from graphscope.eventlog.gate import Replace
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.writer import Writer
from graphscope.static.graphs.graph import Node
from graphscope.static.graphs.node_kinds import KINDS

LEAVES: Final = {"input": "placeholder", "constant": "constant", "variable": "", "read": ""}
"""Kinds of nodes that are leaves of a log, and the function that it names for them."""

# Each is called at the node's place of the program, so many frames (`depth`) up.


def leaf(writer: Writer, made: Tensor, function: str, depth: int) -> None:
    """The row of a tensor that no node made."""
    attrs: dict[str, Any] = {"function": LEAVES[function]} if LEAVES[function] else {}
    tracing.leaf(writer, made, _frame(depth + 1), **attrs)


def op(writer: Writer, node: Node, made: Tensor, inputs: list[Tensor], context: Context, depth: int) -> None:
    """The row of a node of a kind of its own."""
    frame = _frame(depth + 1)
    backward = node.rule is not None
    attributes = {key: value for key, value in node.attributes.items() if _is_plain(value)}
    told = {"name": node.name, **arguments.entry(None, attributes)}
    flags = Flag.CREATE_GRAPH if backward else Flag(0)
    identity = made.first_row if made.first_row >= writer.base else None
    if identity is not None:
        flags |= Flag.IN_PLACE
    template = writer.template(
        Kind.OP,
        op=_op_number(writer, node.op),
        site=site_number(writer, frame),
        scope=tracing.scope_number(writer),
        shape=made.array.shape,
        dtype=made.array.dtype,
        attrs=writer.attributes(told),
        input_count=len(inputs),
        flags=flags,
        version=made.version,
        graph_pass=Pass.BACKWARD if backward else Pass.FORWARD,
    )
    edges = [tracing.edge(tensor) for tensor in inputs]
    keep = [(made.array, template.keep)]
    made.row = writer.append_wide(template, keep, edges, writer.clock(), 0, context.backward_row, identity)
    _paused(writer, made, frame)


def gradient(
    writer: Writer,
    kind: Kind,
    node: Node,
    arrays: list[np.ndarray],
    forward: int,
    rows: list[int],
    slot: int,
    depth: int,
) -> tuple[int, np.ndarray | None]:
    """A row of what arrived for a node: a contribution, or the cotangents of all of its slots.

    Args:
        writer: The log.
        kind: GRAD or ACCUMULATE.
        node: Whose gradient it is.
        arrays: What arrived.
        forward: The node's own row.
        rows: Where it came from.
        slot: Of a contribution to one slot of several, which; else -1.
        depth: How many frames up the node's place is.

    Returns:
        The row, and what a person puts in the place of the first array.
    """
    frame = _frame(depth + 1)
    whole = kind == Kind.GRAD
    in_scope = whole or slot >= 0
    template = writer.template(
        kind,
        op=_op_number(writer, _name_of(node)) if whole else 0,
        site=site_number(writer, frame),
        scope=tracing.scope_number(writer) if in_scope else 0,
        shape=arrays[0].shape,
        dtype=arrays[0].dtype,
        attrs=writer.attributes({"slot": slot}) if slot >= 0 else 0,
        input_count=len(rows),
        flags=Flag(0) if in_scope else Flag.FRESH,
        graph_pass=Pass.BACKWARD,
        several=len(arrays) > 1,
    )
    edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
    pairs = [slots.stored(writer, array) for array in arrays]
    row = writer.append_wide(template, pairs, edges, writer.clock(), 0, forward)
    answer = None if slot >= 0 else tracing.pause(writer, row, arrays[0], frame)
    return row, answer.value if isinstance(answer, Replace) else None


def edge(writer: Writer, kind: Kind, row: int, depth: int) -> None:
    """The mark where a backward pass begins or ends, which starts from this row."""
    site = site_number(writer, _frame(depth + 1))
    template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=1)
    writer.append(template, None, writer.clock(), 0, 0, row)


def _paused(writer: Writer, made: Tensor, frame: FrameType) -> None:
    answer = tracing.pause(writer, made.row, made.array, frame)
    if isinstance(answer, Replace):
        made.array = answer.value


def _name_of(node: Node) -> str:
    """The op of a node: of a call that was deferred, the one that was called."""
    name = getattr(node.attributes.get("function"), "__name__", "") if node.op == "deferred" else ""
    return name if name in OPS else node.op


def _op_number(writer: Writer, name: str) -> int:
    if name in OPS:
        return tracing.op_number(writer, OPS[name])
    entry = {"name": name, "formula": "", "doc": KINDS[name].doc, "vjp": [], "inputs": []}
    return writer.intern("ops", name, entry)


def _frame(depth: int) -> FrameType:
    """The frame at a node's place; of a node that has none, that of the program that runs it."""
    frame = sys._getframe(depth)
    return (record.user_frame(depth) or frame) if record.is_internal(frame.f_code.co_filename) else frame


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | tuple | np.dtype)
