"""What the engine tells the log of the forward pass: rows for leaves and ops, by templates kept per call site."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.engine.core.modes import here
from graphscope.eventlog import arguments
from graphscope.eventlog import record as recording
from graphscope.eventlog.appender import Place
from graphscope.eventlog.gate import Answer, Replace
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass
from graphscope.eventlog.template import Template
from graphscope.eventlog.typed import Input, is_number
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.engine.core.op import Op
    from graphscope.engine.core.tensor import Tensor


# As plain numbers: to combine members of an enumeration takes long.
_IN_PLACE, _VIEW, _CREATE_GRAPH = int(Flag.IN_PLACE), int(Flag.VIEW), int(Flag.CREATE_GRAPH)
_NO_GRAD, _REQUIRES_GRAD, _PARAMETER = int(Flag.NO_GRAD), int(Flag.REQUIRES_GRAD), int(Flag.PARAMETER)

Given = tuple[tuple[Any, ...] | None, dict[str, Any] | None]
"""Operands, where others than tensors are among them, and attributes."""


class CallSite(Place):
    """The template of an op's rows at one place of the program, and those of the backward rows that follow from it."""

    __slots__ = ("attrs", "behind", "code", "fields", "line", "numbers", "operands", "single", "varying")

    def __init__(
        self, writer: Writer, frame: FrameType, op: Op, out: Any, given: Given, numbers: list[int],
        varying: Sequence[int], input_count: int,
    ):  # fmt: skip
        self.line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
        self.code = frame.f_code  # kept alive, so that its address stays its own
        self.kind = out.__class__
        self.shape = shape = out.shape
        self.dtype = out.dtype
        self.constant: Any = None
        self.operands, self.attrs = given
        self.numbers = numbers
        self.varying = varying
        self.context = here().context
        told = arguments.entry(self.operands, self.attrs or {}, varying)
        flags = 0
        if self.context.name:
            told["name"] = self.context.name
        if op.in_place or op.name == "copy_slices":  # a new version of what it was written through
            flags |= _IN_PLACE
        if op.view:
            flags |= _VIEW
        backward = self.context.backward_row > 0
        if backward:
            flags |= _CREATE_GRAPH
        elif not self.context.grad_enabled:
            flags |= _NO_GRAD
        self.fields: dict[str, Any] = {
            "op": op_number(writer, op),
            "site": site_number(writer, frame),
            "scope": scope_number(writer),
            "shape": shape,
            "dtype": self.dtype,
            "attrs": writer.attributes(told),
        }
        self.template = writer.template(
            Kind.OP,
            flags=flags,
            graph_pass=Pass.BACKWARD if backward else Pass.FORWARD,
            input_count=input_count,
            number_count=len(varying),
            **self.fields,
        )
        self.single: Template | None = None
        self.behind: dict[tuple[Kind, int], Template] | None = None

    def grad_template(self, writer: Writer, count: int) -> Template:
        """The template of the GRAD row of this op with so many contributions."""
        if count != 1:
            return self._template_behind(writer, Kind.GRAD, count, {})
        if self.single is None:
            self.single = writer.template(Kind.GRAD, graph_pass=Pass.BACKWARD, input_count=1, **self.fields)
        return self.single

    def partial_template(self, writer: Writer, has_origin: bool) -> Template:
        """The template of an ACCUMULATE row: one of several contributions to this op's cotangent."""
        return self._template_behind(writer, Kind.ACCUMULATE, int(has_origin), {"op": 0, "attrs": 0})

    def _template_behind(self, writer: Writer, kind: Kind, count: int, other: dict[str, int]) -> Template:
        if self.behind is None:  # most have none
            self.behind = {}
        template = self.behind.get((kind, count))
        if template is None:
            fields = {**self.fields, **other}
            template = writer.template(kind, graph_pass=Pass.BACKWARD, input_count=count, **fields)
            self.behind[kind, count] = template
        return template


class _Inside:
    """Stands for a call site inside graphscope: the place in the user's program is farther up the stack."""

    kind = None


_INSIDE = _Inside()


_FEW: Final = 16
"""So many variants of a call site are looked through, before they are looked up by all that tells them apart."""


def call_site(
    writer: Writer, frame: FrameType, op: Op, out: Any, constant: Any, attrs: Any, input_count: int, outputs: Any = None
) -> tuple[CallSite, Sequence[int]]:
    """The call site that `frame` is at, made when it is new or when shape, dtype, scope or arguments differ.

    Args:
        writer: The log.
        frame: Where the op is called.
        op: The op.
        out: Its result.
        constant: What beside tensors is among the operands: None, a number that follows the only tensor, or all
            operands, with an `Input` for each tensor.
        attrs: The attributes of the call.
        input_count: How many tensors are among the operands.
        outputs: What tells results of several outputs apart.

    Returns:
        The call site, and the bits of the numbers that its rows hold.
    """
    sites = writer.sites
    key: Any = id(frame.f_code) + frame.f_lasti + op.key
    site = sites.get(key)
    if site is _INSIDE or (site is None and recording.is_internal(frame.f_code.co_filename)):
        sites[key] = _INSIDE
        outer = frame.f_back
        while outer is not None and recording.is_internal(outer.f_code.co_filename):
            outer = outer.f_back
        frame = outer or frame
        key = (key, id(frame.f_code), frame.f_lasti, out.shape)  # such a place is often one for all parameters
        site = sites.get(key)
    context = here().context
    if outputs is None and site.__class__ is CallSite and _fits(site, out, constant, attrs, context):
        return site, ()
    variants: dict[Any, CallSite] = writer.variants.setdefault(key, {})
    if outputs is None and len(variants) < _FEW:
        shape = out.shape
        # A loop over parameters comes back to each; another thread may add one meanwhile.
        for found in tuple(variants.values()):
            if found.shape == shape and _fits(found, out, constant, attrs, context):
                sites[key] = found
                return found, ()
    place = (context.scope, context.backward_row > 0, context.grad_enabled, context.name, writer.thread())
    given = (constant if constant is None or constant.__class__ is tuple else (Input(0), constant), attrs)
    numbers: list[int | float] = []
    structure = (out.__class__, out.shape, out.dtype, place, outputs, arguments.separated(given, numbers))
    told = [arguments.bits(number) for number in numbers]
    known = variants.get(structure)
    varying = () if known is None else arguments.varying_with(known.varying, known.numbers, told)
    if known is None or varying is not known.varying:
        known = variants[structure] = CallSite(writer, frame, op, out, given, told, varying, input_count)
    known.context = context
    known.operands, known.attrs = given
    known.constant = constant.__class__ if known.varying and is_number(constant) else constant
    sites[key] = known
    return known, [told[place] for place in known.varying]


def op_row(
    writer: Writer, frame: FrameType, op: Op, out: Any, constant: Any, start: int, *inputs: int
) -> tuple[CallSite, int]:
    """The row of an op that ran from `start` until now, at a call site that may be new; the site and the row."""
    end = writer.clock()
    site, numbers = call_site(writer, frame, op, out, constant, None, len(inputs))
    return site, writer.append(site.template, out, end, end - start, site.context.backward_row, *inputs, *numbers)


_input: Final = functools.cache(Input)


def operands_of(inputs: Sequence[Any], tensor: Any) -> tuple[Any, ...] | None:
    """The operands of a call as the log tells of them; None where all are tensors.

    Args:
        inputs: Tensors and what else takes part.
        tensor: The class of tensors.
    """
    for each in inputs:
        if not isinstance(each, tensor):
            break
    else:
        return None
    count = itertools.count()
    return tuple(
        [
            _input(next(count)) if isinstance(each, tensor) else each.item() if isinstance(each, np.generic) else each
            for each in inputs
        ]
    )


def _fits(site: CallSite, out: Any, constant: Any, attrs: Any, context: Any) -> bool:
    """Whether a call site's template is for this result of these arguments."""
    return (
        not site.varying
        and site.kind is out.__class__
        and site.shape == out.shape
        and site.dtype is out.dtype
        and (site.constant is constant or (constant.__class__ is tuple and arguments.alike(site.constant, constant)))
        and site.context is context
        and (site.attrs is attrs or arguments.alike(site.attrs or None, attrs or None))
    )


def op_number(writer: Writer, op: Op) -> int:
    """The number of an op in the log's table."""
    number = writer.tables["ops"].find(op.name)
    return writer.intern("ops", op.name, op.describe()) if number is None else number


def scope_number(writer: Writer) -> int:
    """The number of the module scope that this thread is in."""
    path = here().context.scope
    return 0 if path is None else path.number(writer)


def leaf(writer: Writer, tensor: Tensor, frame: FrameType | None, argument: int | None = None, **attrs: Any) -> int:
    """Append the LEAF row of a tensor that no recorded op made, and return its number."""
    if frame is not None and recording.is_internal(frame.f_code.co_filename):
        frame = recording.user_frame(2)
    site = site_number(writer, frame) if frame is not None else 0
    if tensor.name is not None:
        attrs["name"] = tensor.name
    if attrs or argument is None or not site or here().context.backward_row:
        told = writer.attributes(attrs)
    else:
        told = writer.argument(site, argument)
    flags = 0
    if tensor.requires_grad:
        flags |= _REQUIRES_GRAD
    if tensor.is_parameter or tensor.is_trained:
        flags |= _PARAMETER
    data = tensor.array
    template = writer.template(
        Kind.LEAF,
        site=site,
        scope=scope_number(writer),
        shape=data.shape,
        dtype=data.dtype,
        attrs=told,
        version=tensor.version,
        flags=flags,
    )
    identity = tensor.identity if tensor.identity >= writer.base else None
    row = writer.append(template, data, writer.clock(), 0, tensor=identity)
    tensor.row = row
    tensor.first_row = row if identity is None else identity
    tensor.accumulate_templates = None
    tensor.site = site
    if writer.on_leaf is not None:
        writer.on_leaf(row, tensor)
    if writer.gate is not None and frame is not None:
        answer = pause(writer, row, data, frame)
        if isinstance(answer, Replace):
            tensor.array = answer.value
    return row


def begin(writer: Writer, op: Op, inputs: Sequence[Any], frame: FrameType) -> bool:
    """Tell the log of the inputs of a call that it does not know, and let the debugger look before it runs.

    Returns:
        Whether it looked, and may have put other values in their place.
    """
    low = writer.low
    for argument, value in enumerate(inputs):
        if getattr(value, "row", low) < low:
            input_row(writer, value, frame, argument)
    looks = writer.gate is not None and writer.gate.wants_before
    if looks:
        ahead(writer, op, [value for value in inputs if hasattr(value, "row")], frame)
    return looks


def input_row(writer: Writer, tensor: Tensor, frame: FrameType, argument: int) -> int:
    """The row of an input that is not of this segment: its own, or that of the leaf written now.

    What a backward pass may come back to keeps its row, and so does what the run of a graph made that is going on.
    """
    row = tensor.row
    if row >= writer.base and (tensor.node is not None or row >= here().since):
        return row
    return leaf(writer, tensor, frame, argument)


def failed(writer: Writer | None, frame: FrameType, op: Op, inputs: Sequence[Tensor], error: Exception) -> Exception:
    """Tell the log that an op raised: a node without a value, and the exception; `error` is returned, to be raised."""
    if writer is not None:
        if recording.is_internal(frame.f_code.co_filename):
            frame = recording.user_frame(2) or frame
        site = site_number(writer, frame)
        number = op_number(writer, op)
        scope = scope_number(writer)
        count = len(inputs)
        template = writer.template(Kind.OP, op=number, site=site, scope=scope, input_count=count, flags=Flag.FAILED)
        row = writer.append_wide(template, [], [edge(tensor) for tensor in inputs], writer.clock())
        recording.exception(error, node=row, site=site)
    return error


def edge(tensor: Tensor) -> tuple[int, int]:
    """The row that an input comes from, and the slot."""
    return tensor.row & ROW_MASK, tensor.row >> SLOT_SHIFT


def ahead(writer: Writer, op: Op, inputs: list[Tensor], frame: FrameType) -> None:
    """Let the debugger look before an op runs."""
    if recording.is_internal(frame.f_code.co_filename):
        frame = recording.user_frame(2) or frame
    if writer.gate is not None:
        writer.gate.before(op.name, tuple(edge(tensor)[0] - writer.base for tensor in inputs), frame)


def pause(writer: Writer, row: int, value: Any, frame: FrameType) -> Answer:
    """Let the debugger look at a node; what it puts in the value's place is returned."""
    gate = writer.gate
    if gate is None:
        return None
    if recording.is_internal(frame.f_code.co_filename):
        frame = recording.user_frame(2) or frame
    return gate.after(row - writer.base, value, frame)
