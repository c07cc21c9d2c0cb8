"""Optimizers: a step is one row for each parameter that it changed, and the end of a training step."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from sys import _getframe
from types import CellType, FrameType
from typing import Any, Final, NamedTuple

import torch
from torch.optim import optimizer as optimizers

from graphscope.adapters.kit.training_steps import Steps
from graphscope.adapters.torch import compiled, control, past_compiler, tensor_base
from graphscope.adapters.torch.distributed_tensors import placing
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.gradient_norms import gradient_norm
from graphscope.adapters.torch.known_tensors import Known, wrote
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.training_calls import TrainingCalls
from graphscope.adapters.torch.update_measures import Sampled, measured, sampled
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog import arguments, training_steps
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.places import site_number
from graphscope.eventlog.samples import MEASURES
from graphscope.eventlog.schema import ROW_MASK, Flag, Kind

SETTINGS: Final = (
    "lr",
    "momentum",
    "dampening",
    "betas",
    "eps",
    "weight_decay",
    "alpha",
    "rho",
    "maximize",
    "nesterov",
    "amsgrad",
)
"""Settings of a group that are told with its rows."""

_MOST_GROUPS: Final = 4096
"""The settings of so many groups of parameters are remembered."""

_MEASURED: Final = 64
"""What so many steps do to parameters is measured, and then of every so many one."""
_SELDOM: Final = 7

_HOOKED: Final = torch.optim.Optimizer.profile_hook_step(len).__code__
"""The code of what torch puts around the step of each class of optimizers."""


class Settings(NamedTuple):
    """What the rows of one group of parameters tell of its settings, at one place of the program."""

    place: Any
    structure: Any
    varying: Sequence[int]
    """Which of the numbers among them vary from step to step."""
    values: tuple[Any, ...]
    numbers: Sequence[int]
    """The bits of the numbers."""


class Update(NamedTuple):
    """How the rows of a parameter's updates look."""

    settings: Settings
    form: Keeping


class Optimizers:
    """Follows the steps of optimizers."""

    def __init__(self, session: Session, training: TrainingCalls) -> None:
        self.session = session
        self._training = training
        self._sampling = session.writer.sampling
        self._steps = Steps(_end)
        self._parts: set[int] = set()
        """The numbers of optimizers whose steps are parts of another one's, which shards or averages what they train:
        an optimizer of a program's own need not have a hash."""
        self._settings: dict[Any, Settings] = {}
        """Those of each group and place, as they were last."""

    def register(self) -> Callable[[], None]:
        """Begin to tell where steps end, by the hooks that torch offers; the function returned ends it."""
        self.resume()
        after = optimizers.register_optimizer_step_post_hook(self.after())

        def remove() -> None:
            self.suspend()
            after.remove()

        return remove

    def suspend(self) -> None:
        """Be told of ends alone."""
        self._before_hook.remove()

    def resume(self) -> None:
        """Be told where steps begin."""
        self._before_hook = optimizers.register_optimizer_step_pre_hook(self._before)

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
            before = self._sampled(optimizer) or {}
            start = session.writer.clock()
            place.busy = True
            try:
                with aside(session):  # our mode has nothing to say to what runs inside
                    result = original(optimizer, *args, **kwargs)
            finally:
                place.busy = False
            self._stepped(optimizer, before, _getframe(1), session.writer.clock() - start)
            return result

        return step

    def _before(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.session.ended:
            self._began(optimizer)

    def after(self) -> Callable[..., None]:
        """What is told that an optimizer has made a step: of what runs in each that is left out, this is most."""
        passes_over, tell = self._sampling.passes_over, self._after
        if compiled.passing is not None:
            found: Callable[..., None] = compiled.passing(tell, self._sampling)
            return found

        def after(optimizer: Any, args: Any, kwargs: Any) -> None:
            if not passes_over(optimizer):
                tell(optimizer, args, kwargs)

        return after

    def _after(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not self.session.ended:
            self._finished(optimizer, _getframe(1))
        elif self.session.suspended:
            self._left_out(optimizer)

    def _left_out(self, optimizer: Any) -> None:
        try:
            if not training_steps.passed(optimizer):
                with past_compiler.at_rest():
                    _end(optimizer)
        except own(Exception) as error:
            self.session.give_up(error)

    @guarded
    def _began(self, optimizer: Any) -> None:
        if not self.session.places.here.busy:
            self._training.began(optimizer)
            self._steps.begin(optimizer)

    @guarded
    def _finished(self, optimizer: Any, frame: FrameType) -> None:
        if self._steps.runs(optimizer):
            number = self._training.marks.number(optimizer)
            if self._sampling.is_new(optimizer) and _is_inside_another(frame):
                self._sampling.note(optimizer)
                self._parts.add(number)
            self._training.stepped(optimizer, frame, number in self._parts)
            self._steps.end(optimizer)
            if self.session.writer.gate is not None and not self.session.ended:
                control.stepped(self.session, self.session.frames.user(frame))

    @guarded
    def _sampled(self, optimizer: Any) -> Sampled:
        """What the parameters of an optimizer are ahead of its step, where that is measured."""
        steps = self._training.steps
        return sampled(optimizer) if steps < _MEASURED or steps % _SELDOM == 0 else {}

    @guarded
    def _stepped(self, optimizer: Any, before: Sampled, frame: FrameType, duration: int) -> None:
        """Append the rows of a step."""
        frame = self.session.frames.user(frame)
        for group in optimizer.param_groups:
            pairs = [
                (each, gradient) for each in group["params"] if (gradient := tensor_base.gradient(each)) is not None
            ]
            if pairs:
                self._update(type(optimizer).__name__, group, pairs, before, frame, duration // len(pairs))

    def _update(
        self, name: str, group: dict[str, Any], pairs: list[tuple[Any, Any]], before: Sampled,
        frame: FrameType, duration: int,
    ) -> None:  # fmt: skip
        writer, table = self.session.writer, self.session.identities.table
        site = site_number(writer, frame)
        settings = self._settings_of(name, group, site)
        varying = [settings.numbers[place] for place in settings.varying]

        def measure(parameter: Any, gradient: Any) -> list[int]:
            return measured(before.get(id(parameter)), parameter, gradient)

        place = 0
        while place < len(pairs):
            if compiled.append_updates is not None:
                place = compiled.append_updates(
                    table, writer, writer.append, settings, varying, measure if before else None, duration, pairs, place
                )
            if place < len(pairs):
                parameter, gradient = pairs[place]
                measures = measure(parameter, gradient)
                self._append(name, settings, varying, measures, parameter, gradient, frame, site, duration)
                place += 1

    def _append(
        self, name: str, settings: Settings, varying: list[int], measures: list[int], parameter: Any, gradient: Any,
        frame: FrameType, site: int, duration: int,
    ) -> None:  # fmt: skip
        """Append the row of a parameter."""
        session = self.session
        writer, find = session.writer, session.identities.find
        known = find(parameter)
        if known is None or known.row < writer.low:
            # Its value is the new one by now: the row that is written is that of the update alone.
            known = session.leaves.leaf(parameter, frame, None, known)
        more = known.extended()
        origin = self._origin(find(gradient), more.accumulated)
        told = origin > 0, bool(measures)
        update: Update | None = more.updating.get(told)
        if update is None or update.settings is not settings:
            update = more.updating[told] = self._renewed(name, update, settings, parameter, site, told)
        template, value = update.form.template, update.form.value(parameter)
        if value is NotImplemented:
            if not update.form.is_for(parameter):
                update = more.updating[told] = self._renewed(name, None, settings, parameter, site, told)
            template, value = update.form.read(parameter)
        rows = [known.row, origin, *varying] if origin else [known.row, *varying]
        first = more.first if more.first >= writer.base else None
        row = writer.append_many(
            template, value, rows + measures, writer.clock(), duration, 0, first, more.versions + 1
        )
        wrote(known, parameter, row)
        if writer.gate is not None:
            control.after(session, row, parameter, value, frame)

    def _settings_of(self, name: str, group: dict[str, Any], site: int) -> Settings:
        """The settings of a group, in whose place those of its last step stand where nothing has changed since."""
        values = tuple(map(group.get, SETTINGS))
        place = id(group), name, site, self.session.places.here.context
        before = self._settings.get(place)
        if before is not None and all(map(is_, values, before.values)):
            return before
        found: list[float] = []
        structure = arguments.separated(_told(values), found)
        numbers = [arguments.bits(number) for number in found]
        varying: Sequence[int] = ()
        if before is not None and before.structure == structure:
            place, structure = before.place, before.structure
            varying = arguments.varying_with(before.varying, before.numbers, numbers)
        elif len(self._settings) >= _MOST_GROUPS:
            self._settings.clear()
        found_now = self._settings[place] = Settings(place, structure, varying, values, numbers)
        return found_now

    def _renewed(
        self, name: str, update: Update | None, settings: Settings, parameter: Any, site: int, told: tuple[bool, bool]
    ) -> Update:
        """How the rows of a parameter look from here on: as before, where only numbers that vary have changed."""
        if update is not None and update.settings[:3] == settings[:3]:
            return Update(settings, update.form)
        return Update(settings, self._form(name, settings, parameter, site, *told))

    def _origin(self, known: Known | None, accumulated: int) -> int:
        """The row of a parameter's gradient: what was last added to it, or what the program has made of it since."""
        if known is None or known.row < self.session.writer.low or known.row & ROW_MASK < accumulated:
            return accumulated
        return known.row

    def _form(
        self, name: str, settings: Settings, parameter: torch.Tensor, site: int, has_gradient: bool, is_measured: bool
    ) -> Keeping:
        writer = self.session.writer
        count = len(settings.varying)
        told = arguments.entry(None, _told(settings.values), settings.varying) | placing(parameter)
        if is_measured:
            told["measured"] = arguments.numbers_behind(MEASURES, count)
            count += len(MEASURES)
        template = writer.template(
            Kind.OP,
            op=self.session.op_number(name, f"What a step of {name} makes of a parameter."),
            site=site,
            scope=self.session.places.here.context.path.number(writer),
            shape=shape_of(parameter),
            dtype=log_dtype(tensor_base.dtype(parameter)),
            attrs=writer.attributes(told),
            flags=Flag.IN_PLACE | Flag.NO_GRAD,
            input_count=1 + has_gradient,
            number_count=count,
        )
        return Keeping(template, parameter)


def _end(optimizer: Any) -> None:
    training_steps.end(optimizer, gradient_norm)


def _told(values: tuple[Any, ...]) -> dict[str, Any]:
    """Settings by name, of what may be told of them."""
    return {
        name: value
        for name, value in zip(SETTINGS, values, strict=True)
        if isinstance(value, (int, float, tuple, bool))
    }


class _Inside:
    """What torch has put its hooks around, as an attribute that can be replaced."""

    cell: CellType
    step: Any

    def __init__(self, hooked: Any) -> None:
        cell = hooked.__closure__[_HOOKED.co_freevars.index("func")]
        vars(self).update(cell=cell, step=cell.cell_contents)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)[name] = self.cell.cell_contents = value


def _is_inside_another(frame: FrameType) -> bool:
    """Whether the step that a frame of torch's makes is called by that of another optimizer."""
    outer = frame.f_back
    while outer is not None and outer.f_code is not _HOOKED:
        outer = outer.f_back
    return outer is not None


def _hooked(step: Any) -> Any:
    """What torch has put around a step, beneath what others have; None where there is nothing yet."""
    while step is not None and getattr(step, "__code__", None) is not _HOOKED:
        step = getattr(step, "__wrapped__", None)
    return step
