"""Names of the program's values: what a module calls what it holds, or the program the arguments of a call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence, Sized
from types import FrameType
from typing import Any, Final, cast

from graphscope.adapters.kit.identity import Notes
from graphscope.eventlog.frame_variables import variables
from graphscope.eventlog.places import argument_text


class GivenNames(Notes[str]):
    """What a library calls values of the framework below it, as Keras does the variables of TensorFlow."""

    def __init__(self) -> None:
        super().__init__()
        self.earlier: list[Callable[[], None]] = []
        """What notes the names of values made before the recording; called when a name is first asked for."""

    def of(self, value: Any) -> str | None:
        """What a value is called, or None."""
        while self.earlier:
            self.earlier.pop()()
        return super().of(value)


GIVEN: Final = GivenNames()
"""Those of all libraries."""

_MOST_MODULES: Final = 1000


class Names(Notes[str]):
    """What modules call the values that they hold."""

    def name(self, module: Any, held: Sequence[tuple[str, Any]], frame: FrameType, *, alone: bool) -> None:
        """Name what a module holds.

        Args:
            module: The module.
            held: The values, with the names by which it calls them.
            frame: The program's, which calls the module.
            alone: Whether it is a layer that stands alone: it lends its values the name of its variable.
        """
        own = {id(value) for _, value in held}  # a wrapper holds what is named already
        taken = {name for key, (_, name) in list(self.items()) if key not in own}
        prefixes = iter(("",))
        if alone or any(name in taken for name, _ in held):
            prefixes = _prefixes(module, frame)
        prefix = next(each for each in prefixes if all(each + name not in taken for name, _ in held))
        for name, value in held:
            self.note(value, prefix + name)


def argument_name(frame: FrameType, argument: int) -> str | None:
    """What the program writes as an argument of the call that it is at."""
    return argument_text(frame.f_code, frame.f_lasti, argument)


def _prefixes(module: Any, frame: FrameType) -> Iterator[str]:
    """The names by which the program may call a module, with a dot, the best first."""
    yield from (f"{name}." for name, value in variables(frame) if value is module)
    yield from (f"{name}.{key}." for name, value in variables(frame) for key in _places(module, value))
    yield ""
    yield from (f"{type(module).__name__}{number}." for number in itertools.count(2))


def _places(module: Any, holder: object) -> list[object]:
    """Where a module stands in a list, a tuple or a dict of the program; in longer ones lie data."""
    if type(holder) not in (list, tuple, dict) or len(cast(Sized, holder)) > _MOST_MODULES:
        return []
    if type(holder) in (list, tuple):
        return [place for place, each in enumerate(cast(list[object], holder)) if each is module]
    return [key for key, each in holder.items() if each is module] if type(holder) is dict else []
