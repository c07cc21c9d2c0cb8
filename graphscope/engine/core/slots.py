"""Nodes with several outputs: one node, a slot for each output, and how the cotangents of the slots come together.

The tensor of a slot has a record of its own, whose only target is the record of the op. On the way back it puts its
cotangent at its place among those of the node; the node runs, as any other, when all that can arrive has arrived.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from sys import _getframe
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, modes, operands, tracing, writes
from graphscope.engine.core.modes import here
from graphscope.engine.core.node import ATTRS, OUTPUTS, PLAN, ROW, SITE, TARGETS, Plan, Record, plan_for
from graphscope.engine.core.op import Op
from graphscope.engine.core.op_errors import explain_failure
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.tracing import Given
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace, StepInto
from graphscope.eventlog.schema import SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.values import storage
from graphscope.eventlog.writer import Writer

HOOKS_OF_SLOTS: Final = "_hooks"
ROWS: Final = "_rows"
"""What a node with several outputs also keeps beside the attributes of the call: the hooks of its slots and,
during a recorded backward pass, the rows of the cotangents that arrived."""


_new = object.__new__
_next_moment = writes.moments.__next__


class Cotangents(dict[int, Any]):
    """The cotangents that have arrived for a node, by slot; they add up like one cotangent."""

    def __add__(self, other: Cotangents) -> Cotangents:
        total = Cotangents(self)
        for slot, value in other.items():
            total[slot] = total[slot] + value if slot in total else value
        return total


class SlotPlan(Plan):
    """How the record of one slot goes backward: its cotangent is one of its node's."""

    __slots__ = ()

    def __init__(self, op: Op, slot: int) -> None:
        super().__init__(op, (), 0)
        self.slot = slot
        self.special = True
        self.rules = (_PLACED,)

    def arguments(self, saved: Any) -> tuple[tuple[Any, ...], ...]:
        return ((),)

    def targets(self, record: Record) -> tuple[Any, ...]:
        return (record[TARGETS],)


class _Placed:
    """Stands where a plan has its rules."""

    attrs = needs = ()
    index = 0


_PLACED: Final[Any] = _Placed()


def slot_record(node: Record, slot: int) -> Record:
    """The record of a slot; every one made for the same slot of the same node is as good as the other."""
    op = node[PLAN].op
    plan = op.plans.get(slot)
    if plan is None:
        plan = op.plans[slot] = SlotPlan(op, slot)
    return [plan, node, None, node[3] + 1 + slot, None, None, -1, None, node[ATTRS][HOOKS_OF_SLOTS][slot], None]


def row_of(record: Record) -> int:
    """The row in the log, and above it the slot, of what a record's op computed; -1 when it was not recorded."""
    slot = record[PLAN].slot
    if slot < 0:
        return int(record[ROW])
    row = record[TARGETS][ROW]
    return int(row | slot << SLOT_SHIFT) if row >= 0 else -1


def whole(node: Record, found: Cotangents, tensors: bool) -> tuple[Any, ...]:
    """The cotangents of all slots: zeros where none arrived, None where none can."""
    every = []
    for slot, (shape, dtype) in enumerate(node[ATTRS][OUTPUTS]):
        value = found.get(slot)
        if value is None and dtype.kind in "fc":
            value = np.zeros(shape, dtype) if shape else dtype.type(0)
        if tensors and value is not None and not isinstance(value, Tensor):
            value = Tensor(value)
        every.append(value)
    return tuple(every)


# The forward call -----------------------------------------------------------------------------------------------------


def apply_several(op: Op, inputs: Sequence[Any], attrs: dict[str, Any] | None = None, depth: int = 2) -> Any:
    """Run an op of several outputs, as `tensor.apply` runs one of a single output.

    Raises:
        RuntimeError: The shapes or dtypes do not fit; the message says which and how.
    """
    writer = recording.writer
    track = not modes.disabled or here().grad_enabled
    inputs, tensors, arrays, constants, goals = operands.gather(op, inputs, Tensor, track)
    start = 0
    frame: Any = None
    if writer is not None:
        frame = _getframe(depth)
        if tracing.begin(writer, op, inputs, frame):
            arrays = dtypes.promoted(op, inputs)
        start = writer.clock()
    if op.view:
        arrays[0] = tensors[0].shared()
    try:
        given = op.forward(*arrays, **attrs) if attrs else op.forward(*arrays)
    except (ValueError, TypeError, IndexError, np.exceptions.AxisError, np.linalg.LinAlgError) as error:
        raise tracing.failed(writer, _getframe(depth), op, tensors, explain_failure(op, arrays, attrs, error)) from None
    results = given[0] if op.residuals else given
    outs = [_plain(result) for result in results]
    site, row = None, -1
    if writer is not None:
        edges = [tracing.edge(tensor) for tensor in tensors]
        operands_ = tracing.operands_of(inputs, Tensor) if constants else None
        site, row = record_call(writer, op, edges, outs, (operands_, attrs), frame, start)
    values = tuple([out.array for out in outs])
    if op.view:
        memory = writes.buffer(arrays[0])
        base = tensors[0] if tensors[0].base is None else tensors[0].base
        for out in outs:
            if writes.buffer(out.array) is memory:
                out.base = base
                out.one_of_several = True
                base.note_view(out)
    if goals is None:
        return op.result(outs)
    wanting = tuple([goal is not None for goal in goals])
    plan = op.plans.get(wanting) or plan_for(op, wanting)
    if plan.rules:
        kept = dict(attrs) if attrs else {}
        kept[HOOKS_OF_SLOTS] = [{} for _ in outs]
        kept[OUTPUTS] = [(value.shape, value.dtype) for value in values]
        # Each slot takes the moment that `slot_record` gives it.
        saved = plan.save((values, given[1]) if op.residuals else values, *arrays)
        targets = tuple([goals[index] for index in plan.wanted])
        shapes = tuple([arrays[index].shape for index in plan.wanted])
        node = [plan, targets, saved, _next_moment(), shapes, kept, row, site, None, None]
        for slot, out in enumerate(outs):
            _next_moment()
            if values[slot].dtype.kind in "fc":
                out.node = slot_record(node, slot)
    return op.result(outs)


def _plain(array: Any) -> Tensor:
    out: Tensor = _new(Tensor)
    out.array = array
    out.node = None
    out.wants_grad = False
    out.row = -1
    return out


def record_call(
    writer: Writer, op: Op, rows: list[tuple[int, int]], outs: list[Tensor], given: Given, frame: Any, start: int
) -> tuple[Any, int]:
    """The row of a call: one node, a slot for each output."""
    end = writer.clock()
    key: Any = tuple((out.array.shape, out.array.dtype.str) for out in outs)
    first = outs[0].array if outs else np.zeros(0)
    site, numbers = tracing.call_site(writer, frame, op, first, *given, len(rows), key)
    known = writer.variants.setdefault(site, {})
    template = known.get(OUTPUTS)
    if template is None:
        flags = Flag(site.template.flags & ~(Flag.INLINE | Flag.KEPT | Flag.SUMMARY))
        forward_pass = Pass.BACKWARD if flags & Flag.CREATE_GRAPH else Pass.FORWARD
        template = known[OUTPUTS] = writer.template(
            Kind.OP, flags=flags, graph_pass=forward_pass, input_count=len(rows), number_count=len(numbers),
            several=len(outs) > 1, **site.fields,
        )  # fmt: skip
    pairs = [stored(writer, out.array) for out in outs]
    row = writer.append_wide(template, pairs, rows, end, end - start, here().context.backward_row, None, numbers)
    for slot, out in enumerate(outs):
        out.row = row | slot << SLOT_SHIFT
        watch(out)
    if writer.gate is not None and outs:
        answer = tracing.pause(writer, row, first, frame)
        if isinstance(answer, Replace):
            outs[0].array = answer.value
    return site, row


def stored(writer: Writer, value: Any) -> tuple[Any, int]:
    """A value of a row of several, and how much of it is kept."""
    return value, storage(writer.policy, writer.cap, value.nbytes, value.dtype)


_rows_held: Final[dict[int, weakref.ref[Tensor]]] = {}
"""The tensors whose `row` bears a slot. No comparison tells that such a row is of an earlier recording, so each
recording takes back, when it ends, those that it gave."""


def watch(tensor: Tensor) -> None:
    """Note that the row of a tensor bears a slot."""
    key = id(tensor)
    # No line of Python runs when it goes: its exceptions would be lost.
    _rows_held[key] = weakref.ref(tensor, partial(_rows_held.pop, key))


def _take_back() -> None:
    for reference in list(_rows_held.values()):
        tensor = reference()
        if tensor is not None:
            tensor.row = -1
    _rows_held.clear()


recording.at_stop.append(_take_back)


# The backward rows ----------------------------------------------------------------------------------------------------


def contribution(writer: Writer, record: Record, value: Any, origin: int) -> int:
    """The ACCUMULATE row of what arrives for the slot of this record; -1 where the node was not recorded."""
    node = record[TARGETS]
    site = node[SITE]
    if site is None or node[ROW] < writer.base:
        return -1
    data = value.array if value.__class__ is Tensor else value
    slot = record[PLAN].slot
    known = writer.variants.setdefault(site, {})
    key = (slot, origin >= 0, data.shape, data.dtype)
    template = known.get(key)
    if template is None:
        fields = {**site.fields, "op": 0, "attrs": writer.attributes({"slot": slot})}
        fields |= {"shape": data.shape, "dtype": data.dtype}
        count = int(origin >= 0)
        template = writer.template(Kind.ACCUMULATE, graph_pass=Pass.BACKWARD, input_count=count, **fields)
        known[key] = template
    return writer.append(template, data, writer.clock(), 0, node[ROW], *((origin,) if origin >= 0 else ()))


def arrived(writer: Writer, record: Record, value: Any, origin: int, parts: list[int] | None) -> None:
    """The cotangent of a slot is whole: its node will name the rows that it came in."""
    rows = parts or [contribution(writer, record, value, origin)]
    record[TARGETS][ATTRS].setdefault(ROWS, []).extend(row for row in rows if row >= 0)


def cotangent(writer: Writer, node: Record, found: Cotangents, frame: Any, now: int) -> tuple[int, Cotangents, bool]:
    """The GRAD row of a node whose cotangents are whole: a slot for each output."""
    edges = node[ATTRS].pop(ROWS, [])
    site = node[SITE]
    if site is None or node[ROW] < writer.base:
        return -1, found, False
    values = [value.array if isinstance(value, Tensor) else value for value in whole(node, found, False)]
    known = writer.variants.setdefault(site, {})
    key = (Kind.GRAD, len(edges))
    template = known.get(key)
    if template is None:
        several = len(values) > 1
        template = known[key] = writer.template(
            Kind.GRAD, graph_pass=Pass.BACKWARD, input_count=len(edges), several=several, **site.fields
        )
    pairs = [stored(writer, np.zeros(0, np.float32) if value is None else value) for value in values]
    row = writer.append_wide(template, pairs, [(edge, 0) for edge in edges], now, 0, node[ROW])
    if writer.gate is not None:
        slot, value = next(iter(sorted(found.items())))
        answer = tracing.pause(writer, row, value.array if isinstance(value, Tensor) else value, frame)
        if isinstance(answer, Replace):
            replaced = Tensor(answer.value) if isinstance(value, Tensor) else answer.value
            return row, Cotangents({**found, slot: replaced}), False
        return row, found, isinstance(answer, StepInto)
    return row, found, False
