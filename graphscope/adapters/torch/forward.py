"""The forward pass: a row for every call of a torch function that the program makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode

from graphscope.adapters.torch import control, writing
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.identity import Known, version_of
from graphscope.adapters.torch.leaves import Leaves
from graphscope.adapters.torch.session import LINK, Session
from graphscope.adapters.torch.sites import CallSite, attribute
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind

Tensor = torch.Tensor
_sequence: Final = torch._C._autograd._get_sequence_nr  # type: ignore[attr-defined]
_grad_enabled: Final = torch.is_grad_enabled

TENSOR, NESTED, PLAIN, OPAQUE = 1, 2, 0, 3
_SCALARS: Final = (int, float, complex)


class Calls(TorchFunctionMode):
    """Sees every call of a torch function in the threads that it is pushed in, and appends its row."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._calls: dict[Any, Call] = {}
        self._count = 0
        self._kinds: dict[type, int] = {
            Tensor: TENSOR,
            torch.nn.Parameter: TENSOR,
            list: NESTED,
            tuple: NESTED,
            dict: OPAQUE,
            **dict.fromkeys((int, float, bool, str, type(None), complex, slice, torch.dtype, torch.Size), PLAIN),
        }
        self.leaves = session.leaves = Leaves(session)
        self._run = session.place

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        call = self._calls.get(func)
        if call is None:
            call = self._learn(func)
        place = self._run
        if call.ignored or place.busy or self._session.ended:
            return func(*args, **kwargs) if kwargs else func(*args)
        session = self._session
        direct = _getframe(1)
        frame = session.frames.user(direct)
        if call.special or direct is not frame:
            if call.gradient:
                return self._gradient(func, args)
            if place.context.module is None and session.frames.prepares(direct):
                return func(*args, **kwargs) if kwargs else func(*args)
        writer = session.writer
        rows: list[int] = []
        constants: list[Any] = []
        kinds = self._kinds
        table = session.identities.table
        low = writer.low
        for value in args:
            kind = kinds.get(value.__class__)
            if kind is TENSOR:
                known = table.get(id(value))
                if (
                    known is None
                    or known() is not value
                    or known.row < low
                    or known.more is not None
                    or known.counter != value._version
                ):
                    known = self.leaves.meet(value, frame, len(rows) if direct is frame else None)
                rows.append(known.row)
            elif kind is PLAIN:
                constants.append(value)
            else:
                self._gather(value, frame, rows, constants)
        if kwargs:
            for name, value in kwargs.items():
                before = len(rows)
                self._gather(value, frame, rows, constants)
                if len(rows) == before:
                    constants.append(name)
        gate = writer.gate
        if gate is not None and gate.wants_before:
            control.before(session, call, rows, frame)
        start = writer.clock()
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self._failed(call, frame, rows, error)
            raise
        end = writer.clock()
        if (result.__class__ is not Tensor or call.in_place) and not self._is_new(result, call):
            return self._other(call, func, result, args, kwargs, rows, constants, frame, start, end)
        # A new tensor -----------------------------------------------------------------------------------------
        context = place.context
        sites = context.sites if _grad_enabled() else context.sites_without_grad
        code = frame.f_code
        key = id(code) + frame.f_lasti + call.key
        site = sites.get(key)
        known = table.get(id(result))
        if known is not None and known() is result:  # one of the inputs, given back
            return self._given_back(call, known, result, args, kwargs, rows, constants, frame, start, end)
        count = len(rows)
        if site is None or not site.fits(result, constants, count):
            site = self._variant(sites, key, call, frame, context, result, args, kwargs, constants, count)
        template, array = site.read(result)
        backward = place.backward_row
        if count <= 3:
            row = writer.append(template, array, end, end - start, backward, *rows)
        else:
            edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
            row = session.append_wide(template, array, edges, end, end - start, backward)
        known = session.identities.add(result, row)
        if result._base is not None or call.aliasing:
            writing.view(session, known, result, args)
        if site.requires_grad:
            hi = _sequence()
            result.grad_fn.metadata[LINK] = (row, site.fields, place.sequence)
            place.sequence = hi
        if gate is not None:
            control.after(session, row, result, array, frame)
        return result

    def _gradient(self, func: Any, args: Any) -> Any:
        """The program takes the gradient of a tensor."""
        gradient = func(*args)
        self.leaves.note_gradient(args[0], gradient)
        return gradient

    # Arguments -------------------------------------------------------------------------------------------------------

    def _gather(self, value: Any, frame: FrameType, rows: list[int], constants: list[Any]) -> None:
        """Sort an argument of any kind: tensors to rows, all else to constants."""
        kind = self._kinds.get(value.__class__)
        if kind is None:
            kind = self._kinds[value.__class__] = TENSOR if isinstance(value, Tensor) else _kind(value)
        if kind is TENSOR:
            rows.append(self.leaves.meet(value, frame, None).row)
        elif kind is NESTED:
            inner: list[Any] = []
            before = len(rows)
            for each in value:
                self._gather(each, frame, rows, inner)
            if inner or len(rows) == before:
                constants.append(tuple(inner))
        elif kind is PLAIN:
            constants.append(value)
        elif isinstance(value, dict):
            for each in value.values():
                self._gather(each, frame, rows, constants)
        else:
            constants.append(type(value).__name__)

    def _learn(self, func: Callable[..., Any]) -> Call:
        call = self._calls[func] = Call(func, self.next_number())
        return call

    def next_number(self) -> int:
        """A number for a call that is new."""
        self._count += 1
        return self._count

    def _is_new(self, result: Any, call: Call) -> bool:
        """Whether a result that is no plain tensor, or that of an in-place function, is to be taken for a new tensor."""
        return isinstance(result, Tensor) and not call.in_place

    # Rows ------------------------------------------------------------------------------------------------------------

    def _variant(
        self,
        sites: dict[int, Any],
        key: int,
        call: Call,
        frame: FrameType,
        context: Context,
        result: Tensor | None,
        args: Sequence[Any],
        kwargs: dict[str, Any] | None,
        constants: list[Any],
        count: int,
        flags: Flag = Flag(0),
        several: bool = False,
    ) -> CallSite:
        """The template for a result that the last one used here does not fit."""
        enabled = _grad_enabled()
        seen = None if result is None else (tuple(result.shape), result.dtype, result.requires_grad)
        wanted = (key, context, enabled, repr(constants), seen, count, flags, several)
        variants = self._session.variants.at((key, id(context)))
        site = variants.get(wanted)
        if site is None:
            described, more = describe(call, args, kwargs)
            flags |= more
            if result is not None and result._base is not None:
                flags |= Flag.VIEW
            kind = Kind.OP
            if count == 0 and result is not None and not several:
                kind = Kind.LEAF
                described["function"] = call.name
            site = variants[wanted] = CallSite(
                self._session.writer, call, frame, context, result, described,
                count=count, constants=constants, flags=flags, kind=kind, several=several,
            )  # fmt: skip
        sites[key] = site
        return site

    def _given_back(
        self, call: Call, known: Known, result: Tensor, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
        frame: FrameType, start: int, end: int,
    ) -> Any:  # fmt: skip
        """A function returned a tensor that was there already: it wrote into it, or it had nothing to do."""
        if known.counter != version_of(result):
            writing.written(self, call, result, args, kwargs, rows, constants, frame, start, end)
        return result

    def _other(
        self, call: Call, func: Any, result: Any, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
        frame: FrameType, start: int, end: int,
    ) -> Any:  # fmt: skip
        """What returned no new tensor: a write in place, several tensors, or nothing that the log has a row for."""
        if call.in_place or call.setter or (kwargs and kwargs.get("out") is not None):
            writing.written(self, call, result, args, kwargs, rows, constants, frame, start, end)
        else:
            several(self, call, result, args, kwargs, rows, constants, frame, start, end)
        return result

    def _failed(self, call: Call, frame: FrameType, rows: list[int], error: Exception) -> None:
        """An op raised: a node without a value, and the exception."""
        session = self._session
        writer = session.writer
        context = session.place.context
        site = CallSite(writer, call, frame, context, None, {}, count=len(rows), constants=[], flags=Flag.FAILED)
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
        row = writer.append_wide(site.template, [], edges, writer.clock())
        recording.exception(error, node=row, site=site.fields.base["site"])


def _kind(value: Any) -> int:
    if isinstance(value, (list, tuple)):
        return NESTED
    return PLAIN if value.__hash__ is not None and type(value).__module__.partition(".")[0] == "torch" else OPAQUE


def several(
    calls: Calls, call: Call, result: Any, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> None:  # fmt: skip
    """Append the row of a call that returned several tensors; one of its own where it returned none."""
    session = calls._session
    outputs = [each for each in flattened(result) if isinstance(each, Tensor)]
    fresh = [each for each in outputs if session.identities.find(each) is None]
    if not fresh:
        return
    if len(outputs) == 1:
        one(calls, call, outputs[0], args, kwargs, rows, constants, frame, start, end)
        return
    place = session.place
    context = place.context
    sites = context.sites if _grad_enabled() else context.sites_without_grad
    key = id(frame.f_code) + frame.f_lasti + call.key
    shapes = [(tuple(each.shape), each.dtype) for each in outputs]
    site = calls._variant(
        sites, key, call, frame, context, outputs[0], args, kwargs, [*constants, shapes], len(rows), several=True
    )
    edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
    row = session.append_slots(site.template, outputs, edges, end, end - start, place.backward_row)
    place.sequence, low = _sequence(), place.sequence
    for slot, each in enumerate(outputs):
        if session.identities.find(each) is None:
            known = session.identities.add(each, row | slot << SLOT_SHIFT)
            if each._base is not None:
                writing.view(session, known, each, args)
            if each.grad_fn is not None:
                each.grad_fn.metadata[LINK] = (row, site.fields, low)
    if session.writer.gate is not None:
        control.after(session, row, outputs[0], session.array(outputs[0]), frame)


def one(
    calls: Calls, call: Call, result: Tensor, args: Any, kwargs: Any, rows: list[int], constants: list[Any],
    frame: FrameType, start: int, end: int,
) -> int:  # fmt: skip
    """Append the row of a call with one new tensor among what it returned."""
    session = calls._session
    place = session.place
    context = place.context
    sites = context.sites if _grad_enabled() else context.sites_without_grad
    key = id(frame.f_code) + frame.f_lasti + call.key
    site = calls._variant(sites, key, call, frame, context, result, args, kwargs, constants, len(rows))
    template, array = site.read(result)
    edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
    row = session.append_wide(template, array, edges, end, end - start, place.backward_row)
    known = session.identities.add(result, row)
    if result._base is not None or call.aliasing:
        writing.view(session, known, result, args)
    if result.grad_fn is not None:
        session.link(result, row, site.fields)
    if session.writer.gate is not None:
        control.after(session, row, result, array, frame)
    return row


def flattened(value: Any) -> list[Any]:
    """What lies in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in flattened(each)]
    return [value]


_BINARY: Final = frozenset({"add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "eq", "ne", "lt", "gt",
                            "le", "ge", "fmod", "add_", "sub_", "mul_", "div_", "pow_"})  # fmt: skip


_DATA: Final = frozenset({"tensor", "as_tensor", "asarray"})
"""Functions whose argument is the value itself."""


def describe(call: Call, args: Sequence[Any], kwargs: dict[str, Any] | None) -> tuple[dict[str, Any], Flag]:
    """The attributes of a call: its arguments that are no tensors."""
    described: dict[str, Any] = {}
    if call.name in _DATA:
        args = ()
    plain = [value for value in args if not any(isinstance(each, Tensor) for each in flattened(value))]
    flags = Flag(0)
    if call.name in _BINARY and len(plain) == 1 and len(args) == 2:
        described["other"] = attribute(plain[0])
        flags = Flag.SCALARS
    elif plain:
        names = list(call.parameters)[: len(args)]
        if len(names) == len(args):
            given = zip(names, args, strict=True)
            described.update((name, attribute(value)) for name, value in given if any(value is each for each in plain))
        else:
            described["arguments"] = [attribute(value) for value in plain]
    for name, value in (kwargs or {}).items():
        if not any(isinstance(each, Tensor) for each in flattened(value)):
            described[name] = attribute(value)
    defaults = call.parameters
    return {
        name: value for name, value in described.items() if value is not None and value != defaults.get(name, described)
    }, flags
