"""Operations that bring a backward function of their own: custom gradients, and functions that stay compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorflow.python.eager import record

from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Node
from graphscope.adapters.tensorflow.gradients import Gradients
from graphscope.adapters.tensorflow.session import Session
from graphscope.adapters.tensorflow.tensors import EagerTensor, array_of, is_array


class CustomGradients:
    """Follows what is recorded on tapes with a backward function."""

    def __init__(self, session: Session, gradients: Gradients) -> None:
        self.session = session
        self.tape = session.tape
        self._gradients = gradients

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is recorded."""
        return self.tape.is_recording

    def install(self, patches: Patches) -> None:
        """See what is recorded so."""
        patches.replace(record, "record_operation", self._recording(record.record_operation))

    def _recording(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def record_operation(
            op_type: Any, output_tensors: Any, input_tensors: Any, backward_function: Any, forward_function: Any = None
        ) -> Any:
            node = self._node(op_type, output_tensors, input_tensors)
            if node is not None:
                backward_function = self._backward(node, backward_function)
            return original(op_type, output_tensors, input_tensors, backward_function, forward_function)

        return record_operation

    @guarded(lambda op_type, outputs, inputs: None)
    def _node(self, op_type: Any, outputs: Sequence[Any], inputs: Sequence[Any]) -> Node | None:
        """The node of the operation as a whole, behind those of the ops inside."""
        session = self.session
        if not outputs or not all(isinstance(each, EagerTensor) and is_array(each) for each in outputs):
            return None
        operands = [node for each in inputs if isinstance(each, EagerTensor) and (node := session.node(each))]
        arrays = tuple(map(array_of, outputs))
        node, _ = self.tape.op(str(op_type), operands, arrays if len(arrays) > 1 else arrays[0])
        if node is not None:
            for slot, output in enumerate(outputs):
                session.nodes.note(output, node.output(slot) if slot else node)
        return node

    def _backward(self, node: Node, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*cotangents: Any) -> Any:
            row, left = self._gradients.due(node, cotangents)
            found = original(*left)
            if row:
                self._gradients.returned(row, found)
            return found

        return backward
