"""Optimizers: a step is one row for each parameter that it changed, and the end of a training step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from sys import _getframe
from types import CellType, FrameType
from typing import Any, Final, NamedTuple

import torch
from torch.optim import optimizer as optimizers

from graphscope.adapters.kit.training_steps import Steps
from graphscope.adapters.torch import control, tensor_base
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known, wrote
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import arguments
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind

SETTINGS: Final = ("lr", "momentum", "betas", "eps", "weight_decay", "alpha", "rho", "maximize", "nesterov", "amsgrad")
"""Settings of a group that are told with its rows."""

_HOOKED: Final = torch.optim.Optimizer.profile_hook_step(len).__code__
"""The code of what torch puts around the step of each class of optimizers."""


class Update(NamedTuple):
    """How the rows of a parameter's updates look."""

    key: Any
    form: Keeping
    numbers: Sequence[int]
    """The bits of the numbers among the settings."""
    varying: Sequence[int]
    """Which of them vary from step to step."""


class Optimizers:
    """Follows the steps of optimizers."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._steps = Steps()

    def register(self) -> Callable[[], None]:
        """Begin to tell where steps end, by the hooks that torch offers; the function returned ends it."""
        before = optimizers.register_optimizer_step_pre_hook(self._before)
        after = optimizers.register_optimizer_step_post_hook(self._after)

        def remove() -> None:
            before.remove()
            after.remove()

        return remove

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced: the steps of torch's own optimizers, inside of what torch puts around them.

        Schedulers of learning rates, and others who replace the step of an optimizer, hold what is around it.
        """
        waiting: list[Any] = [torch.optim.Optimizer]
        while waiting:
            kind = waiting.pop()
            waiting += kind.__subclasses__()
            step: Any = kind.__dict__.get("step")
            if step is not None and kind.__module__.startswith("torch.optim.") and kind is not torch.optim.Optimizer:
                hooked = _hooked(step)
                if hooked is None:  # as torch does when the first is made
                    hooked = kind.step = kind.profile_hook_step(step)
                    hooked.hooked = True
                inside = _Inside(hooked)
                yield inside, "step", self._followed(inside.step)

    def _followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """A step: what torch's own optimizers compute is one row a parameter; what the program's do is shown."""
        session = self.session

        @functools.wraps(original)
        def step(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            ours = type(optimizer).__module__.startswith("torch.optim")
            if not ours or place.busy or session.ended or any((*args, kwargs.get("closure"))):
                return original(optimizer, *args, **kwargs)
            start = session.writer.clock()
            place.busy = True
            try:
                result = original(optimizer, *args, **kwargs)
            finally:
                place.busy = False
            self._stepped(optimizer, _getframe(1), session.writer.clock() - start)
            return result

        return step

    @guarded
    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.session.places.here.busy and not self.session.ended:
            self._steps.begin(optimizer)

    @guarded
    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        self._steps.end(optimizer)

    @guarded
    def _stepped(self, optimizer: Any, frame: FrameType, duration: int) -> None:
        """Append the rows of a step."""
        frame = self.session.frames.user(frame)
        for group in optimizer.param_groups:
            parameters = [each for each in group["params"] if tensor_base.gradient(each) is not None]
            if parameters:
                self._update(optimizer, group, parameters, frame, duration // len(parameters))

    def _update(self, optimizer: Any, group: dict[str, Any], parameters: Any, frame: FrameType, duration: int) -> None:
        session = self.session
        writer = session.writer
        identities = session.identities
        name = type(optimizer).__name__
        settings = {key: value for key in SETTINGS if isinstance(value := group.get(key), (int, float, tuple, bool))}
        numbers: list[float] = []
        structure = arguments.separated(settings, numbers)
        told = [arguments.bits(number) for number in numbers]
        site = site_number(writer, frame)
        place = name, site, session.places.here.context
        for parameter in parameters:
            known = identities.find(parameter)
            if known is None or known.row < writer.low:
                # Its value is the new one by now: the row that is written is that of the update alone.
                known = session.leaves.leaf(parameter, frame, None, known)
            more = known.extended()
            gradient = self._gradient(identities.find(tensor_base.gradient(parameter)), more.accumulated)
            has_gradient = gradient > 0
            key = place, structure, has_gradient, shape_of(parameter), tensor_base.dtype(parameter)
            update: Update | None = more.updating if more.updating is not None and more.updating.key == key else None
            varying = () if update is None else arguments.varying_with(update.varying, update.numbers, told)
            if update is None or varying is not update.varying:
                form = self._form(
                    name, arguments.entry(None, settings, varying), parameter, site, has_gradient, varying
                )
                update = more.updating = Update(key, form, told, varying)
            template, value = update.form.read(parameter)
            template.turn_version(more.versions + 1)
            first = more.first if more.first >= writer.base else None
            now = writer.clock()
            rows = [known.row, gradient][: 1 + has_gradient] + [told[each] for each in update.varying]
            row = writer.append_many(template, value, rows, now, duration, 0, first)
            wrote(known, parameter, row)
            if writer.gate is not None:
                control.after(session, row, parameter, value, frame)

    def _gradient(self, known: Known | None, accumulated: int) -> int:
        """The row of a parameter's gradient: what was last added to it, or what the program has made of it since."""
        if known is None or known.row < self.session.writer.low or known.row & ROW_MASK < accumulated:
            return accumulated
        return known.row

    def _form(
        self, name: str, settings: dict[str, Any], parameter: torch.Tensor, site: int, has_gradient: bool,
        varying: Sequence[int],
    ) -> Keeping:  # fmt: skip
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
                site=site,
                scope=self.session.places.here.context.path.number(writer),
                shape=shape_of(parameter),
                dtype=log_dtype(tensor_base.dtype(parameter)),
                attrs=writer.attributes(settings),
                flags=Flag.IN_PLACE | Flag.NO_GRAD,
                input_count=1 + has_gradient,
                number_count=len(varying),
            )
        )


class _Inside:
    """What torch has put its hooks around, as an attribute that can be replaced."""

    cell: CellType
    step: Any

    def __init__(self, hooked: Any) -> None:
        cell = hooked.__closure__[_HOOKED.co_freevars.index("func")]
        vars(self).update(cell=cell, step=cell.cell_contents)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = self.cell.cell_contents = value


def _hooked(step: Any) -> Any:
    """What torch has put around a step, beneath what others have; None where there is nothing yet."""
    while step is not None and getattr(step, "__code__", None) is not _HOOKED:
        step = getattr(step, "__wrapped__", None)
    return step
