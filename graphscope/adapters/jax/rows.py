"""Rows: what JAX computes, as nodes of the log, by the identity of the arrays."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from threading import local
from typing import Any, Final, NamedTuple

import jax
import numpy as np

from graphscope.adapters.jax.internals import LITERAL
from graphscope.adapters.jax.op_names import op_of
from graphscope.adapters.jax.step_calls import StepCalls
from graphscope.adapters.jax.whereabouts import Whereabouts
from graphscope.adapters.kit.identity import Notes
from graphscope.adapters.kit.tape import Node, Tape
from graphscope.eventlog.schema import SLOT_SHIFT

_CONVERTING: Final = ("convert_element_type", "broadcast_in_dim", "copy")
"""Primitives that make an array of a number."""


class _Here(local):
    """What a thread of the program is at."""

    def __init__(self) -> None:
        self.passes: list[ExitStack] = []
        """The backward passes that run."""
        self.followed = 0
        """So many functions that run are differentiated, one inside of another."""
        self.rule: tuple[int, Sequence[int]] = (0, ())
        """The row of the rule that runs, and the slots of its results."""


class Version(NamedTuple):
    """A version of a parameter."""

    first: Node
    newest: Node
    version: int
    name: str

    def is_like(self, array: Any) -> bool:
        """Whether an array may be a later one."""
        return bool(self.first.fields["shape"] == array.shape and self.first.fields["dtype"] == array.dtype)


class Rows:
    """Writes the rows of a recording.

    Args:
        tape: The tape that they go to.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.here = _Here()
        self.where = Whereabouts(tape.session.frames)
        self.calls = StepCalls(tape.session)
        self._nodes: Notes[Node] = Notes()
        """The node that an array is the value of, or one of the values."""
        self._numbers: Notes[Any] = Notes()
        """What is no more than a number that the program wrote down, in the form of an array."""
        self._stacks: Notes[list[Any]] = Notes()
        """What the turns of a loop gave, of what they gave together."""
        self._sums: Notes[Sequence[Any]] = Notes()
        """What a cotangent is the sum of."""
        self._parameters: Notes[Version] = Notes()
        self._versions: dict[str, Version] = {}
        """The newest version of each parameter, by its name."""
        self._trained: Notes[bool] = Notes()
        """What was computed from parameters."""
        self._origins: Notes[int] = Notes()
        """The row of the rule that made an array, with the slot."""

    # Forward ---------------------------------------------------------------------------------------------------------

    def op(self, name: str, args: Sequence[Any], params: dict[str, Any], values: Sequence[Any], duration: int) -> Any:
        """Append the row of a call, and give what it returned, or what a debugger put in its place."""
        operands = [self._operand(each) for each in args]
        told: Any = tuple(map(elements, values)) if len(values) > 1 else elements(values[0])
        if name in _CONVERTING and not told.ndim and not isinstance(operands[0], Node):
            self._numbers.note(values[0], np.asarray(told).item())
            return values
        line = self._at()
        called = op_of(name, args, params)
        node, answer = self.tape.op(
            called.name,
            operands,
            told,
            attributes=called.attributes,
            duration=duration,
            line=line,
            function=name if called.name != name else "",
            signature=called.signature,
            differentiated=self.here.followed > 0,
        )
        answers = _replaced(values, told, answer)
        if node is not None:
            is_trained = any(map(self._is_trained, args))
            for slot, each in enumerate(answers):
                self._nodes.note(each, node.output(slot) if slot else node)
                if is_trained:
                    self._trained.note(each, True)
        return answers

    def ahead(self, name: str, args: Sequence[Any], params: dict[str, Any]) -> None:
        """Let a debugger look ahead of a call."""
        if self.tape.session.writer.gate is not None:
            line = self._at()
            known = [self._operand(each) for each in args]
            self.tape.before(
                op_of(name, args, params).name, [each for each in known if isinstance(each, Node)], line=line
            )

    def leaf(self, value: Any, name: str | None, *, differentiated: bool = False) -> Node | None:
        """The node of an array, which is one that no call made if it is not known."""
        if isinstance(value, LITERAL):
            value = value.val
        node, origin = self._nodes.of(value), self._origins.of(value)
        if node is None and origin is not None:
            return Node(origin, {})
        if node is None and (parts := self._stacks.of(value)) is not None:
            self.op("stack", parts, {}, [value], 0)
            return self._nodes.of(value)
        if node is None:
            node = self.tape.leaf(elements(value), name=name, differentiated=differentiated, line=self._at())
            if node is not None:
                self._nodes.note(value, node)
        return node

    def given(self, value: Any, name: str) -> None:
        """Append the leaf of an array that a jitted function is given, if it is not known."""
        if not is_constant(value) and self._numbers.of(value) is None:
            self.leaf(value, name)

    def differentiated(self, values: Sequence[Any], names: Sequence[str], trained: bool) -> Sequence[Any]:
        """Append the leaves that are differentiated by; the arrays that they are the values of.

        A parameter that is another array than at the last time was written anew, and a training step has ended.
        """
        self.here.followed += 1
        arrays = [value if isinstance(value, jax.Array) else jax.numpy.asarray(value) for value in values]
        if trained:
            changed = {name: array for array, name in zip(arrays, names, strict=True) if self._parameter(array, name)}
            self.calls.differentiates(changed)
        else:
            for array, name in zip(arrays, names, strict=True):
                self.leaf(array, name, differentiated=True)
        return arrays

    def leave(self) -> None:
        """Leave the scopes that are in none which the next rows lie in."""
        self._at()

    def parts_of(self, whole: Any) -> list[Any] | None:
        """What the turns of a loop gave, where that is what an array is made of."""
        return self._stacks.of(whole)

    def stacked(self, whole: Any, parts: Sequence[Any]) -> None:
        """Note what an array is made of; it has no row unless something else asks for it as a whole."""
        self._stacks.note(whole, list(parts))

    def sliced(self, whole: Any, turn: int, part: Any) -> Any:
        """Append the row of what a turn of a loop is given of an array."""
        return self.op("slice", [whole], {"index": turn}, [part], 0)[0]

    # Backward --------------------------------------------------------------------------------------------------------

    def begin(self, outputs: Sequence[Any]) -> None:
        """A backward pass begins."""
        self._at()
        stack = ExitStack()
        root = next((node for each in outputs if (node := self._nodes.of(each)) is not None), None)
        self.calls.begins(outputs[0] if len(outputs) == 1 and not np.ndim(outputs[0]) else None)
        stack.enter_context(self.tape.backward(root))
        self.here.passes.append(stack)

    def end(self, depth: int | None = None) -> None:
        """A backward pass ends, or all from a depth on."""
        passes = self.here.passes
        for _ in range(1 if depth is None else len(passes) - depth):
            if passes:
                passes.pop().close()
                self.here.followed = max(self.here.followed - 1, 0)
        self.here.rule = (0, ())

    def cotangent(self, wholes: Sequence[Any], context: Sequence[Any], served: tuple[int, ...]) -> Sequence[Any]:
        """Append the row of a rule that is due."""
        node = next((found for each in context if (found := self._nodes.of(each)) is not None), None)
        if node is None:
            self.here.rule = 0, ()
            return wholes
        parts = [(elements(each), self._origin(each)) for whole in wholes for each in self._summands(whole)]
        value = tuple(map(elements, wholes)) if len(wholes) > 1 else elements(wholes[0])
        row, answer = self.tape.cotangent(node, value, parts)
        self.here.rule = row, served
        return _replaced(wholes, value, answer)

    def pulled(self, results: Sequence[Any]) -> None:
        """The rule that was due has made these."""
        row, slots = self.here.rule
        if row:
            for slot, each in zip(slots, results, strict=False):  # behind them may lie their derivatives
                self._origins.note(each, row | slot << SLOT_SHIFT)

    def gradient(self, whole: Any, leaf_value: Any) -> Any:
        """Append the rows of what is added to the gradient of a leaf."""
        leaf = self._nodes.of(leaf_value)
        if leaf is None:
            return whole
        parts = self._summands(whole)
        row = 0
        for number, part in enumerate(parts):
            value = elements(part)
            row, answer = self.tape.contribution(leaf, value, self._origin(part), first=number == 0)
            if answer is not value:
                whole = jax.numpy.asarray(answer) + (whole - part if len(parts) > 1 else 0)
        self._origins.note(whole, row)
        return whole

    def summed(self, whole: Any, parts: Sequence[Any]) -> None:
        """Note what a cotangent is the sum of."""
        self._sums.note(whole, parts)

    # Parameters ------------------------------------------------------------------------------------------------------

    def _parameter(self, array: Any, name: str) -> bool:
        """The leaf of a parameter; whether it is a new version of one that was known by its name."""
        low = self.tape.session.writer.low
        known = self._parameters.of(array)
        if known is not None and known.newest.row >= low:
            return False
        last, made = self._versions.get(name), self._nodes.of(array)
        if made is not None and last is not None and last.newest.row >= low and last.is_like(array):
            if not self._is_trained(array):  # another batch, by which is differentiated as well
                self.leaf(array, name, differentiated=True)
                return False
            self._written("copy_", array, made, last, name)
            return True
        node = self.tape.leaf(elements(array), name=name, parameter=True, line=self._at())
        if node is not None:
            self._note(array, Version(node, node, 0, name))
        return False

    def updated(self, arrays: Sequence[Any], before: Sequence[Any]) -> None:
        """Append what an optimizer made of parameters: a training step has ended, unless none of them is one."""
        known = [
            (array, made, last)
            for array, old in zip(arrays, before, strict=True)
            if (last := self._parameters.of(old)) is not None and (made := self._nodes.of(array)) is not None
        ]
        for array, made, last in known:
            self._written("apply_updates", array, made, last, last.name)
        if known:
            self.calls.updates()

    def became(self, name: str, array: Any) -> None:
        """Append what a parameter is from here on, if the log has what it was."""
        last, made = self._versions.get(name), self._nodes.of(array)
        if made is None or last is None or last.newest.row < self.tape.session.writer.low:
            return
        if self._parameters.of(array) is None:  # else it is known already
            self._written("copy_", array, made, last, name)

    def forget_versions(self) -> None:
        """Parameters have had others in between, which nothing tells of."""
        self._versions.clear()

    def _is_trained(self, value: Any) -> bool:
        """Whether a value is a parameter, or was computed from one or from a cotangent."""
        notes = self._parameters, self._trained, self._origins
        return any(each.of(value) is not None for each in notes) or any(
            map(self._is_trained, self._stacks.of(value) or ())
        )

    def _written(self, op: str, array: Any, made: Node, last: Version, name: str) -> None:
        """Append the row of the next version of a parameter."""
        number = last.version + 1
        node = self.tape.update(
            op,
            last.newest,
            [made],
            elements(array),
            first=last.first,
            version=number,
            doc="A parameter is another array from here on.",
            called=name,
        )
        if node is not None:
            self._note(array, Version(last.first, node, number, name))

    def _note(self, array: Any, version: Version) -> None:
        self._nodes.note(array, version.newest)
        self._parameters.note(array, version)
        self._versions[version.name] = version

    # Inside ----------------------------------------------------------------------------------------------------------

    def _at(self) -> Any:
        """The line that is at work; rows from here on lie in its scopes."""
        line, path = self.where.here()
        self.tape.lie_in(path)
        return line

    def _summands(self, whole: Any) -> list[Any]:
        """What a cotangent is the sum of, or itself alone."""
        parts = self._sums.of(whole)
        return [whole] if parts is None else [each for part in parts for each in self._summands(part)]

    def _origin(self, part: Any) -> int:
        """The row that a cotangent comes from, with the slot; 0 where the pass began with it."""
        origin = self._origins.of(part)
        node = self._nodes.of(part) if origin is None else None
        return origin or (node.row if node is not None else 0)

    def _operand(self, value: Any) -> Any:
        """The node of an array, or a constant."""
        if is_constant(value):
            return value.item() if hasattr(value, "item") else value
        number = self._numbers.of(value)
        return self.leaf(value, None) if number is None else number


def is_constant(value: Any) -> bool:
    """Whether a value is a number that the program wrote down."""
    return not isinstance(value, jax.Array) and not np.ndim(value)


def elements(value: Any) -> Any:
    """An array as NumPy can read it: keys of random numbers by their bits."""
    if isinstance(value, jax.Array) and jax.numpy.issubdtype(value.dtype, jax.dtypes.extended):
        return jax.random.key_data(value)
    return value if hasattr(value, "dtype") else np.asarray(value)


def _replaced(values: Sequence[Any], told: Any, answer: Any) -> list[Any]:
    """Values, with what a debugger put in the place of the first."""
    given, first = (answer[0], told[0]) if isinstance(told, tuple) else (answer, told)
    return list(values) if given is first else [jax.numpy.asarray(given), *values[1:]]
