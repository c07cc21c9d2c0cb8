"""Optimizers: a step is one row for each parameter that it changed, and the end of a training step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch
from torch.optim import optimizer as optimizers

from graphscope.adapters.torch import control
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.guarding import guarded
from graphscope.adapters.torch.identity import wrote
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.unusual import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import record as recording
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Flag, Kind

SETTINGS: Final = ("lr", "momentum", "betas", "eps", "weight_decay", "alpha", "rho", "maximize", "nesterov", "amsgrad")
"""Settings of a group that are told with its rows."""


_MOST_FORMS: Final = 4096


class Optimizers:
    """Follows the steps of optimizers, by the hooks that torch offers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._open: dict[int, tuple[int, bool]] = {}
        self._forms: dict[Any, Keeping] = {}

    def register(self) -> Callable[[], None]:
        """Begin to follow; the function returned ends it."""
        before = optimizers.register_optimizer_step_pre_hook(self._before)
        after = optimizers.register_optimizer_step_post_hook(self._after)

        def remove() -> None:
            before.remove()
            after.remove()

        return remove

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced: the steps of torch's own optimizers; after one that raises torch calls no hook."""
        waiting: list[Any] = [torch.optim.Optimizer]
        while waiting:
            kind = waiting.pop()
            waiting += kind.__subclasses__()
            step: Any = kind.__dict__.get("step")
            if step is not None and kind.__module__.startswith("torch.optim.") and kind is not torch.optim.Optimizer:
                if not getattr(step, "hooked", False):  # as torch does when the first is made
                    step = kind.step = kind.profile_hook_step(step)
                    step.hooked = True
                yield kind, "step", self._ending(step)

    def _ending(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A step that is over when it raises, too."""

        @functools.wraps(original)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            place = self.session.places.here
            busy = place.busy
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                place.busy = busy

        return step

    @guarded
    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        place = self.session.places.here
        if place.busy or self.session.ended:
            return
        # What torch's own optimizers compute is one node a parameter; what the program's do, and a closure, is shown.
        closed = type(optimizer).__module__.startswith("torch.optim") and len(args) <= 1 and not kwargs.get("closure")
        self._open[id(optimizer)] = (self.session.writer.clock(), closed)
        place.busy = closed

    @guarded
    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        session = self.session
        start, closed = self._open.pop(id(optimizer), (0, False))
        if not start:
            return
        if closed:
            session.places.here.busy = False
            frame = session.frames.user(_getframe(1))
            duration = session.writer.clock() - start
            for group in optimizer.param_groups:
                parameters = [each for each in group["params"] if each.grad is not None]
                if parameters:
                    self._update(optimizer, group, parameters, frame, duration // len(parameters))
        recording.step()

    def _update(self, optimizer: Any, group: dict[str, Any], parameters: Any, frame: FrameType, duration: int) -> None:
        session = self.session
        writer = session.writer
        identities = session.identities
        name = type(optimizer).__name__
        settings = tuple(
            (key, value) for key in SETTINGS if isinstance(value := group.get(key), (int, float, tuple, bool))
        )
        code = frame.f_code
        for parameter in parameters:
            known = identities.find(parameter)
            if known is None or known.row < writer.low:
                # Its value is the new one by now: the row that is written is that of the update alone.
                known = session.leaves.leaf(parameter, frame, None, known)
            more = known.extended()
            key = (id(code), frame.f_lasti, id(parameter), settings, bool(more.accumulated))
            form = self._forms.get(key)
            if form is None:
                if len(self._forms) >= _MOST_FORMS:  # a learning rate that changes with each step
                    self._forms.clear()
                form = self._forms[key] = self._form(name, settings, parameter, frame, bool(more.accumulated))
            template, value = form.read(parameter)
            template.turn_version(more.versions + 1)
            first = more.first if more.first >= writer.base else None
            now = writer.clock()
            row = writer.append(template, value, now, duration, 0, known.row, more.accumulated, 0, tensor=first)
            wrote(known, parameter, row)
            if writer.gate is not None:
                control.after(session, row, parameter, value, frame)

    def _form(self, name: str, settings: Any, parameter: torch.Tensor, frame: FrameType, has_gradient: bool) -> Keeping:
        writer = self.session.writer
        entry = {
            "name": name,
            "formula": "",
            "doc": f"What a step of {name} makes of a parameter.",
            "vjp": [],
            "inputs": [],
        }
        return Keeping(
            writer.template(
                Kind.OP,
                op=writer.intern("ops", name, entry),
                site=site_number(writer, frame),
                scope=self.session.places.here.context.path.number(writer),
                shape=shape_of(parameter),
                dtype=log_dtype(parameter.dtype),
                attrs=writer.attributes(dict(settings)),
                flags=Flag.IN_PLACE | Flag.NO_GRAD,
                input_count=1 + has_gradient,
            )
        )
