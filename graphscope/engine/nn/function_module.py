"""Modules that are functions with settings: a class names its function and lists the settings, the rest is derived."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Any, ClassVar, dataclass_transform

from graphscope.engine.nn.module import Module


@dataclass_transform()
class FunctionModule(Module):
    """A module whose `forward` is a function of its inputs, with settings that the constructor takes.

    Annotated names in the body of a class are its settings, in the order of the constructor's arguments, after those of
    its base; they are attributes of the module, shown when it is printed, and passed to the function by name.
    """

    function: ClassVar[Any] = None
    """What it computes: a function of `nn.functional`."""
    passed: ClassVar[Mapping[str, str]] = {}
    """The function's names of settings that it calls otherwise; a setting called "" is not passed to it."""
    shown: ClassVar[tuple[str, ...] | None] = None
    """Which settings are shown when the module is printed; None: all, and `inplace` where it is true."""
    trains: ClassVar[bool] = False
    """Whether the function is told that the module is being trained."""
    keyword_only: ClassVar[bool] = False
    """Whether settings have to be named."""
    __signature__: ClassVar[Signature] = Signature()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith(f"{__package__}."):  # classes of programs have constructors of their own
            kind = Parameter.KEYWORD_ONLY if cls.keyword_only else Parameter.POSITIONAL_OR_KEYWORD
            settings = dict(cls.__signature__.parameters)
            for name, annotation in vars(cls).get("__annotations__", {}).items():
                if annotation.startswith("ClassVar"):
                    continue
                default = vars(cls).get(name, Parameter.empty)
                settings[name] = Parameter(name, kind, default=default, annotation=annotation)
                if default is not Parameter.empty:
                    delattr(cls, name)  # it would hide a buffer of that name
            cls.__signature__ = Signature(list(settings.values()))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        try:
            given = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}.__init__(): {error}") from None
        given.apply_defaults()
        for name, value in self.settled(given.arguments).items():
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
