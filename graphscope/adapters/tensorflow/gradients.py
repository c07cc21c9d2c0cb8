"""Backward: each rule that a tape runs becomes a node, tied to the op whose it is; its cotangent may be replaced."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, Final

import tensorflow as tf
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import backprop, backprop_util, imperative_grad
from tensorflow.python.ops import gen_math_ops

from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.identity import Notes
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Node
from graphscope.adapters.tensorflow.op_names import RUNS_PYTHON
from graphscope.adapters.tensorflow.session import Session, Tied
from graphscope.adapters.tensorflow.tensors import EagerTensor, array_of, is_resource, tensor_like
from graphscope.eventlog.schema import SLOT_SHIFT

_is_untaped: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty

Part = tuple[Any, int]
"""A gradient, and where it comes from: the row of the rule that returned it, with the place of the input above it."""


class Gradients:
    """Follows the backward passes of tapes."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tape = session.tape
        self._origins: Notes[int] = Notes()
        """Where each gradient comes from that a rule has returned."""
        self._sums: Notes[list[Part]] = Notes()
        """What each gradient is the sum of that is one."""

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is recorded."""
        return self.tape.is_recording

    def install(self, patches: Patches) -> None:
        """See the rules that tapes run, their sums, and where a pass begins and ends."""
        self.see_rules()
        patches.at_end(leave_rules)
        # What tapes sum and fill with is found by names: a space of their own would be held by those that are there.
        sums = self._summing(gen_math_ops.add_n)
        patches.replace(backprop, "gen_math_ops", SimpleNamespace(**{**vars(gen_math_ops), "add_n": sums}))
        sums = self._summing(backprop_util.AggregateIndexedSlicesGradients)
        patches.replace(backprop_util, "AggregateIndexedSlicesGradients", sums)
        patches.replace(backprop, "_fast_fill", self._unseen(backprop._fast_fill))
        patches.replace(imperative_grad, "imperative_grad", self._pass(imperative_grad.imperative_grad))

    def see_rules(self) -> None:
        """See the rules that tapes run, until `leave_rules`."""
        pywrap_tfe.TFE_Py_RegisterGradientFunction(self._rule)

    # Passes ----------------------------------------------------------------------------------------------------------

    def _pass(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session, tape = self.session, self.tape

        def imperative_grad(tape_: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            targets = target if isinstance(target, (list, tuple)) else [target]
            is_computed = all(isinstance(each, EagerTensor) for each in targets)
            if tape.is_recording and is_computed:
                is_loss = len(targets) == 1 and targets[0].shape.rank == 0
                session.steps.begins(targets[0] if is_loss else None, is_left_out=session.is_left_out)
            if not tape.is_recording or not is_computed or session.is_left_out:
                return original(tape_, target, sources, *args, **kwargs)
            nodes = [node for each in targets if (node := session.node(each)) is not None]
            with tape.backward(nodes[0] if nodes else None):
                found = original(tape_, target, sources, *args, **kwargs)
                return [self._arrived(source, each) for source, each in zip(sources, found, strict=True)]

        return imperative_grad

    @guarded(lambda source, gradient: gradient)
    def _arrived(self, source: Any, gradient: Any) -> Any:
        """A gradient that a pass returns: what it adds to a leaf, and what a debugger leaves of it."""
        session = self.session
        if gradient is None:
            return None
        leaf = session.variables.leaf(source) if is_resource(source) else session.node(source)
        if leaf is None:
            return gradient
        row, total = 0, gradient
        for number, (part, origin) in enumerate(self._parts(gradient)):
            array = array_of(part)
            row, left = self.tape.contribution(leaf, array, origin, first=number == 0)
            if left is not array:
                total = self._like(array_of(total) + (left - array), total)
        session.nodes.note(total, Node(row, leaf.fields))
        return total

    # Rules -----------------------------------------------------------------------------------------------------------

    def _rule(
        self, op_name: Any, attr_tuple: Any, num_inputs: Any, inputs: Any, outputs: Any, out_grads: Any,
        skip_input_indices: Any, forward_pass_name_scope: Any,
    ) -> Any:  # fmt: skip
        """As TensorFlow has it, and each cotangent is recorded before the rule of its op runs."""
        row = 0
        node = forward_pass_name_scope.node if isinstance(forward_pass_name_scope, Tied) else None
        if node is not None:
            row, out_grads = self.due(node, out_grads)
        with contextlib.nullcontext() if self._is_opened(op_name) else self.tape.aside():
            found = backprop._gradient_function(
                op_name, attr_tuple, num_inputs, inputs, outputs, out_grads, skip_input_indices,
                forward_pass_name_scope,
            )  # fmt: skip
        if row:
            self.returned(row, found)
        return found

    def _is_opened(self, op: str) -> bool:
        """Whether what the rule of an op computes has rows: where it is asked for, runs the program, or is taped."""
        return self.session.writer.capture == "ops" or op in RUNS_PYTHON or not _is_untaped()

    @guarded(lambda node, cotangents: (0, cotangents))
    def due(self, node: Node, cotangents: Sequence[Any]) -> tuple[int, Sequence[Any]]:
        """The row of a rule that is due, and the cotangents to run it with."""
        if not self.session.is_here(node) or not any(map(_is_value, cotangents)):
            return 0, cotangents
        known = [(slot, each) for slot, each in enumerate(cotangents) if _is_value(each)]
        # Zeros stand for the gradient of an output that nothing used.
        given = [(slot, each) for slot, each in known if self._is_told(each)] or known[:1]
        arrays = tuple(array_of(each) for _, each in given)
        value: Any = arrays if len(arrays) > 1 else arrays[0]
        several = [part for _, each in given for part in self._parts(each)]
        is_sum = len(given) == 1 and len(several) > 1
        parts = [(array_of(part) if is_sum else None, origin) for part, origin in several]
        row, answer = self.tape.cotangent(node, value, parts)
        first = answer[0] if isinstance(answer, tuple) else answer
        if row and first is not arrays[0]:
            slot, replaced = given[0]
            cotangents = [self._like(first, replaced) if n == slot else each for n, each in enumerate(cotangents)]
        return row, cotangents

    @guarded(lambda row, gradients: None)
    def returned(self, row: int, gradients: Any) -> None:
        """Note where the gradients come from that a rule has returned."""
        several = gradients if isinstance(gradients, (list, tuple)) else [gradients]
        for place, each in enumerate(several):
            if _is_value(each):
                self._origins.note(each, row | place << SLOT_SHIFT)

    def _is_told(self, gradient: Any) -> bool:
        """Whether a gradient comes from a rule, or is a sum."""
        return self._origins.of(gradient) is not None or self._sums.of(gradient) is not None

    def _parts(self, gradient: Any) -> list[Part]:
        """What a gradient is the sum of, or itself alone."""
        return self._sums.of(gradient) or [(gradient, self._origins.of(gradient) or 0)]

    def _like(self, array: Any, gradient: Any) -> Any:
        with self.tape.aside():
            like = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
            return tensor_like(array, like)

    # Sums ------------------------------------------------------------------------------------------------------------

    def _summing(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The sum of gradients that meet: its summands are parts of the cotangent."""

        def aggregate(gradients: Sequence[Any]) -> Any:
            parts = [part for each in gradients if _is_value(each) for part in self._parts(each)]
            with self.tape.aside():
                total = original(gradients)
            if _is_value(total):
                self._sums.note(total, parts)
            return total

        return aggregate

    def _unseen(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def made(*args: Any) -> Any:
            with self.tape.aside():
                return original(*args)

        return made


def leave_rules() -> None:
    """Let tapes run them unseen."""
    pywrap_tfe.TFE_Py_RegisterGradientFunction(backprop._gradient_function)


def _is_value(gradient: Any) -> bool:
    """Whether a gradient has elements, as those of a graph that is being made have not."""
    elements = gradient.values if isinstance(gradient, tf.IndexedSlices) else gradient
    return isinstance(elements, EagerTensor)
