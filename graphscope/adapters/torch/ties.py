"""Parameters that two modules share, and the line that puts another, or another module, in the place of one."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.modules.module import register_module_module_registration_hook

from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.places import site_number

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

Module = torch.nn.Module


class _Place(NamedTuple):
    """A parameter of a module, by name."""

    owner: weakref.ref[Module]
    name: str

    @property
    def parameter(self) -> torch.nn.Parameter | None:
        """What it is now."""
        owner = self.owner()
        return None if owner is None else owner._parameters.get(self.name)

    def moved(self, old: Module, new: weakref.ref[Module]) -> _Place:
        """The same place in the module that has taken the place of another."""
        return self._replace(owner=new) if self.owner() is old else self


class Ties:
    """Follows the registering of parameters and modules."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._owners: dict[int, weakref.ref[Module]] = {}
        """The modules that have parameters, by `id`."""
        self._parted: list[tuple[_Place, _Place, int]] = []
        """Which had one parameter until the first was replaced at a line."""
        self.changed: Callable[[], None] = lambda: None
        """Is called when there are more of them."""

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced."""
        yield Module, "register_parameter", self._followed(Module.register_parameter)

    def register(self) -> Callable[[], None]:
        """Begin to see modules that are put in the place of others, by torch's hook; the function returned ends it."""
        return register_module_module_registration_hook(self._put).remove

    def _put(self, module: Module, name: str, new: Module | None) -> None:
        session = self.session
        old = module._modules.get(name)
        if old is None or new is None or old is new or session.ended or session.places.here.busy:
            return
        self._exchanged(old, new, _getframe(1))

    @guarded
    def _exchanged(self, old: Module, new: Module, frame: FrameType) -> None:
        """A module takes the place of another: of what had been shared with that, its parameters of the same names."""
        inside = {id(each) for each in old.modules()} | {id(each) for each in new.modules()}
        fresh = dict(new.named_modules())
        for path, each in old.named_modules():
            taking = fresh.get(path)
            if taking is None:
                continue
            self._follow(each, taking)
            for name, parameter in each._parameters.items():
                following = taking._parameters.get(name)
                if parameter is None or following is None or following is parameter:
                    continue
                others = [place for place, owner in self._places(parameter) if id(owner) not in inside]
                if others and following.shape[1:] == parameter.shape[1:]:  # a table may get more rows
                    self._note(_Place(weakref.ref(taking), name), others, frame)

    def _follow(self, old: Module, new: Module) -> None:
        """What was noted of a module holds of the one in its place."""
        if any(place.owner() is old for *places, _ in self._parted for place in places):
            here = weakref.ref(new)
            self._parted = [(one.moved(old, here), other.moved(old, here), site) for one, other, site in self._parted]

    def _followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        session = self.session

        @functools.wraps(original)
        def register_parameter(module: Module, name: str, param: torch.nn.Parameter | None) -> None:
            replaced = module.__dict__.get("_parameters", {}).get(name)
            original(module, name, param)
            if not session.ended and not session.places.here.busy:
                self._registered(module, name, replaced, _getframe(1))

        return register_parameter

    @guarded
    def _registered(self, module: Module, name: str, replaced: torch.nn.Parameter | None, frame: FrameType) -> None:
        key = id(module)
        if key not in self._owners:
            self._owners[key] = weakref.ref(module, functools.partial(self._owners.pop, key))
        if replaced is None or module._parameters[name] is replaced:
            return
        others = [place for place, _ in self._places(replaced)]
        if others:
            self._note(_Place(self._owners[key], name), others, frame)

    def _places(self, parameter: torch.nn.Parameter) -> Iterator[tuple[_Place, Module]]:
        """Where modules hold a parameter."""
        for reference in self._owners.values():
            owner = reference()
            for name, each in owner._parameters.items() if owner is not None else ():
                if each is parameter and owner is not None:
                    yield _Place(reference, name), owner

    def _note(self, replaced: _Place, others: list[_Place], frame: FrameType) -> None:
        site = site_number(self.session.writer, self.session.frames.user(frame))
        self._parted += [(replaced, other, site) for other in others]
        self.changed()

    def parted(self, root: Module) -> Iterator[tuple[tuple[str, str], tuple[Any, Any], int]]:
        """Parameters of a module that were one and are two: their names, they themselves, and the line."""
        paths = {id(each): path for path, each in root.named_modules()} if self._parted else {}
        for *places, site in self._parted:
            now = tuple(place.parameter for place in places)
            names = [f"{paths[id(place.owner())]}.{place.name}" for place in places if id(place.owner()) in paths]
            if len(names) == 2 and now[0] is not None and now[1] is not None and now[0] is not now[1]:
                yield (names[0].lstrip("."), names[1].lstrip(".")), (now[0], now[1]), site
