"""Recorded calls, ready to be made again: an op of the log with the inputs, numbers and attributes that it was given.

A log holds no code: the op is looked up in the engine's table, and attributes are read back from their text (never
evaluated). Where the log tells only which numbers took part, not in which places, the places are those that give again
what was recorded.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.node import plan_for
from graphscope.engine.core.op import OPS, Op
from graphscope.engine.core.rules import specially
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.windows import Windows
from graphscope.engine.ops.flat_rules import refused
from graphscope.errors import StaticError

if TYPE_CHECKING:
    from graphscope.graph import Node

_SLICE: Final = re.compile(r"slice\((-?\d+|None), (-?\d+|None), (-?\d+|None)\)")
_ARRAY: Final = re.compile(r"\[[\[\]\s\d.TrueFals+-]*\]")
_CUT: Final = re.compile(r"\w+ array of shape \(.*\)")
_FLOAT_ERRORS: Final[dict[str, Any]] = {"rtol": 1e-4, "atol": 1e-6, "equal_nan": True}


@dataclass(frozen=True)
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
        return self._forward(self._arrays(inputs))[0]

    def gradients(self, cotangents: Sequence[Any], inputs: Sequence[Any] | None = None) -> list[Any]:
        """What its rules make of a cotangent for each output: for each input a gradient, or None."""
        arrays = self._arrays(inputs)
        outputs, residuals = self._forward(arrays)
        arrays += [None] * (len(self.op.vjps) - len(arrays))  # what was left out, rules may ask for
        last = len(self.op.vjps) - 1
        rules = [self.op.vjps[min(place, last)] if last >= 0 else None for place in range(len(arrays))]
        wanting = tuple(
            _is_floating(array) and rule is not None and rule.rule is not refused
            for array, rule in zip(arrays, rules, strict=True)
        )
        plan = plan_for(self.op, wanting)
        found: list[Any] = [None] * len(arrays)
        if not plan.rules:
            return found
        out: Any = outputs if self.op.several else outputs[0]
        saved = plan.save((out, residuals) if self.op.residuals else out, *arrays)
        if self.op.several:
            whole = tuple(cotangents)
            results: Any = plan.gradients(whole, saved, self.attributes)
        else:
            record = [plan, (), saved, 0, None, self.attributes, -1, None, None, None]
            results = specially(record, cotangents[0], -1)
        results = (results,) if plan.alone and not isinstance(results, list | tuple) else results
        for rule, result in zip(plan.rules, results, strict=True):
            if result is not None:
                found[rule.index] = _narrowed(np.asarray(result), np.shape(arrays[rule.index]))
        return found

    def with_inputs(self, changed: Mapping[int, Any]) -> Call:
        """The same call with other values in the places of some recorded inputs (0 is the first of these)."""
        inputs = list(self.inputs)
        for number, value in changed.items():
            inputs[self.places[number]] = value
        return Call(self.op, tuple(inputs), self.places, self.attributes, self.where)

    def _arrays(self, inputs: Sequence[Any] | None) -> list[Any]:
        given = list(self.inputs if inputs is None else inputs)
        if not self.op.promotes:
            return given
        wanted = dtypes.result_type([value for value in given if value is not None])
        return [value.astype(wanted) if hasattr(value, "dtype") and value.dtype != wanted else value for value in given]

    def _forward(self, arrays: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        with np.errstate(all="ignore"):
            found = self.op.forward(*arrays, **self.attributes)
        found, residuals = found if self.op.residuals else (found, None)
        return (tuple(found) if self.op.several else (found,)), residuals


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
    if op.in_place:
        apart = OPS.get(op.name.rstrip("_"))
        if apart is None or apart.in_place:
            raise StaticError(f"{where} can only write in place", hint="look at the nodes around it")
        op = apart
    given = []
    for edge in owner.inputs:
        value = edge.source.output(edge.slot)
        if value is None:
            raise StaticError(
                f"{where} can't be made again: the value of its input #{edge.source.row} was not kept",
                hint="record with values='full' and a larger cap",
            )
        given.append(np.asarray(value) if np.ndim(value) else np.asarray(value)[()])
    attributes = dict(owner.attrs)
    attributes.pop("name", None)
    numbers = list(attributes.pop("operands", ())) or ([attributes.pop("other")] if "other" in attributes else [])
    attributes = {name: _read(where, name, value) for name, value in attributes.items()}
    recorded = [owner.output(slot) for slot in range(len(owner.outputs))]
    for inputs, places in _placements(given, numbers, len(op.vjps)):
        call = Call(op, inputs, places, _completed(op, inputs, attributes), where)
        if _gives(call, recorded):
            return call
    raise StaticError(
        f"{where} does not give what was recorded when it runs again",
        hint="it draws random numbers, or the log does not hold all of its attributes",
    )


HIDDEN: Final[dict[str, Callable[[Sequence[Any], dict[str, Any]], Any]]] = {
    "_from": lambda inputs, attributes: np.shape(inputs[0]),
    "_ends": lambda inputs, attributes: (0, *itertools.accumulate(np.shape(x)[attributes["dim"]] for x in inputs)),
}
"""Attributes that follow from the inputs, which a log does not keep."""


def _completed(op: Op, inputs: Sequence[Any], attributes: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a call with those that follow from its inputs."""
    missing = _hidden(op) - set(attributes)
    found = dict(attributes)
    try:
        for name in missing & set(HIDDEN):
            found[name] = HIDDEN[name](inputs, attributes)
        if missing - set(HIDDEN) and op.prepare is not None:
            tensors = [Tensor(value) if hasattr(value, "dtype") else value for value in inputs]
            known = inspect.signature(op.prepare).parameters
            told = {name: value for name, value in attributes.items() if name in known}
            rest = (name for name in known if name not in told)
            found = {**op.prepare(**dict(zip(rest, tensors, strict=False)), **told)[1], **found}
    except Exception:  # noqa: BLE001 - these are not the places of its inputs, or the log holds too little
        return found
    return found


@functools.cache
def _hidden(op: Op) -> frozenset[str]:
    names = {name for vjp in op.vjps if vjp is not None for name in vjp.attrs}
    parameters = inspect.signature(op.forward).parameters.values() if inspect.isfunction(op.forward) else ()
    names |= {each.name for each in parameters if each.kind is each.KEYWORD_ONLY}
    return frozenset(name for name in names if name.startswith("_"))


def _placements(given: list[Any], numbers: list[Any], count: int) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
    """The ways to put arrays and numbers, each in their order, into the places of a call."""
    total = len(given) + len(numbers)
    for size in range(total, max(total, count) + 1):
        others = [*numbers, *[None] * (size - total)]
        ways = list(itertools.combinations(range(size), len(given)))
        for places in ways:
            rest = iter(others)
            arrays = dict(zip(places, given, strict=True))
            yield tuple(arrays[place] if place in arrays else next(rest) for place in range(size)), places


def _gives(call: Call, recorded: Sequence[Any]) -> bool:
    try:
        found = call.run()
    except Exception:  # noqa: BLE001 - these are not the places of its inputs
        return False
    if len(found) != len(recorded):
        return False
    for value, expected in zip(found, recorded, strict=True):
        if np.shape(value) != np.shape(expected) and expected is not None:
            return False
        if expected is not None and not np.allclose(np.asarray(value), np.asarray(expected), **_FLOAT_ERRORS):
            return False
    return True


def _read(where: str, name: str, value: Any) -> Any:
    """An attribute from the text that the log keeps of it."""
    if isinstance(value, list):
        return tuple(_read(where, name, part) for part in value)
    if not isinstance(value, str):
        return value
    if name.endswith("dtype"):
        return np.dtype(value)
    if value == "Ellipsis":
        return ...
    if found := _SLICE.fullmatch(value):
        return slice(*(None if part == "None" else int(part) for part in found.groups()))
    if value.startswith("Windows("):
        fields = dict(re.findall(r"(\w+)=(\([^()]*\))", value))
        return Windows(**{key: ast.literal_eval(text) for key, text in fields.items()})
    if _ARRAY.fullmatch(value):
        return np.array(ast.literal_eval(re.sub(r"(?<=[\d\]elu.])\s+(?=[-\d\[TF])", ", ", value)))
    if _CUT.fullmatch(value):
        raise StaticError(
            f"{where} can't be made again: of its {name} the log keeps only that it is a {value}",
            hint="index with a tensor, which is recorded",
        )
    return value


def _is_floating(value: Any) -> bool:
    return hasattr(value, "dtype") and value.dtype.kind in "fc"


def _narrowed(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A gradient brought back to the shape that was broadcast."""
    extra = gradient.ndim - len(shape)
    if extra > 0:
        gradient = gradient.sum(axis=tuple(range(extra)))
    spread = tuple(axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1)
    gradient = gradient.sum(axis=spread, keepdims=True) if spread else gradient
    return np.broadcast_to(gradient, shape)
