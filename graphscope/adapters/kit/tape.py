"""The tape: what a framework computes, recorded as nodes of both passes, at each of which a debugger may wait."""

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
from graphscope.adapters.kit.call_scopes import Scope, within
from graphscope.adapters.kit.frames import Frames
from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.recording import Recording
from graphscope.adapters.kit.value_names import argument_name
from graphscope.adapters.kit.value_policy import wanted
from graphscope.eventlog.arguments import bits, entry, separated
from graphscope.eventlog.places import Line, line_number, site_number
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
    """Where a thread of the program is.

    Args:
        root: What all scopes lie in: those of one name are the same in all threads.
    """

    def __init__(self, root: ScopePath) -> None:
        self.context = Scope(root)
        self.backward_row = 0
        """The row of the rule that runs, or 0."""
        self.busy = False
        """Whether what runs is not the program's but a person's expression, while the program waits."""


class Tape:
    """Writes the rows of a framework's program. Where we fail, the recording ends and the program goes on.

    A value is anything that has a shape and a dtype and that NumPy can read; it is read where the log wants it.

    Args:
        writer: The log.
        framework: The framework's name, as people write it.
        packages: Its packages: their frames are not the program's.
    """

    def __init__(self, writer: Writer, framework: str, packages: Iterable[ModuleType]) -> None:
        self.session = Recording(writer, framework, Frames(packages))
        self._place = Place(ScopePath())
        self._templates: dict[Any, Template] = {}

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is recorded: it is the program's, and not that of a person at whom it waits."""
        return not (self._place.busy or self.session.ended)

    # Forward ---------------------------------------------------------------------------------------------------------

    @guarded(lambda value, **_: None)
    def leaf(
        self,
        value: Any,
        *,
        name: str | None = None,
        argument: int | None = None,
        parameter: bool = False,
        function: str = "",
        line: Line | None = None,
    ) -> Node | None:
        """The node of a value that no recorded call made; None where nothing is recorded.

        Args:
            value: The value.
            name: What the program calls it.
            argument: Without a name: which argument of the call that the program is at it is; that is its name.
            parameter: Whether it is trained.
            function: What made it: `placeholder`.
            line: Where it was made, if not where the program is.
        """
        frame = self._frame()
        if name is None and argument is not None:
            name = argument_name(frame, argument)
        told = {"name": name, "function": function or None}
        fields = self._fields(frame, 0, value, {key: text for key, text in told.items() if text is not None}, line)
        flags = Flag.REQUIRES_GRAD | (Flag.PARAMETER if parameter else Flag(0))
        return Node(self._append(self._template(Kind.LEAF, 0, fields, flags), value, []), fields)

    @guarded(lambda name, inputs, **_: None)
    def before(self, name: str, inputs: Sequence[Node], *, called: str = "", line: Line | None = None) -> None:
        """Let a debugger look ahead of a call; the rest as of `op`."""
        if self.session.writer.gate is not None:
            rows = [node.row for node in inputs]
            gate.before(self.session.writer, name, rows, self._frame(), self._waiting(), called, line)

    @guarded(lambda name, operands, value, **_: (None, value))
    def op(
        self,
        name: str,
        operands: Sequence[Any],
        value: Any,
        *,
        attributes: Mapping[str, Any] | None = None,
        doc: str = "",
        duration: int = 0,
        called: str = "",
        line: Line | None = None,
    ) -> tuple[Node | None, Any]:
        """The node of a call that was made, and its value: that of the call, or what a debugger put in its place.

        Args:
            name: What the log calls the op.
            operands: In order: the nodes of inputs, and constants.
            value: What the call returned.
            attributes: Keyword arguments.
            doc: A sentence on what the op does.
            duration: Nanoseconds.
            called: What the program calls the node, if it does.
            line: Where the call was written, if that is not where the program is: a graph was built there.
        """
        frame = self._frame()
        rows = [operand.row for operand in operands if isinstance(operand, Node)]
        inputs = itertools.count()
        placed = [Input(next(inputs)) if isinstance(operand, Node) else operand for operand in operands]
        numbers: list[float] = []
        separated((placed, attributes), numbers)
        # Numbers lie in the row, so that a rate that changes at each step does not let the tables grow.
        call = entry(placed, attributes or {}, range(len(numbers)))
        told = {"name": called, **call} if called else call
        fields = self._fields(frame, self.session.op_number(name, doc), value, told, line)
        template = self._template(Kind.OP, len(rows), fields, Flag.REQUIRES_GRAD, len(numbers))
        row = self._append(template, value, [*rows, *map(bits, numbers)], self._place.backward_row, duration)
        return Node(row, fields), self._answered(row, value, frame)

    @contextlib.contextmanager
    def scope(self, name: str, type: str = "") -> Iterator[None]:
        """What runs inside belongs to a module or a composite op."""
        inner = self._scope(name, type)
        with contextlib.nullcontext() if inner is None else within(self._place, inner, self.session.writer):
            yield

    @guarded(lambda: None)
    def step(self) -> None:
        """A training step has ended."""
        self.session.writer.step()

    # Backward --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def backward(self, root: Node | None) -> Iterator[None]:
        """A backward pass that begins at a node runs inside."""
        place = self._place
        before = place.context, place.backward_row
        frame = self._begun(root)
        place.context = place.context.on_backward()
        try:
            yield
        finally:
            place.context, place.backward_row = before
            if frame is not None:
                self._ended(root, frame)
        if frame is not None:
            self._passed(frame)

    @guarded(lambda node, value, parts: (0, value))
    def cotangent(self, node: Node, value: Any, parts: Sequence[tuple[Any, int]]) -> tuple[int, Any]:
        """The row of a rule that is due, and the cotangent to run it with: what arrived, or what a debugger put there.

        What runs until the next cotangent belongs to this rule.

        Args:
            node: Whose rule it is.
            value: The cotangent, whole.
            parts: What it is the sum of, each with the row of the rule that it comes from (0: the pass began with it);
                None in the place of what is no array.
        """
        origins = [self._part(node, part, origin) if len(parts) > 1 else origin for part, origin in parts]
        origins = [origin for origin in origins if origin]
        template = self._template(Kind.GRAD, len(origins), {**node.fields, **_of(value)})
        row = self._place.backward_row = self._append(template, value, origins, node.row)
        return row, self._answered(row, value, self._frame())

    @guarded(lambda leaf, value, origin, **_: value)
    def contribution(self, leaf: Node, value: Any, origin: int, *, first: bool) -> Any:
        """What is added to the gradient of a leaf: what arrived, or what a debugger put there.

        Args:
            leaf: The leaf.
            value: The contribution.
            origin: The row of the rule that it comes from.
            first: Whether the leaf had no gradient before.
        """
        fields = {**leaf.fields, **_of(value), "scope": 0, "attrs": 0}
        template = self._template(Kind.ACCUMULATE, 1, fields, Flag.FRESH if first else Flag(0))
        row = self._append(template, value, [origin], leaf.row)
        return self._answered(row, value, self._frame())

    # Inside ----------------------------------------------------------------------------------------------------------

    @guarded(lambda name, type: None)
    def _scope(self, name: str, type: str) -> Scope | None:
        writer, outer = self.session.writer, self._place.context
        path = outer.path.child(name, type)  # one object for each path
        return outer.child(path, name, type, writer)

    @guarded(lambda root: None)
    def _begun(self, root: Node | None) -> FrameType | None:
        """Mark where a pass begins; the program's frame there."""
        frame = self._frame()
        self._mark(Kind.BACKWARD_BEGIN, root, frame)
        return frame

    @guarded(lambda root, frame: None)
    def _ended(self, root: Node | None, frame: FrameType) -> None:
        self._mark(Kind.BACKWARD_END, root, frame)

    @guarded(lambda frame: None)
    def _passed(self, frame: FrameType) -> None:
        gate.passed(self.session.writer, frame, self._waiting())

    def _mark(self, kind: Kind, root: Node | None, frame: FrameType) -> None:
        writer = self.session.writer
        writer.mark(kind, site=site_number(writer, frame), inputs=[] if root is None else [root.row])

    def _part(self, node: Node, part: Any, origin: int) -> int:
        """The row of one of several parts of a cotangent."""
        if part is None:
            return origin
        rows = [origin] if origin else []
        fields = {**node.fields, **_of(part), "op": 0, "attrs": 0}
        return self._append(self._template(Kind.ACCUMULATE, len(rows), fields), part, rows, node.row)

    def _frame(self) -> FrameType:
        return self.session.frames.user(sys._getframe(1))

    @contextlib.contextmanager
    def _waiting(self) -> Iterator[None]:
        place = self._place
        before, place.busy = place.busy, True
        try:
            yield
        finally:
            place.busy = before

    def _answered(self, row: int, value: Any, frame: FrameType) -> Any:
        if self.session.writer.gate is None:
            return value
        answer = gate.after(self.session.writer, row, np.asarray(value), frame, self._waiting())
        return value if answer is None else np.asarray(answer.value, value.dtype).reshape(value.shape)

    def _fields(self, frame: FrameType, op: int, value: Any, call: dict[str, Any], line: Line | None) -> dict[str, Any]:
        writer = self.session.writer
        return {
            "op": op,
            "site": site_number(writer, frame) if line is None else line_number(writer, line),
            "scope": self._place.context.path.number(writer),
            "attrs": writer.attributes(call),
            **_of(value),
        }

    def _template(
        self, kind: Kind, count: int, fields: Mapping[str, Any], flags: Flag = Flag(0), numbers: int = 0
    ) -> Template:
        """What rows of one place of the program share."""
        backward = self._place.context.backward
        key = (kind, count, numbers, flags, backward, threading.get_ident(), *fields.values())
        found = self._templates.get(key)
        if found is None:
            graph_pass = Pass.BACKWARD if backward else Pass.FORWARD
            found = self._templates[key] = self.session.writer.template(
                kind, input_count=count, number_count=numbers, flags=flags, graph_pass=graph_pass, **fields
            )
        return found

    def _append(self, template: Template, value: Any, rows: list[int], forward: int = 0, duration: int = 0) -> int:
        writer = self.session.writer
        array = np.asarray(value) if wanted(template).elements else None
        return writer.append_many(template, array, rows, writer.clock(), duration, forward)


def _of(value: Any) -> dict[str, Any]:
    """The fields of a row that its value says."""
    return {"shape": tuple(value.shape), "dtype": np.dtype(value.dtype)}
