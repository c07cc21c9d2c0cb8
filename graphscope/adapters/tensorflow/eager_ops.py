"""Eager ops: each becomes a node as it runs, which the tapes that record it keep with their entry."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from tensorflow.python import pywrap_tfe
from tensorflow.python.eager import core, execute

from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Node
from graphscope.adapters.tensorflow.op_names import RUNS_PYTHON, Op, op_of, signature
from graphscope.adapters.tensorflow.session import Session, tied
from graphscope.adapters.tensorflow.tensors import EagerTensor, array_of, is_array, is_resource, tensor_like
from graphscope.adapters.tensorflow.variables import Variable
from graphscope.eventlog import record as recording

_RAW_INPUTS: Final = 3
"""Behind so many arguments of the fast path the inputs of the op begin."""
_MOST_CONSTANTS: Final = 8
"""Tensors of more elements are leaves, though the program has no name for them."""
_TENSORS: Final = frozenset({EagerTensor})

_is_untaped: Final = pywrap_tfe.TFE_Py_TapeSetIsEmpty
_is_followed: Final = pywrap_tfe.TFE_Py_TapeSetShouldRecordBackprop
"""Whether a tape follows one of some tensors."""
_stop_tapes: Final = pywrap_tfe.TFE_Py_TapeSetStopOnThread
_restart_tapes: Final = pywrap_tfe.TFE_Py_TapeSetRestartOnThread
_record_gradient: Final = pywrap_tfe.TFE_Py_RecordGradient


class Here(threading.local):
    """What a thread knows of the op that it runs."""

    ran: tuple[Any, ...] = ()
    """Inputs, attributes and outputs, as TensorFlow tells of them when an op has run."""


class EagerOps:
    """Follows the ops that Python runs."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.tape = session.tape
        self._here = Here()

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is recorded."""
        return self.tape.is_recording

    def install(self, patches: Patches) -> None:
        """See both ways by which ops run: past Python's conversions, and with them."""
        patches.replace(pywrap_tfe, "TFE_Py_FastPathExecute", self._fast(pywrap_tfe.TFE_Py_FastPathExecute))
        patches.replace(execute, "execute", self._slow(execute.execute))
        patches.replace(execute, "record_gradient", self._tying(execute.record_gradient))

    def _fast(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here, see, tape, writer = self._here, self._see, self.tape, self.session.writer

        def run(*args: Any) -> Any:
            if not tape.is_recording:
                return original(*args)
            op = op_of(args[1])
            if not op.recorded or op.type in RUNS_PYTHON:
                return original(*args)
            args = self._read(op, args)
            if writer.gate is not None:
                self._before(op, args[_RAW_INPUTS : _RAW_INPUTS + len(op.inputs)])
            taped = not _is_untaped()
            callbacks = args[0]._thread_local_data.op_callbacks
            callbacks.append(see)
            if taped:  # so that the tapes are told what a debugger leaves of the result, and of the node
                _stop_tapes()
            start = writer.clock()
            try:
                result = original(*args)
            except core._FallbackException:
                raise
            except Exception as error:
                self._failed(op, args, error)
                raise
            finally:
                if taped:
                    _restart_tapes()
                callbacks.remove(see)
            duration = writer.clock() - start
            (inputs, attributes, outputs), here.ran = here.ran, ()
            raw = args[_RAW_INPUTS : _RAW_INPUTS + len(op.inputs)]
            node, left = self.made(op, raw, inputs, attributes, outputs, duration)
            if taped:
                _record_gradient(op.type, inputs, attributes, left, "" if node is None else tied(node))
            return result if left is outputs else _replaced(result, outputs, left)

        return run

    def _slow(self, original: Callable[..., Any]) -> Callable[..., Any]:
        tape, writer = self.tape, self.session.writer

        def run(op_name: Any, num_outputs: Any, inputs: Any, attrs: Any, ctx: Any, name: Any = None) -> Any:
            op = op_of(op_name.decode() if isinstance(op_name, bytes) else op_name)
            if not tape.is_recording or not op.recorded or op.type in RUNS_PYTHON:
                return original(op_name, num_outputs, inputs, attrs, ctx, name)
            inputs = list(inputs)
            if writer.gate is not None:
                self._before(op, inputs)
            start = writer.clock()
            outputs = original(op_name, num_outputs, inputs, attrs, ctx, name)
            return self.made(op, None, inputs, attrs or (), outputs, writer.clock() - start)[1]

        return run

    def _tying(self, original: Callable[..., None]) -> Callable[..., None]:
        """`record_gradient` of an op that came the slow way: the tape keeps its node, too."""
        session = self.session

        def record_gradient(op_name: str, inputs: Any, attrs: Any, outputs: Any) -> None:
            node = session.node(outputs[0]) if outputs and session.tape.is_recording else None
            if node is None:
                original(op_name, inputs, attrs, outputs)
                return
            _record_gradient(op_name, inputs, attrs, outputs, tied(node))

        return record_gradient

    def _see(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, *_: Any, **__: Any) -> None:
        self._here.ran = inputs, attrs, outputs

    def _read(self, op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of an op, with variables read where we see it: TensorFlow's own fast path reads them unseen."""
        end = _RAW_INPUTS + len(op.inputs)
        if _TENSORS.issuperset(map(type, args[_RAW_INPUTS:end])):
            return args
        return (*args[:_RAW_INPUTS], *map(_value, args[_RAW_INPUTS:end]), *args[end:])

    # Rows ------------------------------------------------------------------------------------------------------------

    @guarded(lambda op, raw, inputs, attributes, outputs, duration: (None, outputs))
    def made(
        self, op: Op, raw: Sequence[Any] | None, inputs: Sequence[Any], attributes: Sequence[Any],
        outputs: Sequence[Any], duration: int,
    ) -> tuple[Node | None, Sequence[Any]]:  # fmt: skip
        """The node of an op that has run, and its outputs: its own, or what a debugger put in the place of the first.

        Args:
            op: What is known of the op.
            raw: Its inputs as they were given; None: as they are.
            inputs: Its inputs, lists laid flat.
            attributes: Names and values in turn.
            outputs: What it made.
            duration: Nanoseconds.
        """
        session = self.session
        told = op.attributes(attributes)
        operands = self._operands(op, raw, inputs, told)
        if not outputs:
            handle = next((each for each in inputs if is_resource(each)), None)
            if handle is not None:
                session.variables.written(op.name, handle, operands[1:], told)
                for other in inputs[1:]:
                    if is_resource(other):
                        session.variables.forget(other)
            return None, outputs
        if not all(map(is_array, outputs)):
            return None, outputs
        arrays = tuple(map(array_of, outputs))
        value: Any = arrays if len(arrays) > 1 else arrays[0]
        node, answer = self.tape.op(
            op.name,
            operands,
            value,
            attributes=told,
            duration=duration,
            called=session.variables.name(inputs[0]) if op.type == "ReadVariableOp" else "",
            function=op.type,
            signature=signature(op.type, tuple(told)),
            differentiated=_is_followed(list(inputs)),
        )
        if node is None:
            return None, outputs
        first = answer[0] if isinstance(answer, tuple) else answer
        if first is not arrays[0]:
            with self.tape.aside():
                outputs = [tensor_like(first, outputs[0]), *outputs[1:]]
        for slot, output in enumerate(outputs):
            session.nodes.note(output, node.output(slot) if slot else node)
        return node, outputs

    @guarded(lambda op, raw: None)
    def _before(self, op: Op, raw: Sequence[Any]) -> None:
        """Let a debugger look ahead of an op."""
        if self.session.writer.gate.wants_before:  # type: ignore[union-attr]
            tensors = [each for value in raw for each in (value if isinstance(value, (list, tuple)) else [value])]
            nodes = [self.session.node(each) for each in tensors if isinstance(each, EagerTensor)]
            self.tape.before(op.name, [node for node in nodes if node is not None])

    @guarded(lambda op, args, error: None)
    def _failed(self, op: Op, args: Sequence[Any], error: Exception) -> None:
        """An op has raised: a node without a value."""
        raw = args[_RAW_INPUTS : _RAW_INPUTS + len(op.inputs)]
        given = [each for value in raw for each in (value if isinstance(value, (list, tuple)) else [value])]
        operands = [self._operand(place, None, each) for place, each in enumerate(given) if is_array(each)]
        told = core._status_to_exception(error) if isinstance(error, core._NotOkStatusException) else error
        self.tape.failed(op.name, operands, told)
        recording.mark_as_told(error)

    def _operands(
        self, op: Op, raw: Sequence[Any] | None, inputs: Sequence[Any], attributes: dict[str, Any]
    ) -> list[Any]:
        """The inputs of an op in order, as nodes and constants; constants behind the last node go to the attributes."""
        known = list(map(self._known, inputs))
        if None not in known:
            return known
        operands = []
        names = []
        for place, (name, given, tensor) in enumerate(_placed(op, raw, inputs)):
            operands.append(self._operand(place, given, tensor))
            names.append(name)
        while operands and names[len(operands) - 1] and not isinstance(operands[-1], Node):
            name = names[len(operands) - 1]
            attributes[name] = operands.pop()
            if not any(isinstance(each, Node) for each in operands):
                break
        return operands

    def _known(self, tensor: Any) -> Node | None:
        """The node of a tensor; None of a leaf whose row is no longer at hand, which gets another one."""
        node = self.session.nodes.of(tensor)
        is_here = node is not None and (node.row >= self.session.writer.low or node.fields.get("op"))
        return node if is_here else None

    def _operand(self, place: int, given: Any, tensor: Any) -> Any:
        """The node of an input, or the constant that it is."""
        session = self.session
        if is_resource(tensor):
            return session.variables.node(tensor)
        node = self._known(tensor)
        if node is not None:
            return node
        if not is_array(tensor):
            return str(tensor.dtype.name)
        array = array_of(tensor)
        if isinstance(given, (int, float)):
            return given
        name = None  # of what a rule computes with the program has no names
        if not self.tape.is_in_rule:
            name = session.name_of(tensor if given is None else given, place, search=array.ndim > 0)
        if array.size <= _MOST_CONSTANTS and name is None:
            return _constant(given, array)
        node = self.tape.leaf(array, name=name, differentiated=_is_followed([tensor]))
        if node is not None:
            session.nodes.note(tensor, node)
        return node


def _placed(op: Op, raw: Sequence[Any] | None, inputs: Sequence[Any]) -> Iterator[tuple[str, Any, Any]]:
    """Each input of an op: its name, what was given there, and the tensor that it is."""
    rest = iter(inputs)
    if raw is None or len(raw) < len(op.inputs):
        names = [each.name for each in op.inputs] if len(op.inputs) == len(inputs) else [""] * len(inputs)
        yield from ((name, None, tensor) for name, tensor in zip(names, rest, strict=False))
        return
    for each, given in zip(op.inputs, raw, strict=False):
        parts = given if each.several and isinstance(given, (list, tuple)) else [given]
        yield from ((each.name, part, tensor) for part, tensor in zip(parts, rest))  # noqa: B905


def _value(given: Any) -> Any:
    """An input with variables read."""
    if isinstance(given, Variable):
        return given.value()
    if isinstance(given, (list, tuple)) and any(isinstance(each, Variable) for each in given):
        return [_value(each) for each in given]
    return given


def _constant(given: Any, array: np.ndarray) -> Any:
    """A small tensor as the program wrote it."""
    if given is not None and not isinstance(given, (EagerTensor, np.ndarray)):
        return given if isinstance(given, (int, float, bool, str, list, tuple)) else array
    return array.item() if array.ndim == 0 and array.dtype.kind in "fiub" else array.tolist()


def _replaced(result: Any, outputs: Sequence[Any], left: Sequence[Any]) -> Any:
    """What an op returns, with its outputs as a debugger left them."""
    if isinstance(result, list):
        return [_replaced(each, outputs, left) for each in result]
    return next((new for old, new in zip(outputs, left, strict=True) if old is result), result)
