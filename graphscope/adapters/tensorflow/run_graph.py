"""The part of a graph that one run of a session computes: its ops in order, and what of it can leave the run."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import tensorflow as tf

from graphscope.adapters.tensorflow.graph_functions import CALLS, calls_once
from graphscope.adapters.tensorflow.graph_ops import HARMLESS, PER_RUN, is_array


def needed(
    fetches: Iterable[tf.Tensor], targets: Iterable[tf.Operation], fed: frozenset[str]
) -> dict[tf.Operation, None]:
    """The ops that a run computes which is fed with tensors of these names."""
    found: dict[tf.Operation, None] = {}
    waiting = [*targets, *(tensor.op for tensor in fetches)]
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found[op] = None
        waiting += [tensor.op for tensor in op.inputs if tensor.name not in fed]
        waiting += op.control_inputs
    return found


def predecessors(op: tf.Operation, fed: frozenset[str]) -> Iterator[tf.Operation]:
    """The ops that run ahead of one; what a loop hands to its next turn comes behind it."""
    for tensor in op.inputs:
        if tensor.name not in fed and tensor.op.type not in ("NextIteration", "RefNextIteration"):
            yield tensor.op
    yield from op.control_inputs


def writes(op: tf.Operation) -> bool:
    """Whether an op changes what outlives the run, and gives nothing by which it could be replaced."""
    return is_once(op) and not draws(op)


def draws(op: tf.Operation) -> bool:
    """Whether what an op gives is another thing each time, and stands for it: a random number, a batch of a queue."""
    given = op.outputs
    return is_once(op) and bool(given) and not _takes_reference(op) and all(is_array(each.dtype) for each in given)


def is_once(op: tf.Operation) -> bool:
    """Whether an op is to run once and not again in a run of the program's."""
    if op.type in HARMLESS or op.type.startswith(PER_RUN):
        return False
    if op.type in CALLS:
        return calls_once(op)
    if not op.inputs and op.outputs and not any(is_array(each.dtype) for each in op.outputs):
        return False  # it hands out what it stands for: a queue, a table
    return bool(op.op_def.is_stateful) or _takes_reference(op)


def _takes_reference(op: tf.Operation) -> bool:
    return any(argument.is_ref for argument in op.op_def.input_arg)


def in_order(ops: Iterable[tf.Operation], graph: tf.Graph, fed: frozenset[str]) -> list[tf.Operation]:
    """The ops so that each comes behind what it needs: as they were made, those that write as late as can be.

    So a run has few parts between which something is written, and all that comes ahead of a write can be had first.
    """
    wanted = set(ops)
    made = {op: number for number, op in enumerate(graph.get_operations())}
    waiting = {op: {each for each in predecessors(op, fed) if each in wanted} for op in wanted}
    users: dict[tf.Operation, list[tf.Operation]] = {}
    for op, before in waiting.items():
        for each in before:
            users.setdefault(each, []).append(op)
    level = dict.fromkeys(wanted, 0)
    ready = [(0, writes(op), made[op], op) for op in wanted if not waiting[op]]
    heapq.heapify(ready)
    found = []
    while ready:
        *_, op = heapq.heappop(ready)
        found.append(op)
        for user in users.get(op, ()):
            level[user] = max(level[user], level[op] + writes(op))
            waiting[user].discard(op)
            if not waiting[user]:
                heapq.heappush(ready, (level[user], writes(user), made[user], user))
    return found


def certain(ops: Sequence[tf.Operation], fed: frozenset[str]) -> set[tf.Operation]:
    """Those of the ops, in order, that surely run, and once: they lie in no branch and in no loop.

    An op lies in the branches in which all that it is given lies; a merge lies in those that its inputs share.
    """
    branches: dict[str, frozenset[tuple[str, int]]] = {}
    controls: dict[tf.Operation, frozenset[tuple[str, int]]] = {}
    depth: dict[tf.Operation, int] = {}
    found = set()
    nothing: frozenset[tuple[str, int]] = frozenset()
    for op in ops:
        given = [each for each in op.inputs if each.name not in fed]
        lies = [branches.get(each.name, nothing) for each in given if each.op.type not in _TURNS]
        lies += [controls.get(each, nothing) for each in op.control_inputs]
        merged = frozenset.intersection(*lies) if lies and op.type in _MERGES else nothing.union(*lies)
        before = [*(each.op for each in given), *op.control_inputs]
        depth[op] = max((depth.get(each, 0) for each in before), default=0) + _DEEPER.get(op.type, 0)
        controls[op] = merged
        for slot, tensor in enumerate(op.outputs):
            predicate = {(_root(op.inputs[1]).name, slot)} if op.type in _SWITCHES else set()
            is_turn = op.type in _SWITCHES and op.inputs[1].op.type == "LoopCond"
            branches[tensor.name] = merged if is_turn else merged | predicate
        if not merged and depth[op] <= 0 and op.type not in _SWITCHES:
            found.add(op)
    return found


_TURNS: Final = ("NextIteration", "RefNextIteration")
_MERGES: Final = ("Merge", "RefMerge")
_SWITCHES: Final = ("Switch", "RefSwitch")
_DEEPER: Final = {"Enter": 1, "RefEnter": 1, "Exit": -1, "RefExit": -1}


def _root(tensor: tf.Tensor) -> tf.Tensor:
    """What a tensor is handed on from."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return tensor
