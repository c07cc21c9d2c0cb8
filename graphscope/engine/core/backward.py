"""The backward pass: the one place where a VJP runs, where cotangents meet, and where broadcasting is undone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from heapq import heappop, heappush
from importlib import import_module
from typing import Any

import numpy as np

from graphscope.engine.core import backward_rows, modes, tracing, writes
from graphscope.engine.core.backward_errors import blamed, check_untouched, freed_message
from graphscope.engine.core.cotangents import (
    NODE,
    ORIGIN,
    PARTS,
    VALUE,
    Arrival,
    add_up,
    call_hooks,
    retain,
    settle,
    unbroadcast,
)
from graphscope.engine.core.node import FREED, MOMENT, PLAN, SAVED, ActiveRule, Plan, Record
from graphscope.engine.core.rules import slowly, specially
from graphscope.engine.core.slots import Cotangents, SlotPlan
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import SLOT_SHIFT
from graphscope.eventlog.writer import Writer

_ndarray = np.ndarray
_NOTHING: Arrival = [None] * 5


def run_backward(
    roots: Sequence[Tensor],
    gradients: Sequence[Any],
    *,
    retain_graph: bool,
    create_graph: bool,
    wanted: Sequence[Tensor] | None = None,
    accumulate: bool = True,
) -> list[Any]:
    """Send cotangents from the roots back to the leaves.

    Nodes run in the reverse order of their making, which is a topological order; a heap holds those that are due, so
    nothing recurses however long the graph is.

    Args:
        roots: Where to start.
        gradients: Their cotangents: arrays, or tensors under `create_graph`.
        retain_graph: Keep what the rules saved, for another pass.
        create_graph: Run the rules on tensors, so that the gradients can be differentiated.
        wanted: Tensors whose gradients are returned.
        accumulate: Whether leaves keep what arrives in their `grad`.

    Returns:
        The gradients of `wanted` (None where nothing arrived).

    Raises:
        RuntimeError: The graph was freed, or a saved tensor was written in place.
    """
    writer = recording.writer
    frame: Any = recording.user_frame(2) if writer is not None else None
    if recording.suspended is not None and len(roots) == 1 and roots[0].array.size == 1:
        recording.suspended.sampling.note_loss(float(roots[0].array.reshape(()).real))
    due: dict[int, Arrival] = {}
    heap: list[int] = []
    leaves: dict[int, Arrival] = {}
    capture: Any = None if wanted is None else {tensor.node[MOMENT] for tensor in wanted if tensor.node is not None}
    captured: dict[int, Any] = {}
    needed: Any = None if wanted is None or capture is None else _leading_to(roots, wanted, capture)
    marks: Any = None
    if writer is not None:
        marks = backward_rows.marks_at(writer, frame, roots[0])
        backward_rows.mark(writer, marks.begin, roots[0])
    for root, gradient in zip(roots, gradients, strict=True):
        if root.node is None:
            _arrive_at_leaf(leaves, root, gradient, True, writer, -1, accumulate, 0)
        elif root.node[MOMENT] in due:
            _add(due[root.node[MOMENT]], gradient, writer, -1)
        else:
            due[root.node[MOMENT]] = [root.node, gradient, -1, None, False]
            heappush(heap, -root.node[MOMENT])
    tensors = create_graph
    careful = tensors or modes.anomaly
    sweep = None if careful or wanted is not None else _sweep
    into = False
    results: Any
    row = -1
    start = 0
    now = 0 if writer is None else writer.clock()
    # What is due next is held in variables. While nothing else waits, as in a chain, `due` and `heap` are not touched.
    record, gradient, origin, parts, _ = due.pop(-heappop(heap)) if heap else _NOTHING
    while record is not None:
        if sweep is not None:
            record, gradient, origin, parts, now = sweep(
                due, heap, leaves, record, gradient, origin, parts, now, retain_graph, accumulate, writer, frame
            )
            if record is None:
                break
        plan, targets, saved, moment, shapes, attrs, forward, site, hooks, retained = record
        if saved is FREED and (needed is None or moment in needed):
            raise blamed(record, freed_message(record))
        if moment < writes.last and (needed is None or moment in needed):
            check_untouched(record)
        if hooks is not None and (needed is None or moment in needed or moment in capture):
            gradient = call_hooks(hooks, gradient, tensors)
        if writer is not None:
            if parts is None and origin >= 0 and forward >= writer.base and writer.gate is None and not tensors:
                row = writer.append(site.single or site.grad_template(writer, 1), gradient, now, 0, forward, origin)
            else:
                row, gradient, into = backward_rows.cotangent(writer, record, gradient, origin, parts, frame, now)
            start = writer.clock()
        if retained is not None and (needed is None or moment in needed or moment in capture):
            retain(retained, gradient)
        if capture is not None:
            if moment in capture:
                captured[moment] = gradient
            if needed is not None and moment not in needed:
                if not heap:
                    break
                record, gradient, origin, parts, _ = due.pop(-heappop(heap))
                continue
        if careful or into:
            results = slowly(record, gradient, row, tensors, into)
            targets = plan.targets(record)
        elif plan.special or gradient.dtype.kind == "c" or gradient.dtype.itemsize == 2:
            results = specially(record, gradient, row)
            targets = plan.targets(record)
        elif plan.alone:
            if plan.bare is not None:
                result = plan.bare(gradient)
            elif plan.single is not None:
                result = plan.single(gradient, saved)
            else:
                result = plan.gradients(gradient, saved, attrs)
            if not due and targets.__class__ is list:
                if writer is not None:
                    if row >= 0:
                        now = writer.finish(row, start)
                        origin = row | plan.rules[0].index << SLOT_SHIFT
                    else:
                        origin = -1
                if not retain_graph:
                    record[SAVED] = plan.freed
                if shapes is not None and result.shape != shapes[0]:
                    result = unbroadcast(result, shapes[0])
                record = targets
                gradient = result
                parts = None
                continue
            results = (result,)
            targets = (targets,)
        elif plan.pair is not None:
            first, second = plan.pair
            results = (first(gradient, *saved[0]), second(gradient, *saved[1]))
        else:
            results = plan.gradients(gradient, saved, attrs)
        if writer is not None:
            now = writer.finish(row, start) if row >= 0 else start
        if not retain_graph:
            record[SAVED] = plan.freed
        for index, target in enumerate(targets):
            result = results[index]
            if result is None:
                continue
            if shapes is not None and result.shape != shapes[index]:
                result = unbroadcast(result, shapes[index])
            origin = row | plan.rules[index].index << SLOT_SHIFT if row >= 0 else -1
            if target.__class__ is list:
                moment = target[MOMENT]
                other = due.get(moment)
                if other is not None:
                    _add(other, result, writer, origin)
                else:
                    due[moment] = [target, result, origin, None, False]
                    heappush(heap, -moment)
                continue
            known = leaves.get(id(target))
            if known is not None and writer is None:
                add_up(known, result)
            else:
                _arrive_at_leaf(leaves, target, result, result is gradient, writer, origin, accumulate, now)
        if not heap:
            break
        record, gradient, origin, parts, _ = due.pop(-heappop(heap))
    if wanted is not None:
        leaves = {id(tensor): leaves[id(tensor)] for tensor in wanted if id(tensor) in leaves}
    for leaf in leaves.values():
        settle(leaf, accumulate, create_graph)
        if writer is not None and accumulate and leaf[NODE].hooks is not None:
            backward_rows.hooked(writer, leaf[NODE])
    if writer is not None:
        backward_rows.mark(writer, marks.end, roots[0])
        if writer.gate is not None and frame is not None:
            writer.gate.passed(frame)
    if wanted is None:
        return []
    return [
        leaves.get(id(tensor), _NOTHING)[VALUE] if tensor.node is None else captured.get(tensor.node[MOMENT])
        for tensor in wanted
    ]


def _leading_to(roots: Sequence[Tensor], wanted: Sequence[Tensor], capture: set[int]) -> set[int]:
    """The moments of the nodes from which a way leads on to one of the tensors wanted."""
    leaves = {id(tensor) for tensor in wanted if tensor.node is None}
    found: dict[int, Record] = {}
    pending = [root.node for root in roots if root.node is not None]
    while pending:
        record = pending.pop()
        if record[MOMENT] not in found:
            found[record[MOMENT]] = record
            pending += [target for target in record[PLAN].targets(record) if target.__class__ is list]
    needed: set[int] = set()
    for moment in sorted(found):
        for target in found[moment][PLAN].targets(found[moment]):
            if target.__class__ is list:
                if target[MOMENT] in needed or target[MOMENT] in capture:
                    needed.add(moment)
            elif id(target) in leaves:
                needed.add(moment)
    return needed


def _add(arrival: Arrival, value: Any, writer: Writer | None, origin: int) -> None:
    """Another contribution to a cotangent that has begun to arrive; each is a row of its own."""
    if writer is not None and value.__class__ is not Cotangents:
        if arrival[PARTS] is None:
            arrival[PARTS] = []
            backward_rows.partial(writer, arrival, arrival[VALUE], arrival[ORIGIN])
        backward_rows.partial(writer, arrival, value, origin)
    add_up(arrival, value)


def _arrive_at_leaf(
    leaves: dict[int, Arrival],
    leaf: Any,
    value: Any,
    shared: bool,
    writer: Writer | None,
    origin: int,
    keep: bool,
    now: int,
) -> None:
    known = leaves.get(id(leaf))
    row = -1
    if writer is not None and keep:
        value, row = backward_rows.contribution(
            writer, leaf, value, origin, known is None and leaf.gradient is None, now
        )
    if known is not None:
        known[ORIGIN], known[PARTS] = -1, row
        add_up(known, value)
        return
    if value.__class__ is _ndarray and (shared or value.base is not None):
        value = value.copy()
    leaves[id(leaf)] = [leaf, value, row, None, False]  # of a leaf: the row of its gradient, while that is one row


_sweep: Any = None
with suppress(ImportError):  # it was not built here: there was no compiler
    _backward = import_module("graphscope.engine.core._backward")
    _backward.prepare(
        plan=Plan,
        slot_plan=SlotPlan,
        rule=ActiveRule,
        site=tracing.CallSite,
        templates=backward_rows.LeafTemplates,
        tensor=Tensor,
        writes=writes,
        freed=FREED,
        check_untouched=check_untouched,
        unbroadcast=unbroadcast,
        cotangent=backward_rows.cotangent,
        add=_add,
        arrive_at_leaf=_arrive_at_leaf,
        push=heappush,
        pop=heappop,
        specially=specially,
    )
    _sweep = _backward.sweep
