"""What the backward pass tells the log: cotangents, contributions, and where the pass begins and ends."""

from __future__ import annotations

import sys
import weakref
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import numpy as np

from graphscope.engine.core import slots, tracing
from graphscope.engine.core.cotangents import NODE, PARTS, Arrival
from graphscope.engine.core.node import PLAN, ROW, SITE, Record
from graphscope.engine.core.tensor import Tensor
from graphscope.eventlog import record as recording
from graphscope.eventlog.gate import Replace, StepInto
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.template import Template
from graphscope.eventlog.writer import Writer


def partial(writer: Writer, arrival: Arrival, value: Any, origin: int) -> None:
    """The ACCUMULATE row of one of several contributions to a node's cotangent."""
    record = arrival[NODE]
    if record[PLAN].slot >= 0:
        arrival[PARTS].append(slots.contribution(writer, record, value, origin))
        return
    site = record[SITE]
    if site is None or record[ROW] < writer.base:
        return
    data = value.array if value.__class__ is Tensor else value
    template = site.partial_template(writer, origin >= 0)
    origins = (origin,) if origin >= 0 else ()
    arrival[PARTS].append(writer.append(template, data, writer.clock(), 0, record[ROW], *origins))


def contribution(writer: Writer, leaf: Tensor, value: Any, origin: int, fresh: bool, now: int) -> tuple[Any, int]:
    """One contribution to a leaf's gradient, or what a person puts in its place, and its ACCUMULATE row."""
    data = value.array if value.__class__ is Tensor else value
    templates = leaf.accumulate_templates
    if (
        templates is not None
        and templates.writer is writer
        and origin >= 0
        and writer.gate is None
        and leaf.row >= writer.base
        and data.dtype is templates.dtype
        and data.shape == templates.shape
    ):
        return value, writer.append(templates.of(fresh=fresh), data, now, 0, leaf.row, origin)
    if leaf.row < writer.base:
        tracing.leaf(writer, leaf, recording.user_frame(2))
    if origin >= 0:
        leaf.accumulate_templates = templates = LeafTemplates(writer, leaf, data, 1)
    else:
        templates = LeafTemplates(writer, leaf, data, 0)
    row = writer.append(templates.of(fresh=fresh), data, now, 0, leaf.row, max(origin, 0))
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, sys._getframe())
        if isinstance(answer, Replace):
            return answer.value, row
    return value, row


def hooked(writer: Writer, leaf: Tensor) -> None:
    """The gradient of a leaf whose hooks may have put another in the place of what arrived: what it is now."""
    if leaf.gradient is not None and leaf.gradient.first_row >= writer.base:
        name: dict[str, Any] = {} if leaf.name is None else {"name": f"{leaf.name}.grad"}
        tracing.leaf(writer, leaf.gradient, None, **name)


_FRESH: Final = int(Flag.FRESH)


class LeafTemplates:
    """The templates of the ACCUMULATE rows of a leaf: of the first contribution, and of those after it.

    Either is None until it is asked for.
    """

    __slots__ = ("_input_count", "_site", "dtype", "fresh", "more", "shape", "writer")

    def __init__(self, writer: Writer, leaf: Tensor, data: Any, input_count: int) -> None:
        self.writer = writer
        self.dtype = data.dtype
        self.shape = data.shape
        self.fresh: Template | None = None
        self.more: Template | None = None
        self._site = leaf.site
        self._input_count = input_count

    def of(self, *, fresh: bool) -> Template:
        """That of the first contribution, or of those after it."""
        template = self.fresh if fresh else self.more
        if template is None:
            template = self.writer.template(
                Kind.ACCUMULATE,
                shape=self.shape,
                dtype=self.dtype,
                site=self._site,
                graph_pass=Pass.BACKWARD,
                input_count=self._input_count,
                flags=_FRESH if fresh else 0,
            )
            if fresh:
                self.fresh = template
            else:
                self.more = template
        return template


def cotangent(
    writer: Writer, record: Record, gradient: Any, origin: int, parts: list[int] | None, frame: Any, now: int
) -> tuple[int, Any, bool]:
    """The GRAD row of a node whose cotangent is whole; the row, the cotangent to go on with, and whether to step in."""
    if gradient.__class__ is slots.Cotangents:
        return slots.cotangent(writer, record, gradient, frame, now)
    if record[PLAN].slot >= 0:
        slots.arrived(writer, record, gradient, origin, parts)
        return -1, gradient, False
    site = record[SITE]
    forward = record[ROW]
    if site is None or forward < writer.base:
        return -1, gradient, False  # made before the recording began
    data = gradient.array if gradient.__class__ is Tensor else gradient
    if parts is None:
        template = site.single if origin >= 0 else None
        if template is None or site.kind is not data.__class__:
            template = site.grad_template(writer, int(origin >= 0))
        row = writer.append(template, data, now, 0, forward, max(origin, 0))
    else:
        row = writer.append_many(site.grad_template(writer, len(parts)), data, parts, now, 0, forward)
    if writer.gate is not None:
        answer = tracing.pause(writer, row, data, frame)
        if isinstance(answer, Replace):
            return row, Tensor(answer.value) if gradient.__class__ is Tensor else answer.value, False
        return row, gradient, isinstance(answer, StepInto)
    return row, gradient, False


class Marks(NamedTuple):
    """The templates of the marks at both ends of the passes that begin at one place of the program."""

    begin: Template
    end: Template
    code: weakref.ref[CodeType] | None


def marks_at(writer: Writer, frame: FrameType | None, root: Tensor) -> Marks:
    """The templates of the marks of a pass that begins here."""
    code = None if frame is None else frame.f_code
    key = (Marks, 0 if frame is None else id(code) + frame.f_lasti, writer.thread(), *_loss(writer, root))
    marks: Marks | None = writer.sites.get(key)
    if marks is None or (marks.code is not None and marks.code() is not code):
        shape, dtype = _loss(writer, root)
        told: dict[str, Any] = {"site": 0 if frame is None else site_number(writer, frame), "input_count": 1}
        begin = writer.template(
            Kind.BACKWARD_BEGIN, shape=shape, dtype=dtype, is_kept=True, graph_pass=Pass.BACKWARD, **told
        )
        end = writer.template(Kind.BACKWARD_END, graph_pass=Pass.BACKWARD, **told)
        marks = writer.sites[key] = Marks(begin, end, None if code is None else weakref.ref(code))
    return marks


def _loss(writer: Writer, root: Tensor) -> tuple[tuple[int, ...], np.dtype | None]:
    """Shape and dtype of the number that a pass begins from, where it is told beside its row."""
    array = root.array
    is_sought = writer.policy == "none" or writer.is_ring  # its row may be in an older segment when the step ends
    is_told = is_sought and array.size == 1 and array.dtype.kind == "f"
    return (array.shape, array.dtype) if is_told else ((), None)


def mark(writer: Writer, template: Template, root: Tensor) -> None:
    """Where a backward pass begins or ends."""
    value = root.array if template.inline else None
    writer.append(template, value, writer.clock(), 0, 0, max(root.row, writer.base))
