"""Classes whose constructor takes what their body declares: each annotated name is a setting, with its default."""

from __future__ import annotations

from dataclasses import KW_ONLY as KW_ONLY
from inspect import Parameter, Signature
from typing import Any, ClassVar, dataclass_transform


@dataclass_transform()  # so that type checkers and editors know the constructors
class Declared:
    """Collects the settings of a class, those of its base first; `_: KW_ONLY` says that those after it are named."""

    __signature__: ClassVar[Signature] = Signature()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not cls.__module__.startswith("graphscope."):
            return  # classes of programs have constructors of their own
        settings = dict(cls.__signature__.parameters)
        kind: Any = Parameter.POSITIONAL_OR_KEYWORD
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if annotation == "KW_ONLY":
                kind = Parameter.KEYWORD_ONLY
            elif not annotation.startswith("ClassVar"):
                default = vars(cls).get(name, Parameter.empty)
                earlier = settings.get(name)
                settings[name] = Parameter(
                    name, kind if earlier is None else earlier.kind, default=default, annotation=annotation
                )
                if default is not Parameter.empty:
                    delattr(cls, name)  # it would hide an attribute of an object, such as a buffer of a module
        cls.__signature__ = Signature(sorted(settings.values(), key=lambda setting: setting.kind))

    @classmethod
    def given(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Every setting by its name, as the constructor was given it.

        Raises:
            TypeError: There is an argument too many, or one is missing.
        """
        try:
            bound = cls.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.__init__(): {error}") from None
        bound.apply_defaults()
        return dict(bound.arguments)
