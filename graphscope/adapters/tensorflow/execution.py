"""A run of a session that is under way: what it has computed, and how it goes on from a value that was replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from graphscope.adapters.tensorflow.run_graph import writes
from graphscope.adapters.tensorflow.run_plan import Part, Plan


class Computation:
    """What a session computes for one run of the program's.

    Args:
        do_run: Lets the session run: targets, fetches, feeds, options, and what it tells of the run.
        options: The program's.
        metadata: What the program wants to be told.
    """

    def __init__(self, do_run: Callable[..., Any], options: Any, metadata: Any) -> None:
        self._do_run = do_run
        self._options = options
        self._metadata = metadata
        self.raised: BaseException | None = None
        """The error that left it, which is the program's."""

    def run(self, targets: Sequence[tf.Operation], fetches: Sequence[tf.Tensor], feeds: Mapping[Any, Any]) -> Any:
        """Run a part, or all, of what the program asks for."""
        metadata, self._metadata = self._metadata, None  # TensorFlow fills it once
        return self._computed(list(targets), list(fetches), dict(feeds), self._options, metadata)

    def look(self, tensors: Sequence[tf.Tensor]) -> Any:
        """What tensors hold, aside from what the program asks for."""
        return self._computed([], list(tensors), {}, None, None)

    def _computed(self, *given: Any) -> Any:
        try:
            return self._do_run(*given)
        except BaseException as error:
            self.raised = error
            raise


class Execution:
    """The values of a run, as they come.

    Args:
        plan: The run.
        computation: What the session computes for it.
        feeds: What the program feeds, by reference to the tensor.
    """

    def __init__(self, plan: Plan, computation: Computation, feeds: Mapping[Any, Any]) -> None:
        self.plan = plan
        self.values: dict[str, Any] = {key.deref().name: value for key, value in feeds.items()}
        """What is known, by the name of the tensor."""
        self._computation = computation
        self._given = dict(feeds)
        self._feeds = dict(feeds)
        self._done: set[tf.Operation] = set()
        self._asked: dict[str, Any] = {}
        """What the program is given of what was read before the run wrote over it: what it holds now."""

    def begin(self) -> None:
        """Read what the run is going to write over."""
        early = {tensor.name: tensor for tensor in self.plan.early.values()}
        try:
            known = dict(zip(early, self._computation.look(list(early.values())), strict=True)) if early else {}
        except tf.errors.FailedPreconditionError:  # one of them holds nothing yet: the program will have news of it
            known = {}
        self.values |= {name: known[each.name] for name, each in self.plan.early.items() if each.name in known}

    def run(self, part: Part) -> None:
        """Compute a part."""
        self._run(part.ops)
        self._done.update(part.ops)

    def end(self) -> None:
        """Read what the program asks for of variables that were written over: it is given what they hold at the end."""
        late = [
            tensor for tensor in self.plan.fetches if tensor.name in self.plan.late and tensor.ref() not in self._feeds
        ]
        if late:
            self._asked |= zip((tensor.name for tensor in late), self._computation.look(late), strict=True)

    def replace(self, changed: Mapping[str, Any], rest: Sequence[tf.Operation]) -> str:
        """Go on with other values of some tensors; the op that can't be computed anew with them, or nothing.

        Args:
            changed: The values, by the names of the tensors.
            rest: The ops of the part that are computed, and come behind the one whose value was changed.
        """
        self.feed(changed)
        affected = self._affected(changed, rest)
        if not affected:
            return ""
        once = next((op.name for op in affected if writes(op)), "")
        if once or self.plan.again(affected, self._done.difference(affected)):
            return once or affected[0].name
        self._run(affected)
        return ""

    def replaceable(self, changed: Mapping[str, Any]) -> dict[str, Any]:
        """Those of some values that the session takes in the place of its own."""
        tensors = {name: self.plan.graph.get_tensor_by_name(name) for name in changed}
        return {name: value for name, value in changed.items() if self.plan.takes(tensors[name])}

    def feed(self, changed: Mapping[str, Any]) -> None:
        """Let what is computed from here on be given other values of some tensors."""
        self.values |= changed
        self._asked = {name: value for name, value in self._asked.items() if name not in changed}
        self._feeds |= {self.plan.graph.get_tensor_by_name(name).ref(): value for name, value in changed.items()}

    def fetched(self) -> list[Any]:
        """What the program has asked for."""
        return [self._asked.get(tensor.name, self.values.get(tensor.name)) for tensor in self.plan.fetches]

    def without_us(self) -> list[Any]:
        """What the program has asked for, where we failed to tell of it: the rest is computed as it would be bare."""
        rest = [op for op in self.plan.ops if op not in self._done]
        if len(rest) == len(self.plan.ops):
            return list(self._computation.run(self.plan.targets, self.plan.fetches, self._given))
        if rest:
            self._run(rest)
        return self.fetched()

    def _affected(self, changed: Mapping[str, Any], rest: Sequence[tf.Operation]) -> list[tf.Operation]:
        """The ops of a part that compute another thing where some tensors hold another."""
        found: dict[tf.Operation, None] = {}
        for op in rest:
            if any(tensor.name in changed or tensor.op in found for tensor in op.inputs):
                found[op] = None
        return list(found)

    def _run(self, ops: Sequence[tf.Operation]) -> None:
        wanted = [tensor for op in ops for tensor in self.plan.gives(op) if tensor.ref() not in self._feeds]
        asked = {tensor.name for tensor in wanted}
        given = [tensor for tensor in self.plan.fetches if tensor.op in set(ops) and tensor.name not in asked]
        wanted += given
        silent = [op for op in ops if op in self.plan.targets or not (op.outputs or self.plan.is_hidden(op))]
        self._keep(wanted, self._computation.run(silent, wanted, self._cut(ops)))

    def _cut(self, ops: Sequence[tf.Operation]) -> dict[Any, Any]:
        """What is fed so that nothing is computed that is known."""
        own = set(ops)
        known = (
            tensor
            for op in ops
            for tensor in op.inputs
            if tensor.op not in own and tensor.name in self.values and self.plan.cuts(op, tensor)
        )
        found = {tensor.ref(): self.values[tensor.name] for tensor in known} | self._feeds
        return {key: np.asarray(value, key.deref().dtype.as_numpy_dtype) for key, value in found.items()}

    def _keep(self, tensors: Sequence[tf.Tensor], values: Sequence[Any]) -> None:
        for tensor, value in zip(tensors, values, strict=True):
            kept = self._asked if tensor.name in self.plan.early and tensor.name in self.values else self.values
            kept[tensor.name] = value
