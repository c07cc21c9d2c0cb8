"""The backward pass: the engine's entry is patched, and what it runs is told of in the order in which it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch
from torch.autograd import graph as autograd_graph

from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.rules import Run
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.walk import Walk
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Kind, Pass

ENTRY: Final = "_engine_run_backward"
"""Everything that starts the engine from Python goes through this function (private)."""


class Backward:
    """Follows the runs of the engine."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._marks: dict[Any, Any] = {}
        self._walk = Walk(session)

    def entries(self) -> Iterator[tuple[Any, str]]:
        """Where the engine's entry is found: the function, and the name it was imported by."""
        for module in (autograd_graph, torch.autograd):
            if ENTRY in module.__dict__:
                yield module, ENTRY

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The entry, with a recorded pass around it."""
        session = self._session
        places = session.places
        push, pop = torch._C._push_on_torch_function_stack, torch._C._pop_torch_function_stack

        def _engine_run_backward(
            outputs: Any, cotangents: Any, keep: Any, create_graph: Any, inputs: Any = (), *args: Any, **kwargs: Any
        ) -> Any:
            place = places.here
            if session.ended or place.busy:
                return original(outputs, cotangents, keep, create_graph, inputs, *args, **kwargs)
            writer = session.writer
            frame = session.frames.user(_getframe(1))
            outer = (place.context, place.backward_row, place.run)
            run = Run(writer, frame, place)
            with torch._C.DisableTorchFunction():
                start = self._roots(outputs)
                self._mark(Kind.BACKWARD_BEGIN, frame, start)
                run.creating = [] if create_graph else None
                self._walk.prepare(run, outputs, cotangents)
            place.context = place.context.turned()
            place.run = run
            result: Any = None
            push(place.calls or Calls(session))
            try:
                result = original(outputs, cotangents, keep, create_graph, inputs, *args, **kwargs)
            finally:
                pop()
                run.turn()
                place.context, place.backward_row, place.run = outer
                if result is not None and inputs and not kwargs.get("accumulate_grad"):
                    with torch._C.DisableTorchFunction():
                        self._wanted(run, inputs, result)
                self._walk.remember(run)
                run.end()
                self._mark(Kind.BACKWARD_END, frame, start)
            return result

        return _engine_run_backward

    def _wanted(self, run: Run, inputs: Any, results: Any) -> None:
        """Append the rows of what `autograd.grad` returns: the gradients of tensors whose own nodes did not run."""
        session = self._session
        rules = {rule.forward: rule for rule in run.rules if not rule.name}
        for given, gradient in zip(inputs, results, strict=False):
            known = session.identities.find(given) if isinstance(given, torch.Tensor) else None
            if known is None or gradient is None:
                continue
            rule = rules.get(known.row)
            origins = rule.origins(run) if rule is not None else []
            keeping = session.gradient_of_leaf(gradient, len(origins))
            template, value = keeping.read(gradient)
            row = session.append_many(template, value, origins, run.turn(), 0, known.row & ROW_MASK)
            session.identities.add(gradient, row)

    def _roots(self, outputs: Any) -> list[int]:
        """The rows that a pass begins at."""
        found = []
        for each in outputs:
            if isinstance(each, torch.Tensor):
                known = self._session.identities.find(each)
                if known is not None:
                    found.append(known.row)
        return found

    def _mark(self, kind: Kind, frame: FrameType, start: list[int]) -> None:
        writer = self._session.writer
        count = min(len(start), 3)
        key = (kind, id(frame.f_code), frame.f_lasti, count, self._session.places.here.context)
        template = self._marks.get(key)
        if template is None:
            site = site_number(writer, frame)
            template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=count)
            self._marks[key] = template
        writer.append(template, None, writer.clock(), 0, 0, *start[:3])
