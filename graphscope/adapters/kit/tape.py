"""The tape: what a framework computes, told as nodes of both passes, at each of which a debugger may wait."""

from __future__ import annotations

import contextlib
import itertools
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from graphscope.adapters.kit import gate
from graphscope.adapters.kit.frames import Frames
from graphscope.eventlog.arguments import bits, entry, separated
from graphscope.eventlog.places import argument_text, site_number
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.template import Template
from graphscope.eventlog.typed import Input
from graphscope.eventlog.writer import Writer


@dataclass(frozen=True, slots=True)
class Node:
    """A forward node: its row, and what the rows of its gradient share with that."""

    row: int
    fields: Mapping[str, Any]


class Place(threading.local):
    """Where a thread of the program is."""

    def __init__(self) -> None:
        self.scope = ScopePath()
        self.backward_row = 0
        """The row of the rule that runs, or 0."""
        self.is_backward = False
        self.is_asked = False
        """Whether what runs is a person's expression, while the program waits."""


class Tape:
    """Writes the rows of a framework's program.

    Args:
        writer: The log.
        packages: The framework's packages: their frames are not the program's.
    """

    def __init__(self, writer: Writer, packages: Iterable[ModuleType]) -> None:
        self.writer = writer
        self.frames = Frames(packages)
        self._place = Place()
        self._templates: dict[Any, Template] = {}

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is the program's, and not that of a person at whom the program waits."""
        return not self._place.is_asked

    # Forward ---------------------------------------------------------------------------------------------------------

    def leaf(
        self, array: np.ndarray, *, name: str | None = None, argument: int | None = None, parameter: bool = False
    ) -> Node:
        """The node of a value that no recorded call made.

        Args:
            array: Its elements.
            name: What the program calls it.
            argument: Without a name: which argument of the call that the program is at it is; that is its name.
            parameter: Whether it is trained.
        """
        frame = self._frame()
        if name is None and argument is not None:
            name = argument_text(frame.f_code, frame.f_lasti, argument)
        fields = self._fields(frame, 0, array, {} if name is None else {"name": name})
        flags = Flag.REQUIRES_GRAD | (Flag.PARAMETER if parameter else Flag(0))
        row = self.writer.append(self._template(Kind.LEAF, 0, fields, flags), array, self.writer.clock())
        return Node(row, fields)

    def before(self, name: str, inputs: Sequence[Node]) -> None:
        """Let a debugger look ahead of a call."""
        if self.writer.gate is not None:
            gate.before(self.writer, name, [node.row for node in inputs], self._frame(), self._waiting())

    def op(
        self,
        name: str,
        operands: Sequence[Any],
        array: np.ndarray,
        *,
        attributes: Mapping[str, Any] | None = None,
        doc: str = "",
        duration: int = 0,
    ) -> tuple[Node, Any]:
        """The node of a call that was made, and its value: that of the call, or what a debugger put in its place.

        Args:
            name: What the log calls the op.
            operands: In order: the nodes of inputs, and constants.
            array: The value.
            attributes: Keyword arguments.
            doc: A sentence on what the op does.
            duration: Nanoseconds.
        """
        frame = self._frame()
        rows = [operand.row for operand in operands if isinstance(operand, Node)]
        inputs = itertools.count()
        told = [Input(next(inputs)) if isinstance(operand, Node) else operand for operand in operands]
        numbers: list[float] = []
        separated((told, attributes), numbers)
        # Numbers lie in the row, so that a rate that changes at each step does not let the tables grow.
        fields = self._fields(frame, self._op(name, doc), array, entry(told, attributes or {}, range(len(numbers))))
        template = self._template(Kind.OP, len(rows), fields, Flag.REQUIRES_GRAD, len(numbers))
        row = self._append(template, array, [*rows, *map(bits, numbers)], duration, self._place.backward_row)
        return Node(row, fields), self._answered(row, array, frame)

    @contextlib.contextmanager
    def scope(self, name: str, type: str = "") -> Iterator[None]:
        """What runs inside belongs to a module or a composite op."""
        place = self._place
        outer, place.scope = place.scope, place.scope.child(name, type)
        self.writer.mark(Kind.SCOPE_ENTER, scope=place.scope.number(self.writer))
        try:
            yield
        finally:
            self.writer.mark(Kind.SCOPE_EXIT, scope=place.scope.number(self.writer))
            place.scope = outer

    def step(self) -> None:
        """A training step has ended."""
        self.writer.mark(Kind.STEP)

    # Backward --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def backward(self, root: Node | None) -> Iterator[None]:
        """A backward pass that begins at a node runs inside."""
        place, frame = self._place, self._frame()
        site, rows = site_number(self.writer, frame), [] if root is None else [root.row]
        before = place.is_backward, place.backward_row
        self.writer.mark(Kind.BACKWARD_BEGIN, site=site, inputs=rows)
        place.is_backward = True
        try:
            yield
        finally:
            place.is_backward, place.backward_row = before
            self.writer.mark(Kind.BACKWARD_END, site=site, inputs=rows)
        gate.passed(self.writer, frame, self._waiting())

    def cotangent(
        self, node: Node, array: np.ndarray, parts: Sequence[tuple[np.ndarray | None, int]]
    ) -> tuple[int, Any]:
        """The row of a rule that is due, and the cotangent to run it with: what arrived, or what a debugger put there.

        What runs until the next cotangent belongs to this rule.

        Args:
            node: Whose rule it is.
            array: The cotangent, whole.
            parts: What it is the sum of, each with the row of the rule that it comes from (0: the pass began with it);
                None in the place of what is no array.
        """
        origins = [self._part(node, part, origin) if len(parts) > 1 else origin for part, origin in parts]
        origins = [origin for origin in origins if origin]
        template = self._template(Kind.GRAD, len(origins), {**node.fields, **_of(array)})
        row = self._place.backward_row = self._append(template, array, origins, 0, node.row)
        return row, self._answered(row, array, self._frame())

    def contribution(self, leaf: Node, array: np.ndarray, origin: int, *, first: bool) -> Any:
        """What is added to the gradient of a leaf: what arrived, or what a debugger put there.

        Args:
            leaf: The leaf.
            array: The contribution.
            origin: The row of the rule that it comes from.
            first: Whether the leaf had no gradient before.
        """
        fields = {**leaf.fields, **_of(array), "scope": 0, "attrs": 0}
        template = self._template(Kind.ACCUMULATE, 1, fields, Flag.FRESH if first else Flag(0))
        row = self._append(template, array, [origin], 0, leaf.row)
        return self._answered(row, array, self._frame())

    # Inside ----------------------------------------------------------------------------------------------------------

    def _part(self, node: Node, part: np.ndarray | None, origin: int) -> int:
        """The row of one of several parts of a cotangent."""
        if part is None:
            return origin
        rows = [origin] if origin else []
        fields = {**node.fields, **_of(part), "op": 0, "attrs": 0}
        return self._append(self._template(Kind.ACCUMULATE, len(rows), fields), part, rows, 0, node.row)

    def _frame(self) -> FrameType:
        return self.frames.user(sys._getframe(1))

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        place = self._place
        before, place.is_asked = place.is_asked, True
        try:
            yield
        finally:
            place.is_asked = before

    def _answered(self, row: int, array: Any, frame: FrameType) -> Any:
        if self.writer.gate is None:
            return array
        answer = gate.after(self.writer, row, array, frame, self._waiting())
        return array if answer is None else np.asarray(answer.value, array.dtype).reshape(array.shape)

    def _op(self, name: str, doc: str) -> int:
        number = self.writer.tables["ops"].find(name)
        if number is not None:
            return number
        return self.writer.intern("ops", name, {"name": name, "formula": "", "doc": doc, "vjp": [], "inputs": []})

    def _fields(self, frame: FrameType, op: int, array: np.ndarray, told: dict[str, Any]) -> dict[str, Any]:
        return {
            "op": op,
            "site": site_number(self.writer, frame),
            "scope": self._place.scope.number(self.writer),
            "attrs": self.writer.attributes(told),
            **_of(array),
        }

    def _template(
        self, kind: Kind, count: int, fields: Mapping[str, Any], flags: Flag = Flag(0), numbers: int = 0
    ) -> Template:
        """What rows of one place of the program share."""
        backward = self._place.is_backward
        key = (kind, count, numbers, flags, backward, threading.get_ident(), *fields.values())
        found = self._templates.get(key)
        if found is None:
            graph_pass = Pass.BACKWARD if backward else Pass.FORWARD
            found = self._templates[key] = self.writer.template(
                kind, input_count=count, number_count=numbers, flags=flags, graph_pass=graph_pass, **fields
            )
        return found

    def _append(self, template: Template, array: np.ndarray, rows: list[int], duration: int, forward: int) -> int:
        return self.writer.append_many(template, array, rows, self.writer.clock(), duration, forward)


def _of(array: np.ndarray) -> dict[str, Any]:
    """The fields of a row that its value says."""
    return {"shape": array.shape, "dtype": array.dtype}
