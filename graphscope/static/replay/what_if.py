"""What follows from other values in a framework's program: calls, stretches and passes run again from what was kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from graphscope.adapters import executor
from graphscope.errors import StaticError
from graphscope.eventlog.schema import Flag, Kind
from graphscope.static.replay.recorded_rows import FOLLOWING, call_of_row, inside, recorded, state_ahead, where
from graphscope.static.replay.reruns import Rerun, Seen
from graphscope.static.replay.stretches import stretch_of

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


def invoked(node: Node, given: Mapping[int, np.ndarray]) -> list[np.ndarray]:
    """What a call gives with other values for some of its inputs, by their numbers.

    Raises:
        StaticError: It can't run again; the message says why.
    """
    values = [given[edge.number] if edge.number in given else recorded(edge.source, edge.slot) for edge in node.inputs]
    op = node.graph.log.op(node.event.op)
    if op.custom:
        stretch = stretch_of(node)
        places = {(edge.source.row, edge.slot): value for edge, value in zip(node.inputs, values, strict=True)}
        return stretch.run([places[place] for place in stretch.inputs])
    runs = executor(op.framework)
    with runs.aside():
        tensors = [
            runs.tensor(value, edge.source.outputs[edge.slot][1])
            for edge, value in zip(node.inputs, values, strict=True)
        ]
        state = state_ahead(node)
        if state is not None:
            runs.draw_from(state)
        arrays = [runs.array(each) for each in runs.call(call_of_row(node), tensors)]
    return [each for each in arrays if each is not None]


def forward(graph: Graph, target: Node, changes: Mapping[int, np.ndarray], seen: Seen | None = None) -> Rerun:
    """A run of what follows from other values, up to a node.

    What hangs on the changes is computed again and the rest is taken from the log; where a backward pass lies between,
    and where nothing is changed, all that was recorded runs again.

    Args:
        graph: The recorded graph.
        target: The last node that runs.
        changes: Values by rows, or gradients by rows of backward passes.
        seen: Is told of each node that ran.

    Raises:
        StaticError: A row on the way can't run again, or without a change it does not come out as recorded; the message
            says which and why.
    """
    rows = _hanging(graph, target, changes) if changes and not _is_passed(graph, target, changes) else None
    runs, is_whole = executor(_framework(target)), rows is None
    if rows is None and graph.log.first > 0:
        raise StaticError(
            "the first rows of the log are gone: it can't run again from there", hint="record fewer steps"
        )
    wanted = range(graph.log.first, target.row + 1) if rows is None else rows
    if changes:
        _assert_repeats(target, _run(Rerun(graph, runs, {}, differentiates=is_whole), wanted).array((target.row, 0)))
    return _run(Rerun(graph, runs, changes, differentiates=is_whole, seen=seen), wanted)


def backward(
    graph: Graph, target: Node, cotangents: Mapping[int, np.ndarray], begin: np.ndarray | None = None
) -> dict[int, np.ndarray]:
    """The gradients of leaves, sent back from a node once more, and those given: by row.

    Args:
        graph: The recorded graph.
        target: Where the pass begins.
        cotangents: What is to take the place of the cotangents that arrive at nodes, by row.
        begin: What the pass begins with; ones unless it is given.

    Raises:
        StaticError: A row on the way can't run again; the message says which and why.
    """
    if (cotangents or begin is not None) and _began_from(target):
        for row, gradient in _sent_back(graph, target, {}, None).items():
            recorded_one = gradient_recorded(graph.node(row), target.row)
            if recorded_one is not None:
                _assert_alike(graph.node(row), gradient, recorded_one, "the gradient of ")
    return {**_sent_back(graph, target, cotangents, begin), **cotangents}


def _sent_back(
    graph: Graph, target: Node, cotangents: Mapping[int, np.ndarray], begin: np.ndarray | None
) -> dict[int, np.ndarray]:
    """The gradients of leaves when a pass begins at a node, by row."""
    rerun = Rerun(graph, executor(_framework(target)), {}, gradients=cotangents)
    _run(rerun, _with_states(graph, [node.row for node in _differentiated(target)]))
    found = {}
    with rerun.executor.aside():
        rerun.executor.backward([rerun.found[target.row, 0]], [np.ones(target.shape) if begin is None else begin])
        for (row, _), tensor in sorted(rerun.found.items()):
            gradient = rerun.executor.gradient(tensor)
            array = None if gradient is None else rerun.executor.array(gradient)
            if array is not None and _is_leaf(graph.node(row)):
                found[row] = array
    return found


def _began_from(target: Node) -> bool:
    """Whether the first backward pass behind a node began there."""
    passes = (row for row in target.graph.index.marks(Kind.BACKWARD_BEGIN).tolist() if row > target.row)
    begin = next(passes, None)
    return begin is not None and [row for row, _ in target.graph.log.inputs(begin)] == [target.row]


def _run(rerun: Rerun, rows: Iterable[int]) -> Rerun:
    with rerun.executor.aside():
        rerun.run(rows)
    return rerun


def _assert_repeats(target: Node, found: np.ndarray) -> None:
    value = target.output(0)
    if value is not None:
        _assert_alike(target, found, value)


def _assert_alike(node: Node, found: np.ndarray, value: np.ndarray, what: str = "") -> None:
    """See that what runs again without a change is what was recorded."""
    scale = float(np.abs(value[np.isfinite(value)]).max(initial=0)) if value.dtype.kind in "fc" else 0.0
    if found.shape != value.shape or not np.allclose(found, value, rtol=1e-3, atol=1e-4 * scale, equal_nan=True):
        raise StaticError(
            f"{what}{where(node)} does not come out as recorded when all runs again without a change",
            hint="a hook, a write or another thing that the log does not tell of takes part in it",
        )


def gradient_recorded(node: Node, behind: int) -> np.ndarray | None:
    """What the first backward pass behind a row gave a node."""
    rows = [each for each in node.backward if each.row > behind and each.event.forward == node.row]
    return next((each.computed for each in rows if each.kind in ("grad", "accumulate")), None)


def _framework(node: Node) -> str:
    names = (each.graph.log.op(each.event.op).framework for each in (node, *node.graph.ancestors(node, 2)))
    return next(filter(None, names), "")


def _is_passed(graph: Graph, target: Node, changes: Mapping[int, np.ndarray]) -> bool:
    """Whether a backward pass lies between a change and the node, or the change is in one."""
    if any(graph.node(row).kind in ("grad", "accumulate") for row in changes):
        return True
    return any(min(changes) < int(row) < target.row for row in graph.index.marks(Kind.BACKWARD_BEGIN))


def _hanging(graph: Graph, target: Node, changes: Iterable[int]) -> list[int]:
    """The rows on the way from changes to a node."""
    found = {row for row in changes if row <= target.row}
    for node in sorted({target, *graph.ancestors(target)}, key=lambda each: each.row):
        if any(edge.source.row in found for edge in node.inputs):
            found.add(node.row)
            if graph.log.op(node.event.op).custom:
                found.update(each.row for each in inside(node))
    return _with_states(graph, sorted(found))


def _with_states(graph: Graph, rows: list[int]) -> list[int]:
    """Rows, and ahead of each the newest row that tells the state of the random generator."""
    marks = graph.index.marks(Kind.RANDOM)
    places = np.searchsorted(marks, rows)
    return sorted({*rows, *(int(marks[place - 1]) for place in places if place)})


def _differentiated(target: Node) -> list[Node]:
    """A node and all that gradients flow back to from it."""
    seen = {target.row: target}
    pending = [target]
    while pending:
        node = pending.pop()
        if node.kind != "op" or _is_leaf(node):
            continue
        for edge in node.inputs:
            source = edge.source
            flows = source.flags & Flag.REQUIRES_GRAD or source.op in FOLLOWING
            if flows and source.row not in seen and not _is_leaf(source):
                seen[source.row] = source
                pending.append(source)
    return [seen[row] for row in sorted(seen)]


def _is_leaf(node: Node) -> bool:
    """Whether a row is a version of a tensor that no op with a way back made."""
    if node.kind == "leaf":
        return True
    first = node.graph.log.event(node.tensor)
    return first.kind == Kind.LEAF and bool(node.flags & Flag.NO_GRAD)
