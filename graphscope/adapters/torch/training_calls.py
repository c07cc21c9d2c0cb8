"""Calls that are no ops and decide how a program trains: which they are, and what each is told as."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch.optim import lr_scheduler

from graphscope.adapters.kit.imported import importers
from graphscope.adapters.torch.held_graphs import held, held_by
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog import training_calls
from graphscope.eventlog.module_contents import Framework, contents
from graphscope.eventlog.training_calls import maker

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


class TrainingCalls(training_calls.TrainingCalls):
    """Follows them."""

    def __init__(self, session: Session, constructions: Constructions) -> None:
        super().__init__(session.writer)
        self.session = session
        self._constructions = constructions

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced."""
        for told in TOLD:
            for owner in told.owners():
                if told.method in owner.__dict__:
                    yield owner, told.method, self._followed(owner.__dict__[told.method], told)
        yield torch.nn.Module, _FLAG, _Flag(self)
        originals = {name: getattr(torch.nn.utils, name) for name in _CLIPPING}
        followed = {name: self._clipping(original, name) for name, original in originals.items()}
        for module, name in importers(originals):
            yield module, name, followed[name]

    def _followed(self, original: _Made, told: Told) -> _Made:
        session = self.session

        @functools.wraps(original)
        def called(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if session.ended:
                return original(owner, *args, **kwargs)
            place = session.places.here
            running = place.training_calls
            if place.busy or told.family in running:
                return original(owner, *args, **kwargs)
            running.add(told.family)
            try:
                before = self._known_before(told, owner, args)
                result = original(owner, *args, **kwargs)
            finally:
                running.discard(told.family)
            self._returned(told, owner, args or tuple(kwargs.values()), before, sys._getframe(1))
            return result

        return called

    @guarded
    def _known_before(self, told: Told, owner: Any, args: Any) -> Any:
        return told.before(self, owner, args)

    @guarded
    def _returned(self, told: Told, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
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
        self.clipped(name, [held] if isinstance(held, torch.Tensor) else held, args, self.session.frames.user(frame))

    @guarded
    def cleared(self, owner: Any, to_none: bool, frame: FrameType) -> None:
        if not self.session.ended and not self.session.places.here.busy:
            super().cleared(owner, to_none, self.session.frames.user(frame))

    @guarded
    def began(self, optimizer: Any) -> None:
        super().began(optimizer)

    @guarded
    def stepped(self, optimizer: Any, frame: FrameType, is_part: bool = False) -> None:
        frame = self.session.frames.user(frame)
        self.session.callers.tell_once(frame)
        super().stepped(optimizer, frame, is_part)

    @guarded
    def finish(self) -> None:
        super().finish()

    def held(self, before: int) -> list[int]:
        return held(self.session, before)

    def holder(self, rows: Sequence[int]) -> dict[str, Any]:
        return {} if self.session.memory is None else held_by(self.session, rows)

    def contents(self, module: torch.nn.Module) -> dict[str, Any]:
        number, site = lambda tensor: next(iter(self.known([tensor])), None), self._constructions.site
        return {
            **contents(_FRAMEWORK, module, number, site),
            "requires_grad": self.session.assignments.early(module),
            **self.partings(module),
        }

    def partings(self, module: torch.nn.Module) -> dict[str, Any]:
        parted = []
        for names, tensors, site in self.session.ties.parted(module):
            numbers = tuple(next(iter(self.known([each])), None) for each in tensors)
            parted.append({"names": names, "tensors": numbers, "site_number": site})
        return {"parted": parted}

    @guarded
    def flagged(self, module: torch.nn.Module, value: Any, frame: FrameType) -> None:
        if not self.session.ended and not self.session.places.here.busy and isinstance(value, bool):
            super().flagged(module, value, self.session.frames.user(frame))

    def met(self, tensors: Iterable[torch.Tensor]) -> list[int]:
        find, base, leaf = self.session.identities.find, self.session.writer.base, self.session.leaves.leaf
        for each in tensors:
            found = find(each)
            if found is None or found.row < base:
                leaf(each, None, None, found)
        return self.known(tensors)

    def known(self, tensors: Iterable[torch.Tensor]) -> list[int]:
        find, base = self.session.identities.find, self.session.writer.base
        found = [find(each) for each in tensors]
        return [each.extended().first - base for each in found if each is not None and each.row >= base]


_FRAMEWORK: Final = Framework(torch.nn.Module, torch.Tensor, "torch", frozenset(vars(torch.nn.Module())))


_FLAG: Final = "requires_grad"


class _Flag:
    """Sees `module.requires_grad = ...`, which sets an attribute that nothing reads; else it is as if it were not here.

    A descriptor costs nothing where other attributes of modules are set.
    """

    def __init__(self, calls: TrainingCalls) -> None:
        self._calls = calls

    def __get__(self, module: torch.nn.Module | None, owner: type) -> Any:
        try:
            return vars(module)[_FLAG]
        except (KeyError, TypeError):
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {_FLAG!r}") from None

    def __set__(self, module: torch.nn.Module, value: Any) -> None:
        vars(module)[_FLAG] = value
        self._calls.flagged(module, value, sys._getframe(1))

    def __delete__(self, module: torch.nn.Module) -> None:
        try:
            del vars(module)[_FLAG]
        except KeyError:
            raise AttributeError(_FLAG) from None


def _nothing(calls: TrainingCalls, owner: Any, args: Any) -> None:
    return None


def _made_optimizer(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    calls.made(owner, calls.session.frames.user(maker(frame, owner)))


def _regrouped(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    calls.regrouped(owner)


def _made_scheduler(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
    calls.scheduled(owner, calls.session.frames.user(maker(frame, owner)))


def _simply(call: str) -> Callable[[TrainingCalls, Any, Any, Any, FrameType], None]:
    """A call of which no more is to be told."""

    def tell(calls: TrainingCalls, owner: Any, args: Any, before: Any, frame: FrameType) -> None:
        calls.called(call, owner, calls.session.frames.user(frame))

    return tell


def _modes(calls: TrainingCalls, owner: torch.nn.Module, args: Any) -> list[bool]:
    return [each.training for each in owner.modules()]


def _moded(calls: TrainingCalls, owner: torch.nn.Module, args: Any, before: list[bool], frame: FrameType) -> None:
    if _modes(calls, owner, args) != before:
        calls.moded(owner, bool(args[0]) if args else True, calls.session.frames.user(frame))


def _scaler(call: str) -> Callable[[TrainingCalls, Any, Any, Any, FrameType], None]:
    """A call of a scaler of gradients; `before` is how many steps had ended before."""

    def tell(calls: TrainingCalls, owner: Any, args: Any, before: int, frame: FrameType) -> None:
        enabled, is_skipped = bool(owner.is_enabled()), call == "scaler.step" and calls.steps == before
        optimizer = next((calls.marks.number(each) for each in args if isinstance(each, torch.optim.Optimizer)), 0)
        if enabled and owner._scale is not None:
            calls.session.writer.sampling.note_scale(owner._scale)
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


_CLIPPING: Final = ("clip_grad_norm_", "clip_grad_value_")

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
            if session.ended:
                original(owner, set_to_none)
                return
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
