"""What decides how a program trains, as a log tells of it: optimizers and modules, and the calls on them."""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, Final

from graphscope.eventlog.frame_variables import local_variable
from graphscope.eventlog.places import keep_sources_beside, site_number
from graphscope.eventlog.training_marks import TrainingMarks
from graphscope.eventlog.writer import Writer

_FIRST_LOOK: Final = 4
"""From this step on, at each that is a power of 2, it is told what of earlier ones is still held."""

_MOST_HELD: Final = 64
"""So many of those tensors are named, the newest."""

_LEAST_ROOM: Final = 32
_MOST_NAMES: Final = 64
_PLAIN: Final = (int, float, str, bool)


class TrainingCalls(ABC):
    """Tells of them. A framework says what it knows of its tensors and modules, and what is called at which line.

    Args:
        writer: The log.
    """

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.marks = TrainingMarks(writer)
        self.steps = 0
        """So many steps of optimizers have ended."""
        self._described: set[int] = set()
        """The numbers of the optimizers that the log was told of."""
        self._last_end = 0
        """The row behind the last step that has ended."""
        self._begins: dict[int, int] = {}
        """The row where the step of each optimizer that makes one begins."""
        self._untold: list[tuple[str, weakref.ref[Any]]] = []
        """What is to be told: the parameters of optimizers and the contents of modules."""
        self._told: list[weakref.ref[Any]] = []
        """The modules that were told of, or are to be."""
        self._room = _LEAST_ROOM
        """So many are let wait before those that are gone are taken out."""

    # What a framework says -------------------------------------------------------------------------------------------

    @abstractmethod
    def known(self, tensors: Iterable[Any]) -> list[int]:
        """The numbers of those tensors that the log has met."""

    @abstractmethod
    def met(self, tensors: Iterable[Any]) -> list[int]:
        """The numbers of tensors; those that the log has not met are met here."""

    def held(self, before: int) -> list[int]:
        """The rows of tensors made before a row, alive and with their graphs, where that is followed."""
        return []

    def holder(self, rows: Sequence[int]) -> dict[str, Any]:
        """Which variable of the program holds most of such tensors, where that is followed."""
        return {}

    @abstractmethod
    def contents(self, module: Any) -> dict[str, Any]:
        """What is told of a module that is in no other: see `module_contents`."""

    def partings(self, module: Any) -> dict[str, Any]:
        """What is told of a module's parameters that were one and are two, where that is followed."""
        return {}

    # Optimizers ------------------------------------------------------------------------------------------------------

    def made(self, optimizer: Any, frame: FrameType | None) -> None:
        """An optimizer was made at a line; None: before the recording began."""
        site = 0 if frame is None else site_number(self.writer, frame)
        groups = [{"count": len(each["params"]), "settings": _plain(each)} for each in optimizer.param_groups]
        facts = {"type": type(optimizer).__qualname__, "groups": groups, "late": frame is None}
        number = self.marks.number(optimizer)
        self._described.add(number)
        self.marks.introduced("optimizer", number, site, facts)
        self._wait("parameters", optimizer)

    def regrouped(self, optimizer: Any) -> None:
        """Parameters were added to an optimizer."""
        if self._is_described(optimizer) and all(each() is not optimizer for _, each in self._untold):
            self._wait("parameters", optimizer)

    def began(self, optimizer: Any) -> None:
        """A step begins: what the log does not know of the optimizer and of the modules that ran is told."""
        if not self._is_described(optimizer):
            self.made(optimizer, None)
        if self._untold:
            self._tell(optimizer)
        self._begins[id(optimizer)] = self.writer.end

    def _is_described(self, optimizer: Any) -> bool:
        return self.marks.number(optimizer) in self._described

    def stepped(self, optimizer: Any, frame: FrameType, is_part: bool = False) -> None:
        """A step has ended; `is_part`: of one that another optimizer makes, which is counted."""
        rates = [group.get("lr") for group in optimizer.param_groups]
        plain = [float(each) for each in rates if isinstance(each, (int, float))]
        inside = self.writer.end - self._begins.pop(id(optimizer), self.writer.end)
        numbers: dict[str, Sequence[float]] = {"rows": [inside], "lr": plain if len(plain) == len(rates) else []}
        self.marks.append_numbers("step", self.marks.number(optimizer), frame, numbers)
        if is_part:
            return
        self.steps += 1
        if self.steps >= _FIRST_LOOK and self.steps & (self.steps - 1) == 0:  # seldom: all that is known is looked at
            self._tell_held(frame)
        self._last_end = self.writer.end

    def _tell_held(self, frame: FrameType) -> None:
        """Tell of tensors of steps before this one that are held together with their graphs."""
        rows = self.held(self._last_end)
        if rows:
            facts = {"count": len(rows), "tensors": tuple(rows[-_MOST_HELD:]), "steps": self.steps}
            facts |= {"holder": holder} if (holder := self.holder(rows)) else {}
            self.marks.append("held", 0, frame, (self.steps,), facts)

    def scheduled(self, scheduler: Any, frame: FrameType) -> None:
        """A scheduler of learning rates was made at a line."""
        optimizer = getattr(scheduler, "optimizer", None)
        number = 0 if optimizer is None else self.marks.number(optimizer)
        facts = {"type": type(scheduler).__qualname__, "optimizer": number}
        self.marks.introduced("scheduler", self.marks.number(scheduler), site_number(self.writer, frame), facts)

    # Calls -----------------------------------------------------------------------------------------------------------

    def called(self, call: str, owner: Any, frame: FrameType) -> None:
        """A method has returned of which no more is to be told."""
        self.marks.append(call, self.marks.number(owner), frame, (), {})

    def cleared(self, owner: Any, to_none: bool, frame: FrameType) -> None:
        """`zero_grad` of a module or an optimizer has returned."""
        self.marks.append("zero_grad", self.marks.number(owner), frame, (to_none,), {"to_none": bool(to_none)})

    def clipped(self, name: str, tensors: Iterable[Any], limits: Iterable[Any], frame: FrameType) -> None:
        """Gradients were clipped; the first of some arguments that is a number is the limit."""
        given = [*tensors]
        numbers = tuple(self.known(given))
        limit = next((float(each) for each in limits if isinstance(each, (int, float))), None)
        facts = {"limit": limit, "tensors": numbers, "given": len(given)}
        self.marks.append(name, 0, frame, tuple(facts.values()), facts)

    def moded(self, module: Any, mode: bool, frame: FrameType) -> None:
        """`train()` or `eval()` of a module has changed the mode of something in it."""
        others = [name for name, each in module.named_modules() if each.training is not mode][:_MOST_NAMES]
        key = mode, len(others), *others[:1]
        facts = {"training": mode, "type": type(module).__qualname__, "others": others}
        self.marks.append("train" if mode else "eval", self.marks.number(module), frame, key, facts)

    # Modules ---------------------------------------------------------------------------------------------------------

    def ran(self, module: Any) -> None:
        """A module that is in no other was called for the first time."""
        self._told = [*(each for each in self._told if each() is not None), weakref.ref(module)]
        self._wait("module", module)

    def parted(self) -> None:
        """Parameters that were one are two: of modules that were told of it is told again."""
        for reference in self._told:
            if (module := reference()) is not None:
                self._wait("partings", module)

    def flagged(self, module: Any, value: bool, frame: FrameType) -> None:
        """A module was given an attribute `requires_grad`, which does nothing to its parameters."""
        numbers = tuple(self.known(module.parameters()))
        facts = {"to": value, "type": type(module).__qualname__, "tensors": numbers}
        self.marks.append("requires_grad", self.marks.number(module), frame, (value, *numbers), facts)

    def finish(self) -> None:
        """The recording ends: tell what waits; of a training, keep the files that its settings may stand in."""
        self._tell(None)
        if self.steps:
            keep_sources_beside(self.writer)

    def _wait(self, what: str, owner: Any) -> None:
        """Note what is to be told; of what is gone by then it is not."""
        if len(self._untold) >= self._room:
            self._untold = [each for each in self._untold if each[1]() is not None]
            self._room = 2 * len(self._untold) + _LEAST_ROOM
        self._untold.append((what, weakref.ref(owner)))

    def _tell(self, stepping: Any) -> None:
        """Tell the contents of modules that ran, and the parameters of one optimizer, or of all."""
        untold, self._untold = self._untold, []
        for what, reference in untold:
            owner = reference()
            if owner is None:
                continue
            if what == "parameters" and stepping is not None and owner is not stepping:
                self._untold.append((what, reference))
                continue
            if what == "parameters":
                facts = self._parameters(owner, stepping)
            else:
                facts = self.contents(owner) if what == "module" else self.partings(owner)
            self.marks.describe(what, self.marks.number(owner), facts)

    def _parameters(self, optimizer: Any, stepping: Any) -> dict[str, Any]:
        """What an optimizer holds; what it has not used when the recording ends is met no more."""
        number = self.known if stepping is None else self.met
        return {"groups": [number(each["params"]) for each in optimizer.param_groups]}


def maker(frame: FrameType, owner: Any) -> FrameType:
    """The line that made an object: behind the frames of its own `__init__`."""
    while frame.f_code.co_name == "__init__" and frame.f_code.co_argcount and frame.f_back is not None:
        if local_variable(frame, frame.f_code.co_varnames[0]) is not owner:
            break
        frame = frame.f_back
    return frame


def _plain(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a group that are plain values, or a few of them: `betas`."""
    return {name: each for name, each in settings.items() if name != "params" and _is_plain(each)}


def _is_plain(setting: Any) -> bool:
    return isinstance(setting, _PLAIN) or (isinstance(setting, tuple) and all(map(_is_plain, setting)))
