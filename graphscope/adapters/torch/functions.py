"""Custom functions: `Function.apply` is one call, and what its `forward` computes lies in a scope of its name."""

from __future__ import annotations

from sys import _getframe
from types import FrameType
from typing import Any

import torch

from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.guarding import guarded
from graphscope.adapters.torch.results import made
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.schema import Kind


class Functions:
    """Follows the calls of custom functions."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._known: dict[type, Call] = {}

    def wrapped(self, original: Any) -> Any:
        """`Function.apply`, recorded."""
        session = self.session

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            if session.ended or place.busy or cls.__module__.startswith("torch."):
                return original.__get__(None, cls)(*args, **kwargs)
            writer = session.writer
            frame = session.frames.user(_getframe(1))
            gathered = self._gather(args, frame)
            outer = place.context
            inner = outer.inner.get(id(cls))
            if inner is None:
                inner = outer.inner[id(cls)] = self._scope(outer, cls)
            start = writer.clock()
            place.context = inner
            writer.append(inner.entering, None, start)
            try:
                result = original.__get__(None, cls)(*args, **kwargs)
            finally:
                end = writer.clock()
                place.context = outer
                writer.append(inner.leaving, None, end)
            if gathered is not None:
                self._made(cls, result, args, kwargs, gathered, frame, start, end)
            return result

        return classmethod(apply)

    @guarded
    def _gather(self, args: Any, frame: FrameType) -> tuple[Calls, list[int], list[Any]] | None:
        """The rows and constants among the arguments."""
        calls = self.session.places.here.calls or self.session.make_calls()
        rows: list[int] = []
        constants: list[Any] = []
        for value in args:
            calls.gather(value, frame, rows, constants)
        return calls, rows, constants

    @guarded
    def _made(
        self, cls: Any, result: Any, args: Any, kwargs: Any, gathered: tuple[Calls, list[int], list[Any]],
        frame: FrameType, start: int, end: int,
    ) -> None:  # fmt: skip
        """Append the row: its outputs were made by calls inside `forward`, for the program this call made them."""
        calls, rows, constants = gathered
        call = self._known.get(cls)
        if call is None:
            call = self._known[cls] = self.session.new_call(cls)
        tensors = (each for each in flattened(result) if isinstance(each, torch.Tensor))
        outputs = [each for each in tensors if not any(each is given for given in args)]
        for each in outputs:
            self.session.identities.table.pop(id(each), None)
        if outputs:
            made(calls, call, outputs, args, kwargs, rows, constants, frame, start, end)

    def _scope(self, outer: Context, cls: type) -> Context:
        path = outer.path.child(cls.__name__, "Function")
        inner = Context(path, outer.backward)
        writer = self.session.writer
        inner.entering = writer.template(Kind.SCOPE_ENTER, scope=path.number(writer))
        inner.leaving = writer.template(Kind.SCOPE_EXIT, scope=path.number(writer))
        return inner
