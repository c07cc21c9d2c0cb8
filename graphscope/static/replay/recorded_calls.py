"""Calls of ops that a log records, ready to be made again."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.op import OPS, Op, arity, completed
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.windows import Windows
from graphscope.engine.ops.flat_rules import refused
from graphscope.engine.ops.view_layout import Layout, Place
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.typed import Dtype, Input, Other, Outline, Structure, spelled
from graphscope.eventlog.values import advice
from graphscope.static.graphs.op_calls import called, gradients_of

if TYPE_CHECKING:
    from graphscope.graph import Node

_FLOAT_ERRORS: Final[dict[str, Any]] = {"rtol": 1e-4, "atol": 1e-6, "equal_nan": True}


@dataclasses.dataclass(frozen=True)
class Call:
    """An op and all that it is given.

    Attributes:
        op: The op, of the engine's table.
        inputs: Arrays, numbers and None, in the order of the op's parameters.
        places: Which of them came from nodes of the log.
        attributes: The keyword arguments of its forward function.
        where: How messages name it.
    """

    op: Op
    inputs: tuple[Any, ...]
    places: tuple[int, ...]
    attributes: dict[str, Any]
    where: str

    def run(self, inputs: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """What it gives for its own inputs, or for others: one array for each output."""
        with record.recording_to(None), modes.grad_mode(False), np.errstate(all="ignore"):
            return tuple(out.array for out in called(self.op, self._given(inputs), self.attributes))

    def gradients(self, cotangents: Sequence[Any], inputs: Sequence[Any] | None = None) -> list[Any]:
        """What its rules make of a cotangent for each output: for each input a gradient, or None."""
        given = self._given(inputs)
        wanted = [place for place, value in enumerate(given) if self._is_differentiated(place, value)]
        call = functools.partial(called, self.op, attrs=self.attributes)
        with np.errstate(all="ignore"):
            found = gradients_of(call, given, wanted, [Tensor(np.asarray(g)[()]) for g in cotangents])
        by_place = dict(zip(wanted, found, strict=True))
        return [None if (g := by_place.get(place)) is None else g.array for place in range(len(given))]

    def with_inputs(self, changed: Mapping[int, Any]) -> Call:
        """The same call with other values in the places of some recorded inputs (0 is the first of these)."""
        inputs = list(self.inputs)
        for number, value in changed.items():
            inputs[self.places[number]] = value
        return dataclasses.replace(self, inputs=tuple(inputs))

    def _given(self, inputs: Sequence[Any] | None) -> list[Any]:
        values = self.inputs if inputs is None else inputs
        return [
            Tensor(np.asarray(value)[()]) if isinstance(value, np.ndarray | np.generic) else value for value in values
        ]

    def _is_differentiated(self, place: int, value: Any) -> bool:
        rule = self.op.vjps[min(place, len(self.op.vjps) - 1)] if self.op.vjps else None
        floating = isinstance(value, Tensor) and value.array.dtype.kind in "fc"
        return floating and rule is not None and rule.rule is not refused


def call_of(node: Node) -> Call:
    """The call that a row of a log records.

    Raises:
        StaticError: It is no op, the engine has no such op, or the log does not hold all that the op was given.
    """
    where = f"#{node.row} {node.label}"
    owner = node.forward if node.kind in ("grad", "accumulate") else node
    if owner is None or owner.kind != "op":
        raise StaticError(f"{where} is no call of an op: it can't be made again", hint="lt lists the ops")
    op = OPS.get(owner.op)
    if op is None or op.composite:
        raise StaticError(f"{where}: graphscope's engine has no op {owner.op!r}", hint="it was recorded of another one")
    told = owner.arguments
    if told.operands is None:
        raise StaticError(
            f"{where} can't be made again: its log has format 1, which does not say where its constants stood",
            hint="record the program once more",
        )
    given: dict[int, Any] = {}
    for edge in owner.inputs:
        value = edge.source.output(edge.slot)
        if value is None:
            raise StaticError(
                f"{where} can't be made again: the value of its input #{edge.source.row} was not kept",
                hint=advice(edge.source.dtype),
            )
        given[edge.number] = np.asarray(value)
    if len(given) < len(owner.event.inputs):
        raise StaticError(
            f"{where} can't be made again: the log does not hold its inputs any more", hint="record fewer steps"
        )
    tensors = {number: Tensor(array if array.ndim else array[()]) for number, array in given.items()}
    operands = [_constant(where, value, tensors) for value in told.operands]
    attributes = {name: _constant(where, value, tensors) for name, value in told.attributes.items()}
    if (
        not node.graph.log.op(owner.event.op).rules_run and op.prepare is not None
    ):  # not the engine's: as a person writes it
        try:
            operands, attributes = op.prepare(*operands, **attributes)
        except Exception as error:
            raise StaticError(
                f"{where} can't be made again: graphscope's own {op.name} takes other arguments ({error})",
                hint="it was recorded of another engine",
            ) from error
    places = {id(value): place for place, value in enumerate(operands)}
    if any(id(tensor) not in places for tensor in tensors.values()):
        raise StaticError(
            f"{where} can't be made again: graphscope's own {op.name} takes an input of it for a constant",
            hint="it was recorded of another engine",
        )
    inputs = [value.array if isinstance(value, Tensor) else value for value in operands]
    inputs += [None] * (arity(op) - len(inputs))
    found = tuple(places[id(tensor)] for _, tensor in sorted(tensors.items()))
    call = Call(op, tuple(inputs), found, completed(op, attributes), where)
    if not _gives(call, [owner.output(slot) for slot in range(len(owner.outputs))]):
        raise StaticError(
            f"{where} does not give what was recorded when it runs again",
            hint="it draws random numbers, or its inputs were written since",
        )
    return call


def _gives(call: Call, recorded: Sequence[Any]) -> bool:
    try:
        found = call.run()
    except (TypeError, ValueError, IndexError) as error:
        raise StaticError(
            f"{call.where} can't be made again: graphscope's own {call.op.name} takes other arguments ({error})",
            hint="it was recorded of another engine",
        ) from error
    return len(found) == len(recorded) and all(
        expected is None
        or (np.shape(value) == np.shape(expected) and np.allclose(np.asarray(value), expected, **_FLOAT_ERRORS))
        for value, expected in zip(found, recorded, strict=True)
    )


_STRUCTURES: Final[dict[str, Any]] = {"Layout": Layout, "Place": Place, "Windows": Windows}
"""Attributes of named fields that ops of the engine take."""


def _constant(where: str, value: Any, tensors: Mapping[int, Tensor]) -> Any:
    """An argument of the log as the engine takes it, with tensors for inputs."""
    if isinstance(value, Input):
        return tensors[value.number]
    if isinstance(value, tuple | list):
        return type(value)(_constant(where, each, tensors) for each in value)
    if isinstance(value, Dtype):
        return np.dtype(value.name)
    if isinstance(value, Structure) and value.type in _STRUCTURES:
        return _STRUCTURES[value.type](**{name: _constant(where, each, tensors) for name, each in value.fields.items()})
    if isinstance(value, Outline | Structure | Other):
        raise StaticError(
            f"{where} can't be made again: of a constant the log keeps only that it is {spelled(value)}",
            hint="give it as a tensor, which is recorded",
        )
    return value
