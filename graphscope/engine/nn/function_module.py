"""Modules that are functions with settings: a class names its function and lists the settings, the rest is derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from graphscope.engine.core.settings import Declared
from graphscope.engine.nn.module import Module


class FunctionModule(Declared, Module):
    """A module whose `forward` is a function of its inputs, with settings that the constructor takes.

    The settings that the body of a class declares are attributes of the module, shown when it is printed, and passed to
    the function by name.
    """

    function: ClassVar[Any] = None
    """What it computes: a function of `nn.functional`."""
    passed: ClassVar[Mapping[str, str]] = {}
    """The function's names of settings that it calls otherwise; a setting called "" is not passed to it."""
    shown: ClassVar[tuple[str, ...] | None] = None
    """Which settings are shown when the module is printed; None: all, and `inplace` where it is true."""
    trains: ClassVar[bool] = False
    """Whether the function is told that the module is being trained."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        for name, value in self.settled(self.given(args, kwargs)).items():
            setattr(self, name, value)

    def settled(self, settings: dict[str, Any]) -> dict[str, Any]:
        """The settings as the module keeps them."""
        return settings

    def forward(self, *inputs: Any, **named: Any) -> Any:
        names = {name: self.passed.get(name, name) for name in self.__signature__.parameters}
        settings = {name: getattr(self, setting) for setting, name in names.items() if name}
        if not settings.get("inplace", True):
            del settings["inplace"]
        if self.trains:
            settings["training"] = self.training
        function: Callable[..., Any] = type(self).function
        return function(*inputs, **settings, **named)

    def extra_repr(self) -> str:
        names = self.__signature__.parameters if self.shown is None else self.shown
        hidden = "inplace" if self.shown is None and not getattr(self, "inplace", True) else None
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names if name != hidden)
