"""The rows that a tape writes: what a call tells, once for each place of the program, and what each time."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from graphscope.adapters.kit.frames import Frames
from graphscope.adapters.kit.nodes import Node, Place
from graphscope.adapters.kit.op_entries import Argument
from graphscope.adapters.kit.recording import Recording
from graphscope.adapters.kit.value_policy import told
from graphscope.eventlog.arguments import bits, entry, separated
from graphscope.eventlog.places import Line, line_number, site_number
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.scopes import ScopePath
from graphscope.eventlog.template import Template
from graphscope.eventlog.typed import Input
from graphscope.eventlog.values import storage
from graphscope.eventlog.writer import Writer


class Call(NamedTuple):
    """What the rows of a call have in common."""

    fields: Mapping[str, Any]
    template: Template


class TapeRows:
    """The half of a tape that writes rows."""

    def __init__(self, writer: Writer, framework: str, packages: Iterable[ModuleType]) -> None:
        self.session = Recording(writer, framework, Frames(packages))
        self._place = Place(ScopePath())
        self._templates: dict[Any, Template] = {}
        self._calls: dict[Any, Call] = {}
        """By all that tells calls apart but their numbers."""
        writer.asides.append(self.aside)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """What runs inside is not recorded: it is not the program's."""
        place = self._place
        before, place.busy = place.busy, True
        try:
            yield
        finally:
            place.busy = before

    def _called(
        self,
        frame: FrameType,
        name: str,
        operands: Sequence[Any],
        value: Any,
        attributes: Mapping[str, Any] | None,
        flags: Flag,
        doc: str = "",
        called: str = "",
        line: Line | None = None,
        function: str = "",
        signature: Sequence[Argument] = (),
    ) -> tuple[Call, list[int]]:
        """What the rows of a call have in common; the rows of its inputs, with the bits of its numbers behind them."""
        numbers: list[float] = []
        structure = [Node if each.__class__ is Node else separated(each, numbers) for each in operands]
        settings = separated(attributes, numbers) if attributes else None
        context = self._place.context
        writer = self.session.writer
        site, scope = self._site(frame, line), context.path.number(writer)
        key = (
            name, called, function, flags, site, scope, context.backward, writer.thread(), settings, *structure,
            *kind_of(value),
        )  # fmt: skip
        call = self._calls.get(key)
        if call is None:
            # Numbers lie in the row, so that a rate that changes at each step does not let the tables grow.
            inputs = itertools.count()
            placed = [Input(next(inputs)) if isinstance(operand, Node) else operand for operand in operands]
            entries = entry(placed, attributes or {}, range(len(numbers)))
            named = {"name": called, **entries} if called else entries
            op = self.session.op_number(name, doc, function, signature)
            fields = self._fields(site, op, value, named)
            several = is_several(value)
            template = self._template(Kind.OP, next(inputs), fields, flags, len(numbers), several=several)
            call = self._calls[key] = Call(fields, template)
        return call, [*(each.row for each in operands if each.__class__ is Node), *map(bits, numbers)]

    def _site(self, frame: FrameType, line: Line | None) -> int:
        """The number of the place that a row tells of."""
        writer = self.session.writer
        return site_number(writer, frame) if line is None else line_number(writer, line)

    def _fields(self, site: int, op: int, value: Any, call: dict[str, Any]) -> dict[str, Any]:
        writer = self.session.writer
        return {
            "op": op,
            "site": site,
            "scope": self._place.context.path.number(writer),
            "attrs": writer.attributes(call),
            **of_value(value),
        }

    def _template(
        self,
        kind: Kind,
        count: int,
        fields: Mapping[str, Any],
        flags: Flag = Flag(0),
        numbers: int = 0,
        *,
        several: bool = False,
    ) -> Template:
        """What rows of one place of the program share."""
        backward = self._place.context.backward
        key = (kind, count, numbers, flags, several, backward, self.session.writer.thread(), *fields.values())
        found = self._templates.get(key)
        if found is None:
            graph_pass = Pass.BACKWARD if backward else Pass.FORWARD
            found = self._templates[key] = self.session.writer.template(
                kind, input_count=count, number_count=numbers, several=several, flags=flags, graph_pass=graph_pass,
                **fields,
            )  # fmt: skip
        return found

    def _append(self, template: Template, value: Any, rows: list[int], forward: int = 0, duration: int = 0) -> int:
        writer = self.session.writer
        if isinstance(value, tuple):
            arrays = [np.asarray(each) for each in value]
            outputs = [(each, storage(writer.policy, writer.cap, each.nbytes, each.dtype)) for each in arrays]
            nodes = template.nodes
            edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows[:nodes]]
            return writer.append_wide(template, outputs, edges, writer.clock(), duration, forward, None, rows[nodes:])
        return writer.append_many(template, told(template, value), rows, writer.clock(), duration, forward)


def is_several(value: Any) -> bool:
    """Whether a value is that of a call of several outputs."""
    return isinstance(value, tuple) and len(value) > 1


def of_value(value: Any) -> dict[str, Any]:
    """The fields of a row that its value says."""
    shape, dtype, _ = kind_of(value)
    return {"shape": shape, "dtype": dtype}


def kind_of(value: Any) -> tuple[tuple[int, ...], np.dtype | None, bool]:
    """The shape and the dtype of a value, or of the first of several; whether it is that of a call of several."""
    first = value[0] if isinstance(value, tuple) else value
    if first is None:
        return (), None, False
    return tuple(first.shape), np.dtype(first.dtype), is_several(value)
