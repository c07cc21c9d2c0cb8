"""The backward pass: the one place where a VJP runs, where cotangents meet, and where broadcasting is undone."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from graphscope.engine import backward_rows, modes, slots, tracing, writes
from graphscope.engine.cotangents import (
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
from graphscope.engine.modes import Context, here
from graphscope.engine.node import ATTRS, FREED, MOMENT, PLAN, ROW, SAVED, SITE, ActiveRule, Node, Record
from graphscope.engine.op import INPUT_NAMES
from graphscope.engine.slots import Cotangents
from graphscope.engine.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import SLOT_SHIFT, Kind
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
    due: dict[int, Arrival] = {}
    heap: list[int] = []
    leaves: dict[int, Arrival] = {}
    capture = None if wanted is None else {tensor.node[MOMENT] for tensor in wanted if tensor.node is not None}
    captured: dict[int, Any] = {}
    needed: Any = None if wanted is None or capture is None else _leading_to(roots, wanted, capture)
    if writer is not None:
        backward_rows.mark(writer, Kind.BACKWARD_BEGIN, frame, roots[0])
    for root, gradient in zip(roots, gradients, strict=True):
        if root.node is None:
            _arrive_at_leaf(leaves, root, gradient, True, writer, -1, accumulate, 0)
        elif root.node[MOMENT] in due:
            _add(due[root.node[MOMENT]], gradient, writer, -1)
        else:
            due[root.node[MOMENT]] = [root.node, gradient, -1, None, False]
            heappush(heap, -root.node[MOMENT])
    tensors = create_graph
    slowly = tensors or modes.anomaly
    into = False
    results: Any
    row = -1
    start = 0
    now = 0 if writer is None else writer.clock()
    # What is due next is held in variables. While nothing else waits, as in a chain, `due` and `heap` are not touched.
    record, gradient, origin, parts, _ = due.pop(-heappop(heap)) if heap else _NOTHING
    while record is not None:
        plan, targets, saved, moment, shapes, attrs, forward, site, hooks, retained = record
        if saved is FREED and (needed is None or moment in needed):
            raise _blamed(record, _freed(record))
        if moment < writes.last:
            _check_untouched(record)
        if hooks is not None and (needed is None or moment in needed or moment in capture):
            gradient = call_hooks(hooks, gradient, tensors)
        if writer is not None:
            if parts is None and origin >= 0 and forward >= writer.base and writer.gate is None and not tensors:
                row = writer.append(site.single or site.grad_template(writer, 1), gradient, now, 0, forward, origin)
            else:
                row, gradient, into = backward_rows.cotangent(writer, record, gradient, origin, parts, frame, now)
            start = writer.clock()
        if retained is not None:
            retain(retained, gradient)
        if capture is not None:
            if moment in capture:
                captured[moment] = gradient
            if moment not in needed:
                if not heap:
                    break
                record, gradient, origin, parts, _ = due.pop(-heappop(heap))
                continue
        if slowly or into:
            results = _slowly(record, gradient, row, tensors, into)
            plan, targets, results, shapes = _present(plan, plan.targets(record), results, shapes)
        elif plan.single is not None:
            if plan.bare:
                result = plan.single(gradient)
            elif plan.starred:
                result = plan.single(gradient, *saved)
            else:
                result = plan.single(gradient, saved)
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
        elif plan.special:
            results = _specially(record, gradient, row)
            plan, targets, results, shapes = _present(plan, plan.targets(record), results, shapes)
        elif plan.wants_attrs:
            results = [
                rule.rule(gradient, *args, **{name: attrs[name] for name in rule.attrs})
                for rule, args in zip(plan.rules, saved, strict=True)
            ]
        else:
            results = [rule.rule(gradient, *args) for rule, args in zip(plan.rules, saved, strict=True)]
        if writer is not None:
            now = writer.finish(row, start) if row >= 0 else start
        if not retain_graph:
            record[SAVED] = plan.freed
        for index, target in enumerate(targets):
            result = results[index]
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
    if writer is not None:
        backward_rows.mark(writer, Kind.BACKWARD_END, frame, roots[0])
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
        value, row = backward_rows.contribution(writer, leaf, value, origin, known is None and leaf.grad is None, now)
    if known is not None:
        known[ORIGIN] = -1
        add_up(known, value)
        return
    if value.__class__ is _ndarray and (shared or value.base is not None):
        value = value.copy()
    leaves[id(leaf)] = [leaf, value, row, None, False]  # of a leaf: the row of its gradient, while that is one row


class _Rules:
    """What is left of a plan when some rules gave no gradient."""

    def __init__(self, rules: Sequence[ActiveRule], freed: Any) -> None:
        self.rules = rules
        self.freed = freed


def _present(plan: Any, targets: Sequence[Any], results: Sequence[Any], shapes: Any) -> tuple[Any, ...]:
    """Rules, targets, gradients and shapes, without those whose gradient is None."""
    if all(result is not None for result in results):
        return plan, targets, results, shapes
    kept = [index for index, result in enumerate(results) if result is not None]
    picked = [[sequence[index] for index in kept] for sequence in (plan.rules, targets, results)]
    return _Rules(picked[0], plan.freed), picked[1], picked[2], shapes and [shapes[index] for index in kept]


def _slowly(record: Record, gradient: Any, row: int, tensors: bool, into: bool) -> Sequence[Any]:
    """Run the rules of a node on tensors, or look at what they give."""
    results = rules_of(record, gradient, row, tensors, into)
    if modes.anomaly and record[PLAN].slot < 0:
        for number, result in enumerate(results):
            if result is not None and np.isnan(result.data if isinstance(result, Tensor) else result).any():
                raise _blamed(record, _anomaly(record, number))
    return results


def rules_of(record: Record, gradient: Any, row: int, tensors: bool, into: bool = False) -> Sequence[Any]:
    """The gradients that the rules of a node give: as tensors, or arrays (found on tensors, to be looked into)."""
    if tensors or into:
        return _on_tensors(record, gradient, row, unwrap=not tensors)
    return _specially(record, gradient, row)


def _anomaly(record: Record, number: int) -> str:
    site, plan = record[SITE], record[PLAN]
    where = f"the forward op, {plan.op.name}, is at {site.line}" if site is not None else f"the op was {plan.op.name}"
    return f"Function '{Node(record).name()}' returned nan values in its {plan.rules[number].index}th output: {where}"


def _customized(record: Record, gradient: Any, row: int, tensors: bool) -> Sequence[Any]:
    """Let a node that has a function of its own find the gradients, between the hooks that it may have."""
    plan = record[PLAN]
    if plan.hooked:
        gradient = plan.ahead(gradient, tensors)
    results = plan.custom(record, gradient, row, tensors)
    return plan.behind(record, results, gradient, tensors) if plan.hooked else results  # type: ignore[no-any-return]


def _specially(record: Record, gradient: Any, row: int) -> Sequence[Any]:
    """Run, on bare arrays, the rules of a node that is not like most: see `Plan`."""
    plan = record[PLAN]
    if plan.slot >= 0:
        return (Cotangents({plan.slot: gradient}),)
    if plan.custom is not None:
        return _customized(record, gradient, row, False)
    if plan.op.several:
        gradient = slots.whole(record, gradient, False)
    if plan.hooked:
        gradient = plan.ahead(gradient, False)
    results = _run_rules(plan, gradient, plan.arguments(record[SAVED]), record[ATTRS])
    return plan.behind(record, results, gradient, False) if plan.hooked else results


def _run_rules(plan: Any, gradient: Any, arguments: Sequence[Any], attrs: Any) -> list[Any]:
    if plan.joint is not None:
        rule = plan.rules[0]
        found = plan.joint(gradient, *arguments[0], **{name: attrs[name] for name in rule.attrs})
        return [found[rule.index] for rule in plan.rules]
    return [
        rule.rule(gradient, *args, **{name: attrs[name] for name in rule.attrs})
        for rule, args in zip(plan.rules, arguments, strict=True)
    ]


def _on_tensors(record: Record, gradient: Any, row: int, *, unwrap: bool) -> Sequence[Any]:
    """Run a node's rules on tensors: under `create_graph`, and when a person steps into a rule."""
    plan = record[PLAN]
    if plan.slot >= 0:
        return _specially(record, gradient, row)
    if plan.custom is not None:
        found = _customized(record, gradient, row, True)
        return [result.data if isinstance(result, Tensor) else result for result in found] if unwrap else found
    if plan.op.several:
        gradient = slots.whole(record, gradient, True)
        for slot, part in enumerate(gradient):
            if part is not None and part.row < 0 and row >= 0 and not slot:
                part.row = row
    else:
        if not isinstance(gradient, Tensor):
            gradient = Tensor(gradient)
        if gradient.row < 0 and row >= 0:
            gradient.row = row
    targets = {rule.index: target for rule, target in zip(plan.rules, plan.targets(record), strict=True)}
    mode = here()
    before = mode.context
    mode.context = Context(before.scope, max(row, 0))
    given = []
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        names = _spread(rule, len(args))
        given.append([_as_tensor(record, name, value, targets) for name, value in zip(names, args, strict=True)])
    try:
        with modes.grad_mode(not unwrap):
            if plan.hooked:
                gradient = plan.ahead(gradient, True)
            results = _run_rules(plan, gradient, given, record[ATTRS])
            if plan.hooked:
                results = plan.behind(record, results, gradient, True)
    finally:
        mode.context = before
    return [result.data if isinstance(result, Tensor) else result for result in results] if unwrap else results


def _spread(rule: ActiveRule, count: int) -> Sequence[str]:
    return rule.needs if len(rule.needs) == count else INPUT_NAMES[:count]


def _as_tensor(record: Record, name: str, value: Any, targets: dict[int, Any]) -> Any:
    """A saved value as the tensor that it was, with its place in the graph."""
    if name == "residuals":
        return tuple(_placed(part, None) for part in value) if isinstance(value, tuple) else _placed(value, None)
    if isinstance(value, tuple):
        return tuple(
            _placed(part, slots.slot_record(record, number) if name == "out" else targets.get(number))
            for number, part in enumerate(value)
        )
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return _placed(value, record if name == "out" else targets.get(INPUT_NAMES.index(name)))


def _placed(value: Any, source: Any) -> Any:
    """An array as a tensor that came from `source`: a record, a leaf, or nothing that requires grad."""
    if not isinstance(value, np.ndarray | np.generic) or (isinstance(source, Tensor) and source.data is value):
        return source if isinstance(source, Tensor) else value
    tensor = Tensor(value)
    if source.__class__ is list and value.dtype.kind in "fc":
        tensor.node = source
        tensor.row = slots.row_of(source)
    return tensor


def _check_untouched(record: Record) -> None:
    plan = record[PLAN]
    for rule, args in zip(plan.rules, plan.arguments(record[SAVED]), strict=True):
        for name, value in zip(_spread(rule, len(args)), args, strict=False):
            what = _written(value, record[MOMENT])
            if what is not None:
                raise _blamed(record, _overwritten(record, name, value, what))


def _overwritten(record: Record, name: str, value: Any, what: Any) -> str:
    written_by, code, instruction = what
    shape = f" of shape {tuple(value.shape)}" if hasattr(value, "shape") else ""
    saved_at = f" (at {record[SITE].line})" if record[SITE] is not None else ""
    target, place = tracing.written_at(code, instruction) if code is not None else ("", "")
    where = f" (at {place})" if place else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"{record[PLAN].op.name}{saved_at} had saved {_saved_name(name)}{shape}, and {written_by}{where} wrote into "
        f"{target or 'it'} before backward. Use the op without the underscore, or clone() the tensor first."
    )


def _written(value: Any, moment: int) -> Any:
    """What wrote a saved value, or one of several, after `moment`."""
    if isinstance(value, tuple):
        return next((what for part in value if (what := _written(part, moment)) is not None), None)
    return writes.since(value, moment) if isinstance(value, np.ndarray | np.generic) else None


def _blamed(record: Record, message: str) -> RuntimeError:
    """An error of the backward pass; the log is told which node it is about."""
    error = RuntimeError(message)
    writer = recording.writer
    if writer is not None:
        recording.exception(error, node=record[ROW] if record[ROW] >= writer.base else None)
    return error


def _saved_name(name: str) -> str:
    return "its output" if name == "out" else f"its input {name}"


def _freed(record: Record) -> str:
    return (
        f"Trying to backward through the graph a second time: what {record[PLAN].op.name} had saved was freed by the "
        "first backward. Pass retain_graph=True to the first one, or compute the loss again."
    )
