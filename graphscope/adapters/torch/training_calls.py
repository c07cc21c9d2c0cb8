"""Calls that are no ops and decide how a program trains: which they are, and what each is told as."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch.optim import lr_scheduler

from graphscope.adapters.kit.training_marks import TrainingMarks
from graphscope.adapters.torch.held_graphs import held
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.module_contents import contents
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.places import keep_sources_beside, site_number

if TYPE_CHECKING:
    from graphscope.adapters.torch.constructions import Constructions
    from graphscope.adapters.torch.session import Session

_Made = Callable[..., Any]


class Told(NamedTuple):
    """A method that is told of when it returns."""

    call: str
    """What the log calls it."""
    owners: Callable[[], Iterable[type]]
    """The classes that have it."""
    method: str
    family: str
    """Of calls inside of each other that are of one family, the outermost is told."""
    before: Callable[[TrainingCalls, Any, Any], Any]
    """From the object and the arguments to what must be known from before the call."""
    tell: Callable[[TrainingCalls, Any, Any, Any, FrameType], None]
    """From the object, the arguments, what was known before, and the line, to the mark."""


_FIRST_LOOK: Final = 4
"""From this step on, at each that is a power of 2, it is told what of earlier ones is still held."""

_MOST_HELD: Final = 64
"""So many of those tensors are named, the newest."""


class TrainingCalls:
    """Follows them."""

    def __init__(self, session: Session, constructions: Constructions) -> None:
        self.session = session
        self._constructions = constructions
        self.marks = TrainingMarks(session.writer)
        self.steps = 0
        """So many steps of optimizers have ended."""
        self._last_end = 0
        """The row behind the last step that has ended."""
        self._begins: dict[int, int] = {}
        """The row where the step of each optimizer that makes one begins."""
        self._untold: list[weakref.ref[Any]] = []
        """Optimizers whose parameters, and modules whose contents, are to be told."""
        self._room = _LEAST_ROOM
        """So many are let wait before those that are gone are taken out."""

    def entries(self) -> Iterator[tuple[Any, str, _Made]]:
        """What is to be replaced."""
        for told in TOLD:
            for owner in told.owners():
                if told.method in owner.__dict__:
                    yield owner, told.method, self._followed(owner.__dict__[told.method], told)
        for name in _CLIPPING:
            original = getattr(torch.nn.utils, name)
            clip = self._clipping(original, name)
            for module in [*sys.modules.values()]:  # also where a program has imported it to
                if getattr(module, "__dict__", {}).get(name) is original:
                    yield module, name, clip

    def _followed(self, original: _Made, told: Told) -> _Made:
        session = self.session

        @functools.wraps(original)
        def called(owner: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            running = place.training_calls
            if place.busy or session.ended or told.family in running:
                return original(owner, *args, **kwargs)
            running.add(told.family)
            try:
                before = self._known_before(told, owner, args)
                result = original(owner, *args, **kwargs)
            finally:
                running.discard(told.family)
            self._tell(told, owner, args or tuple(kwargs.values()), before, sys._getframe(1))
            return result

        return called

    @guarded
    def _known_before(self, told: Told, owner: Any, args: Any) -> Any:
        return told.before(self, owner, args)

    @guarded
    def _tell(self, told: Told, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
        if not self.session.ended:
            told.tell(self, owner, args, before, frame)

    def _clipping(self, original: _Made, name: str) -> _Made:
        session = self.session

        @functools.wraps(original)
        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            place = session.places.here
            if place.busy or session.ended:
                return original(parameters, *args, **kwargs)
            held = parameters
            if not isinstance(parameters, (torch.Tensor, list, tuple)):
                held = list(parameters)
                parameters = (each for each in held)  # what torch is given is used up by it, as before
            result = original(parameters, *args, **kwargs)
            self._clipped(name, held, args or tuple(kwargs.values()), sys._getframe(1))
            return result

        return clip

    @guarded
    def _clipped(self, name: str, held: Any, args: Any, frame: FrameType) -> None:
        tensors = tuple(self.known([held] if isinstance(held, torch.Tensor) else held))
        limit = next((float(each) for each in args if isinstance(each, (int, float))), None)
        frame = self.session.frames.user(frame)
        self.marks.append(name, 0, frame, (limit, tensors), {"limit": limit, "tensors": tensors})

    @guarded
    def cleared(self, owner: Any, to_none: bool, frame: FrameType) -> None:
        """`zero_grad` of a module or an optimizer has returned."""
        if not self.session.ended and not self.session.places.here.busy:
            frame = self.session.frames.user(frame)
            self.marks.append("zero_grad", self.marks.number(owner), frame, (to_none,), {"to_none": bool(to_none)})

    # Optimizers ------------------------------------------------------------------------------------------------------

    @guarded
    def began(self, optimizer: Any) -> None:
        """A step begins: what the log does not know of the optimizer and of the modules that ran is told."""
        if not self.marks.is_known(optimizer):
            self.made(optimizer, None)
        if self._untold:
            self._tell_untold(optimizer)
        self._begins[id(optimizer)] = self.session.writer.end

    @guarded
    def stepped(self, optimizer: Any, frame: FrameType) -> None:
        """A step has ended."""
        self.steps += 1
        rates = [group.get("lr") for group in optimizer.param_groups]
        plain = [float(each) for each in rates if isinstance(each, (int, float))]
        inside = self.session.writer.end - self._begins.pop(id(optimizer), self.session.writer.end)
        numbers: dict[str, Sequence[float]] = {"rows": [inside], "lr": plain if len(plain) == len(rates) else []}
        frame = self.session.frames.user(frame)
        self.session.callers.tell_once(frame)
        self.marks.append_numbers("step", self.marks.number(optimizer), frame, numbers)
        if self.steps >= _FIRST_LOOK and self.steps & (self.steps - 1) == 0:  # seldom: all that is known is looked at
            self._tell_held(frame)
        self._last_end = self.session.writer.end

    def _tell_held(self, frame: FrameType) -> None:
        """Tell of tensors of steps before this one that are held together with their graphs."""
        rows = held(self.session, self._last_end)
        if rows:
            facts = {"count": len(rows), "tensors": tuple(rows[-_MOST_HELD:]), "steps": self.steps}
            self.marks.append("held", 0, frame, (self.steps,), facts)

    def made(self, optimizer: Any, frame: FrameType | None) -> None:
        """Describe an optimizer that was made at a line; None: before the recording began."""
        site = 0 if frame is None else site_number(self.session.writer, frame)
        groups = [{"count": len(each["params"]), "settings": _plain(each)} for each in optimizer.param_groups]
        facts = {"type": type(optimizer).__qualname__, "groups": groups, "late": frame is None}
        self.marks.introduced("optimizer", self.marks.introduce(optimizer), site, facts)
        self._wait(optimizer)

    def regrouped(self, optimizer: Any) -> None:
        """Parameters were added to an optimizer."""
        if self.marks.is_known(optimizer) and all(each() is not optimizer for each in self._untold):
            self._wait(optimizer)

    def ran(self, module: torch.nn.Module) -> None:
        """A module that is in no other was called for the first time."""
        self._wait(module)

    def _wait(self, owner: Any) -> None:
        """Note what is to be told of; what is gone by then is not."""
        if len(self._untold) >= self._room:
            self._untold = [each for each in self._untold if each() is not None]
            self._room = 2 * len(self._untold) + _LEAST_ROOM
        self._untold.append(weakref.ref(owner))

    @guarded
    def finish(self) -> None:
        """The recording ends: tell what waits; of a training, keep the files that its settings may stand in."""
        self._tell_untold(None)
        if self.steps:
            keep_sources_beside(self.session.writer)

    def _tell_untold(self, stepping: Any) -> None:
        """Tell the contents of modules that ran, and the parameters of one optimizer, or of all."""
        untold, self._untold = self._untold, []
        for reference in untold:
            owner = reference()
            if isinstance(owner, torch.nn.Module):
                self._tell_module(owner)
            elif owner is not None and (stepping is None or owner is stepping):
                number = self.known if stepping is None else self._met
                groups = [number(each["params"]) for each in owner.param_groups]
                self.marks.describe("parameters", self.marks.number(owner), {"groups": groups})
            elif owner is not None:
                self._untold.append(reference)

    def _tell_module(self, module: torch.nn.Module) -> None:
        number, site = lambda tensor: next(iter(self.known([tensor])), None), self._constructions.site
        facts = contents(module, number, site)
        facts["requires_grad"] = self.session.assignments.early(module)
        facts["parted"] = [
            {"names": names, "tensors": tuple(map(number, tensors)), "site_number": site}
            for names, tensors, site in self.session.ties.parted(module)
        ]
        self.marks.describe("module", self.marks.number(module), facts)

    def _met(self, tensors: Iterable[torch.Tensor]) -> list[int]:
        """The numbers of tensors; those that the log has not met are met here."""
        find, base, leaf = self.session.identities.find, self.session.writer.base, self.session.leaves.leaf
        for each in tensors:
            found = find(each)
            if found is None or found.row < base:
                leaf(each, None, None, found)
        return self.known(tensors)

    def known(self, tensors: Iterable[torch.Tensor]) -> list[int]:
        """The numbers of those tensors that the log has met."""
        find, base = self.session.identities.find, self.session.writer.base
        found = [find(each) for each in tensors]
        return [each.extended().first - base for each in found if each is not None and each.row >= base]


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a group that are plain values."""
    return {name: each for name, each in settings.items() if name != "params" and isinstance(each, _PLAIN)}


def _maker(frame: FrameType, owner: Any) -> FrameType:
    """The line that made an object: behind the frames of its own `__init__`."""
    while frame.f_code.co_name == "__init__" and frame.f_code.co_argcount and frame.f_back is not None:
        if frame.f_locals.get(frame.f_code.co_varnames[0]) is not owner:
            break
        frame = frame.f_back
    return frame


def _nothing(calls: TrainingCalls, owner: Any, args: Any) -> None:
    return None


def _made_optimizer(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    calls.made(owner, calls.session.frames.user(_maker(frame, owner)))


def _regrouped(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    calls.regrouped(owner)


def _made_scheduler(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    frame = calls.session.frames.user(_maker(frame, owner))
    optimizer = getattr(owner, "optimizer", None)
    facts = {"type": type(owner).__qualname__, "optimizer": 0 if optimizer is None else calls.marks.number(optimizer)}
    site = site_number(calls.session.writer, frame)
    calls.marks.introduced("scheduler", calls.marks.introduce(owner), site, facts)


def _simply(call: str) -> Callable[[TrainingCalls, Any, Any, Any, FrameType], None]:
    """A call of which no more is to be told."""

    def tell(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
        calls.marks.append(call, calls.marks.number(owner), calls.session.frames.user(frame), (), {})

    return tell


def _modes(calls: TrainingCalls, owner: torch.nn.Module, args: Any) -> list[bool]:
    return [each.training for each in owner.modules()]


def _moded(calls: TrainingCalls, owner: torch.nn.Module, args: Any, before: list[bool], frame: FrameType) -> None:
    after = _modes(calls, owner, args)
    if after != before:
        mode = bool(args[0]) if args else True
        others = [name for name, each in owner.named_modules() if each.training is not mode][:_MOST_NAMES]
        frame = calls.session.frames.user(frame)
        key = mode, len(others), *others[:1]
        facts = {"training": mode, "type": type(owner).__qualname__, "others": others}
        calls.marks.append("train" if mode else "eval", calls.marks.number(owner), frame, key, facts)


def _scaler(call: str) -> Callable[[TrainingCalls, Any, Any, Any, FrameType], None]:
    """A call of a scaler of gradients; `before` is how many steps had ended before."""

    def tell(calls: TrainingCalls, owner: Any, args: Any, before: int, frame: FrameType) -> None:
        enabled, is_skipped = bool(owner.is_enabled()), call == "scaler.step" and calls.steps == before
        optimizer = next((calls.marks.number(each) for each in args if isinstance(each, torch.optim.Optimizer)), 0)
        facts = {"enabled": enabled, "optimizer": optimizer, "skipped": is_skipped}
        frame = calls.session.frames.user(frame)
        calls.marks.append(call, calls.marks.number(owner), frame, tuple(facts.values()), facts)

    return tell


def _steps(calls: TrainingCalls, owner: Any, args: Any) -> int:
    return calls.steps


def _schedulers() -> Iterator[type]:
    waiting: list[type] = [lr_scheduler.LRScheduler]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__ == lr_scheduler.__name__:
            yield kind


def _optimizer() -> Iterator[type]:
    yield torch.optim.Optimizer


def _module() -> Iterator[type]:
    yield torch.nn.Module


def _scalers() -> Iterator[type]:
    yield torch.amp.GradScaler


_PLAIN: Final = (int, float, str, bool)
_CLIPPING: Final = ("clip_grad_norm_", "clip_grad_value_")
_LEAST_ROOM: Final = 32
_MOST_NAMES: Final = 64

TOLD: Final = (
    Told("optimizer", _optimizer, "__init__", "optimizer", _nothing, _made_optimizer),
    Told("parameters", _optimizer, "add_param_group", "optimizer", _nothing, _regrouped),
    Told("load_state_dict", _optimizer, "load_state_dict", "optimizer", _nothing, _simply("load_state_dict")),
    Told("load_state_dict", _module, "load_state_dict", "module", _nothing, _simply("load_state_dict")),
    Told("scheduler", _schedulers, "__init__", "scheduler", _nothing, _made_scheduler),
    Told("scheduler.step", _schedulers, "step", "scheduler", _nothing, _simply("scheduler.step")),
    Told("train", _module, "train", "mode", _modes, _moded),
    Told("scaler.scale", _scalers, "scale", "scaler", _steps, _scaler("scaler.scale")),
    Told("scaler.unscale_", _scalers, "unscale_", "scaler", _steps, _scaler("scaler.unscale_")),
    Told("scaler.step", _scalers, "step", "scaler", _steps, _scaler("scaler.step")),
    Told("scaler.update", _scalers, "update", "scaler", _steps, _scaler("scaler.update")),
)
"""The methods that are told of; `zero_grad` and the steps of optimizers are followed where their rows are written."""


class Clearing:
    """Follows `zero_grad`, which mostly sets gradients to None: one mark tells of all, our mode need not see each."""

    def __init__(self, calls: TrainingCalls) -> None:
        self._calls = calls

    def entries(self) -> Iterator[tuple[Any, str, _Made]]:
        """What is to be replaced."""
        for owner, parameters in _HOLDING:
            yield owner, "zero_grad", self._clearing(owner.zero_grad, parameters)

    def _clearing(self, original: _Made, parameters: Callable[[Any], Iterable[torch.Tensor]]) -> _Made:
        session, tell = self._calls.session, self._calls.cleared

        @functools.wraps(original)
        def zero_grad(owner: Any, set_to_none: bool = True) -> None:
            if not set_to_none:
                original(owner, set_to_none)
            else:
                with aside(session):
                    original(owner, set_to_none)
                    session.assignments.cleared(parameters(owner), sys._getframe(1))
            tell(owner, set_to_none, sys._getframe(1))

        return zero_grad


def _of_groups(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


_HOLDING: Final[tuple[tuple[Any, Callable[[Any], Iterable[torch.Tensor]]], ...]] = (
    (torch.nn.Module, torch.nn.Module.parameters),
    (torch.optim.Optimizer, _of_groups),
)
"""Who has a `zero_grad`, and how its parameters are had."""
