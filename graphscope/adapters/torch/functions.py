"""Custom functions: `Function.apply` is one call, and what its `forward` computes lies in a scope of its name."""

from __future__ import annotations

import weakref
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch

from graphscope.adapters.torch import tensor_base
from graphscope.adapters.torch.backward_graph import op_name
from graphscope.adapters.torch.calls import Call, parameters
from graphscope.adapters.torch.compiled import rule_of
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.distributed_tensors import placing
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.results import made
from graphscope.adapters.torch.rules import NEVER
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.tensor_properties import grad_fn, shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.template import Template
from graphscope.formulas.formula import Formula

_CONVERTING: Final = ("torch.distributed.tensor", "torch.distributed.fsdp")
"""Here are functions that programs call by other names (`to_local`), and one that `fully_shard` hooks."""

_MOST_FIELDS: Final = 512
"""So many kinds of results of torch's own functions are remembered."""


CUSTOM: Final[weakref.WeakValueDictionary[str, type]] = weakref.WeakValueDictionary()
"""The custom functions that were recorded in this process, by what the log finds them by; the newest of each name."""


class Functions:
    """Follows the calls of custom functions."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._known: dict[Any, Call] = {}
        """By where a custom function is written: one that is defined where it is used is a new class each time."""
        self._fields: dict[Any, Fields] = {}
        self._leaving: dict[tuple[Context, int, bool], Template] = {}
        """The marks at the ends of scopes, by how many outputs these name, and whether numbers were read inside."""

    def wrapped(self, original: Any) -> Any:
        """`Function.apply`, recorded."""
        session = self.session

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            if session.ended or place.busy:
                return original.__get__(None, cls)(*args, **kwargs)
            if cls.__module__.startswith("torch."):
                result = original.__get__(None, cls)(*args, **kwargs)
                if cls.__module__.startswith(_CONVERTING):
                    self._converted(args, result, _getframe(1))
                self._tie(result, _getframe(1))
                return result
            writer = session.writer
            frame = session.frames.user(_getframe(1))
            gathered = self._gather(args, frame)
            outer = place.context
            call = self._call(cls)
            inner = outer.child(call, cls.__name__, "Function", writer)
            outputs: list[torch.Tensor] = []
            reads = place.reads
            start = writer.clock()
            place.context = inner
            writer.append(inner.entering, None, start)
            try:
                result = original.__get__(None, cls)(*args, **kwargs)
                outputs = _outputs(result, args)
            finally:
                end = writer.clock()
                place.context = outer
                self._leave(inner, outputs, end, place.reads > reads)
            if gathered is not None and outputs:
                self._made(call, outputs, args, kwargs, gathered, frame, start, end)
            return result

        return classmethod(apply)

    def _call(self, cls: Any) -> Call:
        """What is known of a custom function."""
        code = getattr(cls.forward, "__code__", None)
        where = (code.co_filename, code.co_firstlineno) if code is not None else ()
        key = cls.__module__, cls.__qualname__, *where
        found = self._known.get(key) or self._learn(key, cls)
        CUSTOM[found.function] = cls
        return found

    def _learn(self, key: Any, cls: Any) -> Call:
        found = self._known[key] = self.session.new_call(cls)
        found.custom = True
        found.function = f"{cls.__module__}.{cls.__qualname__}"
        given = list(parameters(cls.forward))
        if cls.setup_context is torch.autograd.Function.setup_context:
            given = given[1:]  # the context
        rules = {name: f"{cls.__name__}.backward(ctx, g)[{place}]" for place, name in enumerate(given)}
        found.formula = Formula(f"out = {cls.__name__}({', '.join(given)})", rules, inputs=tuple(given))
        return found

    @guarded
    def _gather(self, args: Any, frame: FrameType) -> tuple[Calls, list[int], list[Any]] | None:
        """The rows and constants among the arguments."""
        calls = self.session.places.here.calls or self.session.make_calls()
        rows: list[int] = []
        constants: list[Any] = []
        for place, value in enumerate(args):
            calls.gather(place, value, frame, rows, constants)
        return calls, rows, constants

    @guarded
    def _leave(self, inner: Context, outputs: list[torch.Tensor], end: int, has_read: bool) -> None:
        """Append the mark that what ran inside is done; it names the rows that made the outputs, as far as known.

        `has_read`: numbers were read out of tensors, and nobody knows what became of them.
        """
        writer = self.session.writer
        found = [self.session.identities.find(each) for each in outputs]
        rows = [known.row for known in found if known is not None]
        if not rows or len(rows) < len(found):
            writer.append(inner.leaving, None, end)
            return
        template = self._leaving.get((inner, len(rows), has_read))
        if template is None:
            graph_pass = Pass.BACKWARD if inner.backward else Pass.FORWARD
            template = self._leaving[inner, len(rows), has_read] = writer.template(
                Kind.SCOPE_EXIT,
                scope=inner.path.number(writer),
                graph_pass=graph_pass,
                input_count=len(rows),
                attrs=writer.attributes({"reads": True} if has_read else {}),
            )
        writer.append_many(template, None, rows, end)

    @guarded
    def _made(
        self, call: Call, outputs: list[torch.Tensor], args: Any, kwargs: Any,
        gathered: tuple[Calls, list[int], list[Any]], frame: FrameType, start: int, end: int,
    ) -> None:  # fmt: skip
        """Append the row: its outputs were made by calls inside `forward`, for the program this call made them."""
        calls, rows, constants = gathered
        for each in outputs:
            self.session.identities.table.take(id(each))
        made(calls, call, outputs, args, kwargs, rows, constants, frame, start, end)

    @guarded
    def _converted(self, args: Any, result: Any, frame: FrameType) -> None:
        """Append the row of what turns a distributed tensor into its part, or back, or lays it otherwise.

        It is computed inside with gradients off, of which those rows tell; from here on they flow.
        """
        results = [each for each in flattened(result) if isinstance(each, torch.Tensor)]
        given = [each for each in flattened(args) if isinstance(each, torch.Tensor)]
        for each, source in zip(results, given, strict=False):
            if self.session.follows and grad_fn(each) is not None:
                self._convert(source, each, self.session.frames.user(frame))

    def _convert(self, given: torch.Tensor, result: torch.Tensor, frame: FrameType) -> None:
        session, writer, node = self.session, self.session.writer, grad_fn(result)
        known = session.leaves.meet(result, frame, None)
        form = Keeping(
            writer.template(
                Kind.OP,
                op=session.op_number(op_name(node.name()), "How a tensor lies on a mesh, or a part of it on a rank."),
                site=site_number(writer, frame),
                scope=session.places.here.context.path.number(writer),
                shape=shape_of(result),
                dtype=log_dtype(tensor_base.dtype(result)),
                attrs=writer.attributes(placing(result)),
                flags=Flag.REQUIRES_GRAD | Flag.VIEW,
                graph_pass=Pass.BACKWARD if session.places.here.context.backward else Pass.FORWARD,
                input_count=1,
            )
        )
        template, value = form.read(result)
        source = session.identities.find(given) or known
        known.row = writer.append_many(template, value, [source.row], writer.clock())

    @guarded
    def _tie(self, result: Any, frame: FrameType) -> None:
        """Let the nodes of one of torch's own functions, as of a module's hook, say which rows their results are."""
        session = self.session
        for each in flattened(result):
            node = grad_fn(each) if session.follows and isinstance(each, torch.Tensor) else None
            known = None if node is None else session.identities.find(each)
            if node is not None and known is not None and rule_of(node) is None:
                session.tie(
                    node, known.row, self._fields_of(each, session.frames.user(frame)), NEVER, op_name(node.name())
                )

    def _fields_of(self, result: torch.Tensor, frame: FrameType) -> Fields:
        """What the rows of such a function share."""
        session, context = self.session, self.session.places.here.context
        site = site_number(session.writer, frame)
        key = context, site, shape_of(result), tensor_base.dtype(result)
        found = self._fields.get(key)
        if found is None:
            if len(self._fields) >= _MOST_FIELDS:
                self._fields.clear()
            writer = session.writer
            base = {
                "op": 0, "site": site, "scope": context.path.number(writer), "shape": key[2],
                "dtype": log_dtype(key[3]), "attrs": 0,
            }  # fmt: skip
            line = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            found = self._fields[key] = Fields(session, line, base, key[3])
        return found


def _outputs(result: Any, args: Any) -> list[torch.Tensor]:
    """The tensors that a custom function made: not those that it was given and hands on."""
    tensors = (each for each in flattened(result) if isinstance(each, torch.Tensor))
    return [each for each in tensors if not any(each is given for given in args)]
