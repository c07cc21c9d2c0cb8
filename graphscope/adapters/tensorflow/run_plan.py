"""The plan of a run of a session: what it computes in which parts, and what of that is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import tensorflow as tf

from graphscope.adapters.tensorflow.gradient_rules import GradientCall
from graphscope.adapters.tensorflow.graph_functions import BRANCHES, CALLS
from graphscope.adapters.tensorflow.graph_ops import PER_RUN, VARIABLES, Described, described, is_array
from graphscope.adapters.tensorflow.run_graph import certain, in_order, is_once, needed, predecessors, writes


@dataclass(frozen=True)
class Part:
    """Ops of a run that are computed in one go."""

    ops: tuple[tf.Operation, ...]
    writes: bool
    """Whether something of them is to happen once and can't be had back: they run once."""


class Plan:
    """The ops of a run, in order.

    Args:
        graph: The graph.
        fetches: The tensors that the program asks for.
        targets: The ops that it wants to run.
        fed: The names of tensors that it feeds.
        calls: The calls of `tf.gradients` of which the graph has ops.
    """

    def __init__(
        self,
        graph: tf.Graph,
        fetches: Sequence[tf.Tensor],
        targets: Sequence[tf.Operation],
        fed: frozenset[str],
        calls: Sequence[GradientCall],
    ) -> None:
        self.graph = graph
        # By their names: what the program has may be wrapped, as what an assertion returns is.
        self.fetches = tuple(graph.get_tensor_by_name(each.name) for each in fetches)
        self.targets = tuple(graph.get_operation_by_name(each.name) for each in targets)
        self.fed = fed
        self.ops = in_order(needed(self.fetches, self.targets, fed), graph, fed)
        self._certain = certain(self.ops, fed)
        self._described: dict[str, Described] = {}
        self.calls = {name: call for call in calls for name in call.made}
        """The call of `tf.gradients` that made an op, by the op's name."""

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of the tensors whose values are known when the run has ended."""
        return self.fed.union(tensor.name for op in self.ops for tensor in self.gives(op))

    @cached_property
    def forward(self) -> dict[str, tf.Operation]:
        """The ops of the run by their names, what is fed among them."""
        fed = (self.graph.get_tensor_by_name(name).op for name in self.fed)
        return {op.name: op for op in (*fed, *self.ops)}

    @cached_property
    def listed(self) -> list[list[Any]]:
        """Of each op name and type, whether it can be fed (what has no outputs can't), and what it waits for."""
        return [
            [op.name, op.type, int(bool(op.outputs)), [each.name for each in op.control_inputs]]
            for op in self.forward.values()
        ]

    @cached_property
    def trained(self) -> frozenset[str]:
        """The names of the ops of variables that are trained."""
        variables = self.graph.get_collection(tf.compat.v1.GraphKeys.TRAINABLE_VARIABLES)
        return frozenset(each.op.name for each in variables)

    @cached_property
    def readers(self) -> dict[str, str]:
        """By the op of a variable: the first tensor that is read of it."""
        found: dict[str, str] = {}
        for op in self.ops:
            is_read = op.type in ("ReadVariableOp", "Identity") and op.inputs[0].op.type in VARIABLES
            if is_read and not self.is_hidden(op):
                found.setdefault(op.inputs[0].op.name, op.outputs[0].name)
        return found

    def described(self, op: tf.Operation) -> Described:
        """An op, as the log has it."""
        found = self._described.get(op.name)
        if found is None:
            found = self._described[op.name] = described(op)
        return found

    def gives(self, op: tf.Operation) -> list[tf.Tensor]:
        """The outputs of an op that a run can be asked for; none of one in a branch or a loop."""
        if self.is_hidden(op) or op.type in VARIABLES:
            return []
        return [tensor for tensor in op.outputs if is_array(tensor.dtype) and tensor.name not in self.fed]

    def is_hidden(self, op: tf.Operation) -> bool:
        """Whether what an op computes can't be had: it lies in a branch or a loop."""
        return op not in self._certain or op.type in BRANCHES or not self.graph.is_fetchable(op)

    @property
    def hidden(self) -> list[str]:
        """The names of ops that compute something which can't be had."""
        return [op.name for op in self.ops if self.is_hidden(op) and op.outputs and op.type not in _PLUMBING]

    @cached_property
    def whole(self) -> Part:
        """All in one go."""
        return Part(tuple(self.ops), writes=True)

    @cached_property
    def parts(self) -> list[Part]:
        """As many parts as can be, between which values may be looked at and changed."""
        ends = [place for place in range(1, len(self.ops)) if writes(self.ops[place]) != writes(self.ops[place - 1])]
        ends = [place for place in ends if not self.again(self.ops[place:], self.ops[:place])]
        bounds = [0, *ends, len(self.ops)]
        blocks = [tuple(self.ops[low:high]) for low, high in pairwise(bounds)]
        return [Part(block, any(map(writes, block))) for block in blocks if block]

    def again(self, wanted: Iterable[tf.Operation], done: Iterable[tf.Operation]) -> bool:
        """Whether something that is to run once would run again with these ops, fed with what others have given."""
        before, seen = set(done), set()
        waiting = list(wanted)
        while waiting:
            op = waiting.pop()
            if op in seen:
                continue
            seen.add(op)
            if op in before and is_once(op):
                return True
            cut = self.fed | {tensor.name for tensor in op.inputs if tensor.op in before and self.cuts(op, tensor)}
            waiting += predecessors(op, cut)
        return False

    def cuts(self, op: tf.Operation, tensor: tf.Tensor) -> bool:
        """Whether an op can be fed with what a tensor was computed to be."""
        return not op.type.startswith(PER_RUN) and self.takes(tensor)

    def takes(self, tensor: tf.Tensor) -> bool:
        """Whether a tensor can be fed with another value."""
        if tensor.op.type in CALLS or not self.graph.is_feedable(tensor):
            return False
        return is_array(tensor.dtype) and not tensor.dtype._is_ref_dtype and not self.is_hidden(tensor.op)

    @cached_property
    def _gathered(self) -> dict[str, tf.Tensor]:
        """What reads a trained variable whole, by its handle, of those of which the run reads but some rows."""
        handles = {op.name for op in self.ops if op.type == "VarHandleOp"} & self.trained - self.readers.keys()
        every = self.graph.get_operations() if handles else []
        readers = (op for op in every if op.type == "ReadVariableOp" and not op.control_inputs)
        taken = {tensor.op.name for op in self.ops if op.type not in _SETTING for tensor in op.inputs}
        return {op.inputs[0].name: op.outputs[0] for op in readers if op.inputs[0].op.name in handles & taken}

    @cached_property
    def late(self) -> frozenset[str]:
        """What stands for variables where they lie: of a run that writes, it is what they hold when all is done."""
        if not any(map(writes, self.ops)):
            return frozenset()
        held = (tensor.name for op in self.ops if op.type in VARIABLES for tensor in op.outputs)
        return frozenset((*held, *self.early))

    @cached_property
    def early(self) -> dict[str, tf.Tensor]:
        """What is read of variables before the run writes over them where they lie, by the name of what reads it.

        Where all is computed in one go, what reads them gives what they hold at the end.
        """
        late: set[tf.Operation] = set()
        found: dict[str, tf.Tensor] = {}
        for op in self.ops:
            if any(writes(each) or each in late for each in predecessors(op, self.fed)):
                late.add(op)
            elif op.type == "Identity" and op.inputs[0].dtype._is_ref_dtype and not self.is_hidden(op):
                found[op.outputs[0].name] = op.inputs[0]
        return (found if any(map(writes, self.ops)) else {}) | self._gathered


_SETTING: Final = ("Assign", "AssignVariableOp", "VarIsInitializedOp")
"""Ops that take a variable and do not read it."""

_PLUMBING: Final = {
    "Const", "Enter", "Exit", "Identity", "LoopCond", "Merge", "NextIteration", "RefEnter", "RefExit", "RefMerge",
    "RefNextIteration", "RefSwitch", "Switch",
}  # fmt: skip
"""Ops of loops and branches that compute nothing by themselves."""
