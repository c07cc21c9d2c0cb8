"""The forward pass: a row for every call of a torch function that the program makes."""

from __future__ import annotations

from sys import _getframe
from time import perf_counter_ns as clock
from types import FrameType, MethodWrapperType
from typing import Any, Final, Self

import torch
from torch.overrides import TorchFunctionMode

from graphscope.adapters.torch import compiled, control, devices, results, tensor_base, writing
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.context import Awaiting
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.devices import Measuring
from graphscope.adapters.torch.distributed_tensors import is_awaited
from graphscope.adapters.torch.known_tensors import Group, Known, More, version_of
from graphscope.adapters.torch.originals import HANDING, IN_C
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import NESTED, PLAIN, STRANGE, TENSOR, Session
from graphscope.adapters.torch.sites import PREPARING, CallSite
from graphscope.adapters.torch.tensor_properties import grad_fn, is_floating, shape_of
from graphscope.eventlog import record as recording
from graphscope.eventlog.arguments import alike
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag

Tensor = torch.Tensor
_sequence: Final = torch._C._autograd._get_sequence_nr
_grad_enabled: Final = torch.is_grad_enabled
_push: Final = torch._C._push_on_torch_function_stack
_pop: Final = torch._C._pop_torch_function_stack
_count: Final = torch._C._len_torch_function_stack


class Calls(TorchFunctionMode):
    """Sees every call of a torch function in the thread that it is pushed in, and appends its row."""

    def __init__(self, session: Session, compiled_handler: bool = True) -> None:
        super().__init__()
        self.session = session
        self.place = session.places.here
        self.place.calls = self
        self.mode: Any = self
        """What torch is given for a mode."""
        self._find = session.calls.get
        self._kind = session.kinds.get
        self._inside = session.frames.inside
        self._table = session.identities.table
        if compiled.Handler is not None and compiled_handler:
            self.mode = compiled.Handler(
                prepare=self._prepare, finish=self._finish, failed=self._failed, view=self._view,
                note=self._note, purge=session.identities.purge, session=session, place=self.place,
                writer=session.writer,
                append=session.writer.append, calls=session.calls,
                kinds=session.kinds, inside=self._inside, preparing=PREPARING, gradients=session.leaves.gradients,
                assigned=session.assignments.forms,
                table=self._table, tensor_type=Tensor, group_class=Group, more_class=More, tensor_kind=TENSOR,
                plain_kind=PLAIN, grad_enabled=_grad_enabled, sequence_number=_sequence, follows=session.follows,
                give_up=Session.give_up, intended=self._intended, handing=HANDING, others=session.originals.others,
            )  # fmt: skip

    def __enter__(self) -> Self:
        _push(self.mode)
        return self

    def enter_below(self) -> None:
        """Enter the stack of this thread below the program's modes, which are taken from its top when they end."""
        above = [_pop() for _ in range(_count())]
        _push(self.mode)
        for mode in reversed(above):
            _push(mode)

    def __exit__(self, *exception: object) -> None:
        """Leave the stack of this thread, wherever on it our mode lies, if it does."""
        above: list[Any] = []
        while _count() and (mode := _pop()) is not self.mode:
            above.append(mode)
        for mode in reversed(above):
            _push(mode)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        func, kwargs = self.intended(func, _getframe(1), types, args, kwargs)
        prepared = self._prepare(_getframe(1), func, args, kwargs)
        if prepared is None:
            return func(*args, **kwargs) if kwargs else func(*args)
        call, frame, rows, constants, timer = prepared
        start = clock()
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self._failed(call, frame, rows, error)
            raise
        end = devices.ended(timer, start)
        self._finish(call, result, args, kwargs, rows, constants, frame, start, end)
        return result

    def intended(self, func: Any, direct: FrameType, types: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """The function that is to run, and its keyword arguments. No `types`: what our `handle_torch_function` asks."""
        if isinstance(func, IN_C) or (isinstance(func, MethodWrapperType) and func in self.session.calls):
            return func, kwargs
        frame = direct if types is not None or direct.f_back is None else direct.f_back
        return self._intended(func, frame, types is None, args, kwargs) or (func, kwargs)

    @guarded
    def _intended(self, func: Any, direct: FrameType, handed: bool, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        found = self.session.originals.intended(func, direct, handed, args, kwargs)
        if found[0] is func and isinstance(func, MethodWrapperType) and self._find(func) is None:
            self.session.learn(func)  # so that it is not looked for again, though nothing is told of it
        return found

    @guarded
    def _prepare(
        self, direct: FrameType, func: Any, args: Any, kwargs: Any
    ) -> tuple[Call, FrameType, list[int], list[Any], Measuring | None] | None:
        """What is known of a call before it runs, the rows and constants among its arguments, and what measures it
        where an accelerator runs it.

        None: it is none of the program's, or nothing that the log tells of.
        """
        session = self.session
        call = self._find(func) or session.learn(func)
        place = self.place
        if call.ignored or place.busy or session.ended:
            return None
        if call.reads:
            place.reads += is_floating(args)
            return None
        frame = direct
        if self._inside.get(id(frame.f_code), True):
            frame = session.frames.user(frame)
            if place.context.module is None and session.frames.prepares(direct):
                return None
        if call.gradient or call.assigns:
            return call, frame, [], [], None
        if call.random:
            session.random_states.note()
        # Arguments: tensors to rows, all else to constants. ----------------------------------------------------------
        writer = session.writer
        table = self._table
        low = writer.low
        rows: list[int] = []
        constants: list[Any] = []
        find_kind = self._kind
        for place_of, value in enumerate(args):
            kind = find_kind(value.__class__)
            if kind is TENSOR:
                known: Any = table.get(id(value))
                if (
                    known is None
                    or known() is not value
                    or known.row < low
                    or known.counter != version_of(value)
                    or ((group := known.group) is not None and known.seen != group.turn)
                ):
                    known = session.leaves.meet(value, frame, len(rows) if direct is frame else None)
                rows.append(known.row)
            elif kind is PLAIN:
                constants += (place_of, value)
            else:
                self.gather(place_of, value, frame, rows, constants)
        if kwargs:
            for name, value in kwargs.items():
                self.gather(name, value, frame, rows, constants)
        gate = writer.gate
        if gate is not None and gate.wants_before:
            control.before(session, call, rows, frame)
        timer = None
        if session.remote and not call.views:
            place_of_row = place if writer.capture != "ops" else None  # else its ops have rows ahead of its own
            timer = devices.timer(flattened((args, kwargs)), place_of_row)
        return call, frame, rows, constants, timer

    @guarded
    def _finish(
        self, call: Call, result: Any, args: Any, kwargs: Any, rows: list[int], constants: list[Any], frame: FrameType,
        start: int, end: int,
    ) -> None:  # fmt: skip
        """Append the row of a call that has run."""
        if call.gradient:
            self._note(args[0], result)
            return
        if call.assigns:
            self.session.assignments.made(call, args, frame)
            return
        if result.__class__ is not Tensor or call.in_place or tensor_base.is_nested(result):
            results.other(self, call, result, args, kwargs, rows, constants, frame, start, end)
            self.place.took(0)  # it may have made no row
            return
        session, writer, place, table = self.session, self.session.writer, self.place, self._table
        gate = writer.gate
        # A new tensor: by far the most frequent result, so that what follows calls as little as it can. --------------
        identity = id(result)
        known = table.get(identity)
        if known is not None and known() is result:
            if known.counter != version_of(result):  # one of the inputs, written and given back
                writing.written(self, call, result, args, kwargs, rows, constants, frame, start, end)
            place.took(0)
            return
        sites = place.context.sites if _grad_enabled() else place.context.sites_without_grad
        key = id(frame.f_code) + frame.f_lasti + call.key
        site = sites.get(key)
        count = len(rows)
        if (
            site is None
            or site.code() is not frame.f_code
            or site.shape != shape_of(result)
            or site.dtype is not result.dtype
            or site.varying
            or not alike(site.constants, constants)
            or site.count != count
            or site.requires_grad is not result.requires_grad
        ):
            site, numbers = results.variant(self, sites, key, call, frame, result, args, kwargs, constants, count)
            rows += numbers
        template, value = site.read(result)
        row = writer.append_many(template, value, rows, end, end - start, place.backward_row)
        if place.first:
            place.took(row)
        known = Known(result)
        known.row = row
        known.counter = 0
        table[identity] = known
        if tensor_base.base(result) is not None or call.aliasing:
            known.counter = version_of(result)
            writing.view(session, known, result, args)
        if site.requires_grad:
            session.tie(grad_fn(result), row, site.fields, place.sequence)
            place.sequence = _sequence()
        if len(table) > session.identities.room:
            session.identities.purge()
        if gate is not None:
            control.after(session, row, result, value, frame)

    @guarded
    def _note(self, tensor: Tensor, gradient: Tensor | None) -> None:
        """The program takes the gradient of a tensor in its hands."""
        if not self.session.ended:
            self.session.leaves.note_gradient(tensor, gradient)

    @guarded
    def _view(self, known: Known, result: Tensor, args: Any) -> None:
        """A new tensor shares memory with another one."""
        known.counter = version_of(result)
        writing.view(self.session, known, result, args)

    def gather(self, place: int | str, value: Any, frame: FrameType, rows: list[int], constants: list[Any]) -> None:
        """Sort an argument of any kind: tensors to rows; what is left of it to constants, behind its place or name."""
        left = self._left(value, frame, rows)
        if left is not Tensor or isinstance(place, str):
            constants += (place, left)

    def _left(self, value: Any, frame: FrameType, rows: list[int]) -> Any:
        """What is left of an argument when its tensors are rows: the class stands for each of them."""
        session = self.session
        kind = session.kind(value)
        if kind is TENSOR or kind is STRANGE:
            rows.append(session.leaves.meet(value, frame, None).row)
            if kind is STRANGE and is_awaited(value):
                self.place.awaiting.append(Awaiting(rows, len(rows) - 1, value))
            return Tensor
        if kind is NESTED:
            return tuple(
                [self._left(each, frame, rows) for each in (value.values() if isinstance(value, dict) else value)]
            )
        return value if kind is PLAIN else type(value).__name__

    @guarded
    def _failed(self, call: Call, frame: FrameType, rows: list[int], error: Exception) -> None:
        """An op raised: a node without a value, and the exception."""
        if type(error).__module__ == "torch.utils.checkpoint":  # enough was computed again: so it stops
            return
        session = self.session
        writer = session.writer
        context = self.place.context
        site = CallSite(session, call, frame, context, None, (None, {}), {}, count=len(rows), flags=Flag.FAILED)
        edges = [(row & ROW_MASK, row >> SLOT_SHIFT) for row in rows]
        row = writer.append_wide(site.template, [], edges, writer.clock())
        recording.exception(error, node=row, site=site.fields.base["site"])


MODES: Final = (Calls,) if compiled.Handler is None else (Calls, compiled.Handler)
"""The classes of the modes that torch is given."""
