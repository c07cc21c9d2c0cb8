"""The tape: what a framework computes, recorded as nodes of both passes, at each of which a debugger may wait."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType
from typing import Any, Final

import numpy as np

from graphscope.adapters.kit import gate
from graphscope.adapters.kit.call_scopes import Scope, move, within
from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.nodes import Node as Node
from graphscope.adapters.kit.op_entries import Argument
from graphscope.adapters.kit.tape_rows import TapeRows, is_several, of_value
from graphscope.adapters.kit.training_steps import end_step
from graphscope.adapters.kit.value_names import argument_name
from graphscope.adapters.kit.value_policy import told
from graphscope.eventlog import record as recording
from graphscope.eventlog.places import Line, site_number
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind

_WRITTEN: Final = Flag.IN_PLACE | Flag.NO_GRAD


class Tape(TapeRows):
    """Writes the rows of a framework's program. Where we fail, the recording ends and the program goes on.

    A value is anything that has a shape and a dtype and that NumPy can read; it is read where the log wants it. That of
    a call of several outputs is a tuple of values, of which a debugger may replace the first; that of a call which
    gives nothing is None.

    Args:
        writer: The log.
        framework: The framework's name, as people write it.
        packages: Its packages: their frames are not the program's.
    """

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
        differentiated: bool = True,
    ) -> Node | None:
        """The node of a value that no recorded call made; None where nothing is recorded.

        Args:
            value: The value.
            name: What the program calls it.
            argument: Without a name: which argument of the call that the program is at it is; that is its name.
            parameter: Whether it is trained.
            function: What made it: `placeholder`.
            line: Where it was made, if not where the program is.
            differentiated: Whether a gradient may be asked for.
        """
        frame = self._frame()
        if name is None and argument is not None:
            name = argument_name(frame, argument)
        named = {"name": name, "function": function or None}
        given = {key: text for key, text in named.items() if text is not None}
        fields = self._fields(self._site(frame, line), 0, value, given)
        flags = (Flag.REQUIRES_GRAD if differentiated else Flag(0)) | (Flag.PARAMETER if parameter else Flag(0))
        template = self._template(Kind.LEAF, 0, fields, flags)
        return Node(self._append(template, value, [], self._place.backward_row), fields)

    @guarded(lambda leaf, value: value)
    def look(self, leaf: Node, value: Any) -> Any:
        """Let a debugger look at a leaf; its value, or what the debugger put in its place."""
        return self._answered(leaf.row, value, self._frame())

    @guarded(lambda name, inputs, **_: None)
    def before(self, name: str, inputs: Sequence[Node], *, called: str = "", line: Line | None = None) -> None:
        """Let a debugger look ahead of a call; the rest as of `op`."""
        if self.session.writer.gate is not None:
            rows = [node.row & ROW_MASK for node in inputs]
            gate.before(self.session.writer, name, rows, self._frame(), self.aside(), called, line)

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
        function: str = "",
        signature: Sequence[Argument] = (),
        differentiated: bool = True,
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
            function: What the framework itself calls the op.
            signature: The op's parameters in order, where they are known: rules are told by their names.
            differentiated: Whether a gradient may be asked for: something follows what is computed now.
        """
        frame = self._frame()
        flags = Flag.REQUIRES_GRAD if differentiated else Flag.NO_GRAD
        call, inputs = self._called(
            frame, name, operands, value, attributes, flags, doc, called, line, function, signature
        )
        row = self._append(call.template, value, inputs, self._place.backward_row, duration)
        return Node(row, call.fields), self._answered(row, value, frame)

    @guarded(lambda name, target, operands, value, **_: None)
    def update(
        self,
        name: str,
        target: Node,
        operands: Sequence[Any],
        value: Any,
        *,
        first: Node,
        version: int,
        attributes: Mapping[str, Any] | None = None,
        doc: str = "",
        called: str = "",
    ) -> Node | None:
        """The node of a call that wrote into a leaf: its new version.

        Args:
            name: What the log calls the op.
            target: The version that the call found.
            operands: What else it was given: nodes and constants.
            value: What the leaf is now.
            first: The leaf as it first was.
            version: The number of this version; the first is 0.
            attributes: Keyword arguments.
            doc: A sentence on what the op does.
            called: What the program calls the leaf.
        """
        frame = self._frame()
        call, inputs = self._called(frame, name, [target, *operands], value, attributes, _WRITTEN, doc, called)
        writer = self.session.writer
        tensor = first.row if first.row >= writer.base else None
        row = writer.append_many(
            call.template, told(call.template, value), inputs, writer.clock(), 0, 0, tensor, version
        )
        self._answered(row, value, frame)
        return Node(row, call.fields)

    @guarded(lambda name, operands, error: None)
    def failed(self, name: str, operands: Sequence[Any], error: BaseException) -> None:
        """A call has raised: a node without a value, and the exception.

        Args:
            name: What the log calls the op.
            operands: In order: the nodes of inputs, and constants.
            error: What it raised.
        """
        call, inputs = self._called(self._frame(), name, operands, None, None, Flag.FAILED)
        nodes = call.template.nodes
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in inputs[:nodes]]
        writer = self.session.writer
        row = writer.append_wide(call.template, [], edges, writer.clock(), numbers=inputs[nodes:])
        recording.exception(error, node=row, site=call.fields["site"])

    @contextlib.contextmanager
    def scope(self, name: str, type: str = "") -> Iterator[None]:
        """What runs inside belongs to a module or a composite op."""
        inner = self._scope(name, type)
        with contextlib.nullcontext() if inner is None else within(self._place, inner, self.session.writer):
            yield

    @guarded(lambda path: None)
    def lie_in(self, path: Sequence[tuple[str, str]]) -> None:
        """What runs from here on lies in these scopes alone: for a framework that tells where each op lies.

        Args:
            path: The name and type of each scope, the outermost first.
        """
        place, writer = self._place, self.session.writer
        scopes = place.context.around()[:1]
        for name, type in path:
            scopes.append(scopes[-1].child(scopes[-1].path.child(name, type), name, type, writer))
        if scopes[-1] is not place.context:
            move(place, scopes, writer)

    @property
    def is_in_rule(self) -> bool:
        """Whether what runs now belongs to the rule of a node."""
        return self._place.backward_row > 0

    @property
    def is_in_scope(self) -> bool:
        """Whether what runs now lies in a scope."""
        return self._place.context.path.parent is not None

    @guarded(lambda: None)
    def step(self) -> None:
        """A training step has ended."""
        end_step(self.session.framework)
        self.stepped()

    @guarded(lambda: None)
    def stepped(self) -> None:
        """Let a debugger look at what a training step has left behind, the end of which is marked."""
        gate.stepped(self.session.writer, self._frame(), self.aside())

    # Backward --------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def backward(self, root: Node | None) -> Iterator[None]:
        """A backward pass that begins at a node runs inside."""
        place = self._place
        before = place.context, place.backward_row
        frame = self._begun(root)
        began = place.context = place.context.on_backward()
        try:
            yield
        finally:
            self._left(began)
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
        template = self._template(
            Kind.GRAD, len(origins), {**node.fields, **of_value(value)}, several=is_several(value)
        )
        row = self._place.backward_row = self._append(template, value, origins, node.row & ROW_MASK)
        return row, self._answered(row, value, self._frame())

    def within_rule(self, row: int) -> None:
        """What runs until the next cotangent belongs to the rule of this row, or to none (0)."""
        self._place.backward_row = row

    @guarded(lambda leaf, value, origin, **_: (0, value))
    def contribution(self, leaf: Node, value: Any, origin: int, *, first: bool) -> tuple[int, Any]:
        """The row of what is added to the gradient of a leaf, and that: what arrived, or what a debugger put there.

        Args:
            leaf: The leaf.
            value: The contribution.
            origin: The row of the rule that it comes from.
            first: Whether the leaf had no gradient before.
        """
        fields = {**leaf.fields, **of_value(value), "scope": 0, "attrs": 0}
        template = self._template(Kind.ACCUMULATE, int(origin > 0), fields, Flag.FRESH if first else Flag(0))
        row = self._append(template, value, [origin] if origin else [], leaf.row & ROW_MASK)
        return row, self._answered(row, value, self._frame())

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

    @guarded(lambda began: None)
    def _left(self, began: Scope) -> None:
        """Leave the scopes in which a pass has ended."""
        if self._place.context is not began:
            move(self._place, began.around(), self.session.writer)

    @guarded(lambda root, frame: None)
    def _ended(self, root: Node | None, frame: FrameType) -> None:
        self._mark(Kind.BACKWARD_END, root, frame)

    @guarded(lambda frame: None)
    def _passed(self, frame: FrameType) -> None:
        gate.passed(self.session.writer, frame, self.aside())

    def _mark(self, kind: Kind, root: Node | None, frame: FrameType) -> None:
        writer = self.session.writer
        writer.mark(kind, site=site_number(writer, frame), inputs=[] if root is None else [root.row & ROW_MASK])

    def _part(self, node: Node, part: Any, origin: int) -> int:
        """The row of one of several parts of a cotangent."""
        if part is None:
            return origin
        rows = [origin] if origin else []
        fields = {**node.fields, **of_value(part), "op": 0, "attrs": 0}
        return self._append(self._template(Kind.ACCUMULATE, len(rows), fields), part, rows, node.row & ROW_MASK)

    def _frame(self) -> FrameType:
        return self.session.frames.user(sys._getframe(1))

    def _answered(self, row: int, value: Any, frame: FrameType) -> Any:
        if self.session.writer.gate is None:
            return value
        first = value[0] if isinstance(value, tuple) else value
        array = None if first is None else np.asarray(first)
        answer = gate.after(self.session.writer, row, array, frame, self.aside())
        if answer is None:
            return value
        replaced = np.asarray(answer.value, first.dtype).reshape(first.shape)
        return (replaced, *value[1:]) if isinstance(value, tuple) else replaced
