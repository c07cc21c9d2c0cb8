"""The capture level `ops`: inside of each call the ops of ATen that it runs, forward and backward.

A call that runs one op alone is that op; of any other the ops lie in a scope of its name, as those of a custom
function do.
"""

from __future__ import annotations

from sys import _getframe
from time import perf_counter_ns as clock
from types import FrameType
from typing import Any, Final, NamedTuple

import torch

from graphscope.adapters.torch import compiled, devices, results, tensor_base, writing
from graphscope.adapters.torch.backward_graph import op_name
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.compiled import rule_of
from graphscope.adapters.torch.context import Context, Place
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.dispatch_mode import DispatchMode
from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.known_tensors import Known, version_of
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.rules import Rule
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.supported_versions import holds_in_inference
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.adapters.torch.tensor_properties import grad_fn
from graphscope.eventlog.schema import ROW_MASK

_excluded: Final = torch._C._dispatch_tls_local_exclude_set


class Ran(NamedTuple):
    """An op that has run, and the rows and constants among its arguments."""

    call: Call
    args: Any
    kwargs: Any
    result: Any
    rows: list[int]
    constants: list[Any]
    frame: FrameType
    start: int
    end: int


class LineCalls:
    """What is known of the ops of a call that runs."""

    __slots__ = ("began", "call", "frame", "outer", "pending", "since")

    def __init__(self, call: Call, frame: FrameType, began: int, since: int) -> None:
        self.call = call
        self.frame = frame
        self.began = began
        """The first row that can be one of them."""
        self.since = since
        """Torch's number of the first backward node that they may make."""
        self.pending: Ran | None = None
        """The first one, until it is known whether there is a second."""
        self.outer: Context | None = None
        """The context around the call, once the scope is entered."""


class DeepCalls(Calls):
    """As `Calls`, and what runs inside of a call is seen too."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, compiled_handler=False)
        self.ops = Ops(session)
        """To be pushed in the same thread."""
        if self.ops.entry is not None:
            self.__torch_function__ = compiled.CallEntry(  # type: ignore[method-assign]
                calls=self, called=self._called, code=DeepCalls._called.__code__, ops=self.ops.entry,
                excluded=_excluded,
            )  # fmt: skip

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self._called(_getframe(1), func, types, args, kwargs)

    def _called(self, direct: FrameType, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        self.ops.settle()
        func, kwargs = self.intended(func, direct, types, args, kwargs)
        prepared = self._prepare(direct, func, args, kwargs)
        if prepared is None:
            return self._aside(func, args, kwargs or {})
        call, frame, rows, constants, timer = prepared
        if call.gradient or call.assigns:
            result = func(*args, **kwargs) if kwargs else func(*args)
            self._finish(call, result, args, kwargs, rows, constants, frame, 0, 0)
            return result
        place = self.place
        around, sequence = place.line_calls, place.sequence
        line_calls = place.line_calls = LineCalls(call, frame, self.session.writer.end, sequence)
        start = clock()
        try:
            result = func(*args, **kwargs) if kwargs else func(*args)
        except Exception as error:
            self.ops.leave(place, line_calls, None)
            self._failed(call, frame, rows, error)
            raise
        finally:
            end = devices.ended(timer, start)
            place.line_calls = around
        self.ops.leave(place, line_calls, result, around)
        place.sequence = sequence
        self._finish(call, result, args, kwargs, rows, constants, frame, start, end)
        return result

    def _aside(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A call that is not recorded: what it does to make a module is not either."""
        known = self.session.calls.get(func)
        place = self.place
        busy = place.busy
        place.busy = busy or (known is not None and not known.ignored)
        try:
            return func(*args, **kwargs)
        finally:
            place.busy = busy


class Ops(DispatchMode):  # type: ignore[no-untyped-call]
    """Sees every op of ATen that this thread runs."""

    def __init__(self, session: Session) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.session = session
        self._fresh: list[tuple[Known, tuple[int, Fields] | None]] = []
        """Results of the last op, and its row: autograd tells only afterwards whose views they are, what their backward
        nodes are, and counts their writes."""
        self._anywhere = holds_in_inference()
        self.entry: Any = None
        if compiled.OpEntry is not None:
            self.__torch_dispatch__ = self.entry = compiled.OpEntry(  # type: ignore[method-assign]
                ops=self, prepare=self._prepare, ran=self._ran, op_class=torch._ops.OpOverload,
                guard=torch._C._ForceDispatchKeyGuard, included=torch._C._dispatch_tls_local_include_set,
                above=_excluded(),
            )  # fmt: skip

    def __exit__(self, *error: object) -> None:
        """Leave this thread's stack."""
        self.settle()  # nothing runs here any more
        super().__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):  # it takes functions, and calls them
            return func(*args, **kwargs)
        prepared = self._prepare(_getframe(1), func, args, kwargs)
        if prepared is None:
            return func(*args, **kwargs)
        start = clock()
        with torch._C.DisableTorchFunction():  # an op that is called by its name would be asked about as a call again
            result = func(*args, **kwargs)
        self._ran(prepared, args, kwargs, result, start, clock())
        return result

    @guarded
    def _prepare(
        self, caller: FrameType | None, func: Any, args: Any, kwargs: Any
    ) -> tuple[Call, list[int], list[Any], FrameType, devices.Measuring | None] | None:
        """What is known of an op before it runs; None where it is none of the program's."""
        session = self.session
        place = session.places.here
        line_calls = place.line_calls
        if session.ended or place.busy or (not self._anywhere and torch.is_inference_mode_enabled()):
            return None
        self.settle()
        if line_calls is not None:
            frame = line_calls.frame
            if line_calls.pending is not None:
                self._enter(place, line_calls)
        elif place.run is not None:
            frame = place.run.frame
        elif caller is None:  # nor any of Python's at all
            return None
        else:  # what no call of Python's runs: TorchScript
            frame = session.frames.user(caller)
            if caller is not frame and (session.frames.is_graphscope(caller) or session.frames.prepares(caller)):
                return None
        call = session.calls.get(func) or self._learn(func)
        if call.ignored:
            return None
        rows: list[int] = []
        constants: list[Any] = []
        calls = place.calls
        for named, value in (*enumerate(args), *kwargs.items()):
            calls.gather(named, value, frame, rows, constants)
        return call, rows, constants, frame, devices.timer(flattened((args, kwargs))) if session.remote else None

    @guarded
    def _ran(self, prepared: Any, args: Any, kwargs: Any, result: Any, start: int, end: int) -> None:
        """Append the row of an op, unless it may turn out to be all that its call does."""
        call, rows, constants, frame, timer = prepared
        if timer is not None:
            end = devices.ended(timer, start)
        ran = Ran(call, args, kwargs, result, rows, constants, frame, start, end)
        place = self.session.places.here
        line_calls = place.line_calls
        if line_calls is not None and line_calls.outer is None:
            line_calls.pending = ran._replace(result=_let_go(ran.result))
        else:
            self._append(place, ran)

    @guarded
    def settle(self) -> None:
        """Autograd is done with the results of the last op."""
        fresh, self._fresh = self._fresh, []
        for known, made in fresh:
            tensor = known()
            if tensor is not None:
                if made is not None:
                    self._tie(tensor, *made)
                known.counter = version_of(tensor)
                if tensor_base.base(tensor) is not None:
                    writing.view(self.session, known, tensor, ())

    def _tie(self, tensor: torch.Tensor, row: int, fields: Fields) -> None:
        """Let the backward node of an op inside of a call say which row made it; the call's own says so of the call."""
        line_calls, node = self.session.places.here.line_calls, grad_fn(tensor)
        if line_calls is not None and node is not None and rule_of(node) is None:
            node.register_prehook(Rule(self.session, row, fields, line_calls.since, op_name(node.name())))

    def _append(self, place: Place, ran: Ran) -> None:
        identities = self.session.identities
        if ran.call.name == "detach":  # autograd does so with all that it saves: the same numbers
            known = identities.find(ran.args[0])
            if known is not None:
                same = identities.add(ran.result, known.row)
                self._fresh.append((same, None))
                writing.view(self.session, same, ran.result, ran.args)
            return
        made = None
        if ran.call.in_place or any(isinstance(each, torch.Tensor) for each in flattened(ran.result)):
            made = results.other(
                place.calls, ran.call, ran.result, ran.args, ran.kwargs, ran.rows, ran.constants, ran.frame,
                ran.start, ran.end,
            )  # fmt: skip
        tensors = (each for each in flattened(ran.result) if isinstance(each, torch.Tensor))
        self._fresh += [(known, made) for each in tensors if (known := identities.find(each)) is not None]

    def _enter(self, place: Place, line_calls: LineCalls) -> None:
        """A call runs more than one op: enter its scope, and append the first."""
        writer = self.session.writer
        outer = line_calls.outer = place.context
        call = line_calls.call
        inner = place.context = outer.child(call, call.name, "call", writer)
        writer.append(inner.entering, None, writer.clock())
        first, line_calls.pending = line_calls.pending, None
        if first is not None:
            self._append(place, first._replace(result=_taken_again(first.result)))

    @guarded
    def leave(self, place: Place, line_calls: LineCalls, result: Any, around: LineCalls | None = None) -> None:
        """A call has ended: leave its scope. For the program it is the call that made the result."""
        pending = line_calls.pending
        if pending is not None and _tensors(_taken_again(pending.result)) > _tensors(result):
            place.line_calls = line_calls  # what it saves for backward is told of, too
            self._enter(place, line_calls)
            place.line_calls = around
        line_calls.pending = None
        if line_calls.outer is None:
            return
        self.settle()
        writer = self.session.writer
        writer.append(place.context.leaving, None, writer.clock())
        place.context = line_calls.outer
        for each in flattened(result):
            known = self.session.identities.find(each) if isinstance(each, torch.Tensor) else None
            if known is not None and known.row & ROW_MASK >= line_calls.began and not known.extended().versions:
                self.session.identities.table.take(id(each))

    def _learn(self, func: Any) -> Call:
        call = self.session.learn(func)
        call.ignored = call.name == "lift_fresh"  # hands on what a call that makes a tensor has made
        return call


class _Loose(NamedTuple):
    """A tensor that nobody holds for our sake, and another one with its elements."""

    reference: Any
    same: torch.Tensor


def _let_go(result: Any) -> Any:
    """A result without a hold on its tensors: torch would give the program another one in the place of each."""
    if result.__class__ in ORDINARY:
        with torch._C._DisableTorchDispatch():
            return _Loose(compiled.Reference(result), tensor_base.data(result))
    return [_let_go(each) for each in result] if result.__class__ in (list, tuple) else result


def _taken_again(result: Any) -> Any:
    if isinstance(result, _Loose):
        tensor = result.reference()
        return result.same if tensor is None else tensor
    return [_taken_again(each) for each in result] if result.__class__ is list else result


def _tensors(result: Any) -> int:
    return sum(isinstance(each, torch.Tensor) for each in flattened(result))
