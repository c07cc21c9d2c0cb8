"""The backward pass: the engine's entry is patched, and what it runs is recorded in the order in which it runs."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from sys import _getframe
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

import torch
from torch.autograd import graph as autograd_graph

from graphscope.adapters.torch import compiled, control, tensor_base, tensor_elements
from graphscope.adapters.torch.backward_graph import NAMES, Walk
from graphscope.adapters.torch.collectives import Collectives
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.loss_scales import factor_of, scale_of
from graphscope.adapters.torch.modes import aside, sweep
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.rules import Run
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import given_gradients
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import INLINE_INPUTS, ROW_MASK, Kind, Pass
from graphscope.eventlog.template import Template

_push: Final = torch._C._push_on_torch_function_stack
_pop: Final = torch._C._pop_torch_function_stack

ENTRY: Final = "_engine_run_backward"
"""Everything that starts the engine from Python goes through this function (private)."""


_MOST_MARKS: Final = 128


class Marks(NamedTuple):
    """The templates of the marks of a pass, at one place of the program."""

    begin: Template
    end: Template
    code: weakref.ref[CodeType]
    loss: Keeping | None
    """The first mark with the loss, where the log keeps it nowhere else."""

    def are_for(self, frame: FrameType, root: Any) -> bool:
        """Whether they are for a pass that begins here: another code may have come to lie there."""
        return self.code() is frame.f_code and (self.loss is None or (_is_number(root) and self.loss.is_for(root)))


def entries() -> Iterator[tuple[Any, str]]:
    """Where the entry of the engine is found: the modules that have imported it, and its name."""
    for module in (autograd_graph, torch.autograd):
        if ENTRY in module.__dict__:
            yield module, ENTRY


class Backward:
    """Follows the runs of the engine."""

    def __init__(self, session: Session, collectives: Collectives) -> None:
        self.session = session
        self._collectives = collectives
        self._marks: dict[Any, Marks] = {}
        self._walk = Walk(session)

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The entry, with a recorded pass around it."""
        every = self._every(original)
        if compiled.Entry is None:
            return every
        session, walk = self.session, self._walk
        found: Callable[..., Any] = compiled.Entry(
            slow=every, original=original, session=session, writer=session.writer, places=session.places,
            leaves=session.leaves, replicas=self._collectives.replicas, hooked=session.hooked_leaves.references,
            sharded=session.sharded.references,
            marks=self._marks, make=walk.rule,
            node_class=walk.leaf_class, table=session.identities.table, fields=session.no_fields, op_names=NAMES,
            inside=session.frames.inside, push=_push, pop=_pop, sweep=sweep, failed=Session.give_up,
            passed=control.passed,
        )  # fmt: skip
        return found

    def _every(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The same for passes of any kind."""
        session = self.session
        places = session.places

        def _engine_run_backward(
            outputs: Any, cotangents: Any, keep: Any, create_graph: Any, inputs: Any = (), *args: Any, **kwargs: Any
        ) -> Any:
            place = places.here
            if session.ended or place.busy:
                return original(outputs, cotangents, keep, create_graph, inputs, *args, **kwargs)
            writer = session.writer
            frame = session.frames.user(_getframe(1))
            outer = (place.context, place.backward_row, place.run, place.line_calls)
            place.line_calls = None
            run, first = Run(writer, frame, place), writer.end
            run.creating = [] if create_graph else None
            self._begin(run, outputs, cotangents, bool(inputs))
            context = outer[0].on_backward()
            result: Any = None
            is_whole = False
            mode = (place.calls or session.make_calls()).mode
            try:
                _push(mode)
                place.context, place.run = context, run
                result = original(outputs, cotangents, keep, create_graph, inputs, *args, **kwargs)
                is_whole = True
            finally:  # a signal handler may raise at each call: what must be done comes first
                place.context, place.backward_row, place.run, place.line_calls = outer
                if self.session.ended:  # nobody knows which of ours are still there
                    sweep()
                else:
                    _pop()
                since = None if run.opened else run.began
                now = run.turn()
                if result is not None and inputs and not kwargs.get("accumulate_grad"):
                    self._wanted(run, inputs, result)
                self._end(run, first, frame, 0 if since is None else now - since, is_whole)
            control.passed(session, frame)
            return result

        return _engine_run_backward

    @guarded
    def _wanted(self, run: Run, inputs: Any, results: Any) -> None:
        """Append the rows of what `autograd.grad` returns: the gradients of tensors whose own nodes did not run."""
        session = self.session
        rules = {rule.forward: rule for rule in run.rules if not rule.name}
        for given, gradient in zip(inputs, results, strict=False):
            known = session.identities.find(given) if isinstance(given, torch.Tensor) else None
            if known is None or gradient is None:
                continue
            rule = rules.get(known.row)
            origins = rule.origins(run) if rule is not None else []
            keeping = session.gradient_of_leaf(gradient, len(origins))
            template, value = keeping.read(gradient)
            row = session.writer.append_many(template, value, origins, run.turn(), 0, known.row & ROW_MASK)
            session.identities.add(gradient, row)

    def direct(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`Tensor.backward`, for which torch would ask the modes: ours has nothing to say to it."""
        session = self.session
        if compiled.direct is not None:
            count = torch._C._len_torch_function_stack
            direct = compiled.direct(original, session, count, _pop, _push, torch.Tensor)
            return functools.update_wrapper(direct, original)

        @functools.wraps(original)
        def backward(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            ours = tensor.__class__ is torch.Tensor and not session.ended
            with aside(session) if ours else contextlib.nullcontext():
                return original(tensor, *args, **kwargs)

        return backward

    @guarded
    def _begin(self, run: Run, outputs: Any, cotangents: Any, is_limited: bool) -> None:
        """Append the mark of the pass, and hook what it goes through; `is_limited`: to the gradients asked for."""
        session = self.session
        start = self._roots(outputs)
        if session.leaves.expected:
            session.leaves.unused()
        frame = run.frame
        run.start = start[:INLINE_INPUTS]
        key: Any = (id(frame.f_code), frame.f_lasti, len(run.start), run.place.context, is_limited)
        root = outputs[0] if len(outputs) == 1 else None
        given = self._given(outputs, cotangents, frame)
        key = (*key, len(given)) if given else key
        run.marks = self._marks.get(key)
        if run.marks is None or not run.marks.are_for(frame, root):
            run.marks = self._new_marks(key, frame, root, len(given))
        self._mark(run, *self._loss(run.marks, root), given)
        if run.place.run is None:
            self._collectives.awaited(frame)
        self._walk.prepare(run, outputs, cotangents)

    def _loss(self, marks: Marks, root: Any) -> tuple[Template, Any]:
        """The template of the first mark of a pass, and the loss."""
        if marks.loss is None:
            return marks.begin, None
        scales = self.session.writer.sampling.scales
        if tensor_base.is_cuda(root):
            factor = factor_of(root, scales)
            is_plain = factor is None or tensor_elements.is_captured(root)  # of which nothing of ours is to be a part
            return marks.loss.read(root if is_plain else _quotient(root, factor))
        scale = scale_of(root, scales)
        number = tensor_elements.array_of(root) if scale != 1 else None
        if number is None or number.dtype.kind != "f":  # bfloat16 comes as its bits
            return marks.loss.read(root)
        return marks.loss.template, number / number.dtype.type(scale)

    @guarded
    def _end(self, run: Run, first: int, frame: FrameType, rest: int, is_whole: bool) -> None:
        """Append the mark of its end, and let go of it; its rows begin at `first`, its last leaf took `rest`.

        Of one that raised nobody knows whether the gradients were averaged: then the rank has not come out of that.
        """
        run.end()
        self._walk.remember(run)
        if run.place.run is None:
            if is_whole:
                self._collectives.averaged(frame, rest)
            else:
                self._collectives.forget_averaging()
            self.session.sharded.passed(first, frame)
            self.session.hooked_leaves.passed(first, frame)
        if run.marks is not None:
            self._mark(run, run.marks.end)

    def _roots(self, outputs: Any) -> list[int]:
        """The rows that a pass begins at."""
        found = []
        for each in outputs:
            if isinstance(each, torch.Tensor):
                known = self.session.identities.find(each)
                if known is not None:
                    found.append(known.row)
        return found

    def _given(self, outputs: Any, cotangents: Any, frame: FrameType) -> list[int]:
        """The rows, as the log counts them, of the gradients that the program gives for the roots that marks tell of.

        -1 for one that no row tells of; empty where that is so of all.
        """
        session, base = self.session, self.session.writer.base
        find, found = session.identities.find, list[int]()
        for root, cotangent in zip(outputs, cotangents, strict=False):
            if isinstance(root, torch.Tensor) and find(root) is not None:
                known = find(cotangent) if isinstance(cotangent, torch.Tensor) else None
                is_here = known is not None and known.row >= base
                row = session.leaves.meet(cotangent, frame, None).row & ROW_MASK if is_here else -1
                found.append(row - base if is_here else -1)
        del found[INLINE_INPUTS:]
        return found if max(found, default=-1) >= 0 else []

    def _mark(self, run: Run, template: Template, value: Any = None, given: Sequence[int] = ()) -> None:
        writer = run.writer
        writer.append_many(template, value, [*run.start, *given], writer.clock())

    def _new_marks(self, key: Any, frame: FrameType, root: Any, given: int) -> Marks:
        writer = self.session.writer
        told: dict[str, Any] = {"site": site_number(writer, frame), "graph_pass": Pass.BACKWARD, "input_count": key[2]}
        limited = {"limited": True} if key[4] else {}
        end = writer.template(Kind.BACKWARD_END, attrs=writer.attributes(limited), **told)
        told |= {"attrs": writer.attributes(limited | given_gradients.entry(given)), "number_count": given}
        begin = writer.template(Kind.BACKWARD_BEGIN, **told)
        loss = None
        if (writer.policy == "none" or writer.is_ring) and key[2] == 1 and _is_number(root):
            shape, dtype = shape_of(root), log_dtype(tensor_base.dtype(root))
            kept = writer.template(Kind.BACKWARD_BEGIN, shape=shape, dtype=dtype, is_kept=True, **told)
            loss = Keeping(kept, root)
        if len(self._marks) >= _MOST_MARKS:  # each holds the context that it is of
            self._marks.clear()
        found = self._marks[key] = Marks(begin, end, weakref.ref(frame.f_code), loss)
        return found


def _is_number(root: Any) -> bool:
    """Whether what a pass begins from is one number that can be had without a wait for another device."""
    return bool(
        root.__class__ in ORDINARY
        and (tensor_base.is_cpu(root) or tensor_base.is_cuda(root))
        and tensor_base.Own.numel(root) == 1
        and tensor_base.Own.is_floating_point(root)
    )


def _quotient(root: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """A loss as it was before it was scaled up, computed where it lies."""
    with torch._C._DisableTorchDispatch():
        quotient = tensor_base.Own.div(tensor_base.data(root), scale)
        found: torch.Tensor = tensor_base.Own.to(quotient, tensor_base.dtype(root))
    return found
