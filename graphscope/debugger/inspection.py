"""Objects of a program as data that a screen can show and open piece by piece; large ones are never copied whole."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from graphscope.debugger.expressions import describe
from graphscope.debugger.recorded_tensor import Recorded
from graphscope.debugger.value_results import as_array, statistics
from graphscope.errors import CommandError
from graphscope.graph import Node

PAGE: Final = 100
"""So many elements are told at once to who does not ask for a range."""

_SHOWN = 200
"""Longer texts are cut."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An object under a name: what to show in one line, and how to ask for what is inside."""

    name: str
    text: str
    type: str = ""
    handle: int = 0
    """What `Handles.children` takes; 0 where nothing is inside."""
    named: int = 0
    """So many parts with names are inside."""
    indexed: int = 0
    """So many elements are inside."""
    bytes: int | None = None
    """The size of an array's memory; None of what is no array."""
    expression: str = ""
    """Python that evaluates to it; empty when there is none."""


@dataclass
class Handles:
    """Numbers for objects that somebody may want to see the inside of, until time moves on."""

    _objects: list[tuple[object, str]] = field(default_factory=list)

    def clear(self) -> None:
        """Forget all of them."""
        self._objects.clear()

    def entry(self, name: str, value: object, expression: str = "") -> Entry:
        """An object as one line."""
        array = as_array(value)
        if array is not None:
            named, indexed = (1, array.shape[0]) if array.ndim else (0, 0)
        else:
            named, indexed = _sizes(value)
        handle = self._number(value if array is None else array, expression) if named or indexed else 0
        kind = type(value).__name__ if not isinstance(value, Recorded) else "ndarray"
        size = None if array is None else array.nbytes
        return Entry(name, text_of(value, array), kind, handle, named, indexed, size, expression)

    def get(self, handle: int) -> tuple[object, str]:
        """The object of a number, and Python that evaluates to it.

        Raises:
            CommandError: There is none (any more).
        """
        if not 1 <= handle <= len(self._objects):
            raise CommandError("That variable is not there any more", "it belonged to an earlier stop")
        return self._objects[handle - 1]

    def children(self, handle: int, kind: str = "", start: int = 0, count: int = 0) -> list[Entry]:
        """What is inside an object.

        Args:
            handle: Its number.
            kind: `named`, `indexed`, or both.
            start: The first element that is wanted.
            count: So many; 0 means all, up to a page.
        """
        value, expression = self.get(handle)
        made: list[Entry] = []
        if kind != "indexed":
            made += [self.entry(name, inside, path) for name, inside, path in _named(value, expression)]
        if kind != "named":
            _, indexed = (0, value.shape[0]) if isinstance(value, np.ndarray) and value.ndim else _sizes(value)
            stop = min(indexed, start + (count or PAGE))
            elements = _elements(value, start, stop)
            made += [
                self.entry(f"[{place}]", inside, f"{expression}[{place}]" if expression else "")
                for place, inside in enumerate(elements, start)
            ]
            if not count and stop < indexed:  # who does not page gets the rest as one more thing to open
                made.append(self._rest(value, expression, stop, indexed))
        return made

    def _rest(self, value: object, expression: str, start: int, stop: int) -> Entry:
        inside = f"{expression}[{start}:{stop}]" if expression else ""
        rest = _Rest(value, expression, start, stop)
        return Entry(f"[{start}..{stop - 1}]", f"{stop - start} more", "", self._number(rest, inside), 0, stop - start)

    def _number(self, value: object, expression: str) -> int:
        self._objects.append((value, expression))
        return len(self._objects)


@dataclass(frozen=True)
class _Rest:
    """The elements of a long object from one on."""

    value: object
    expression: str
    start: int
    stop: int


def text_of(value: object, array: np.ndarray | None = None) -> str:
    """An object in one short line; a `repr` that raises is told as what it raised."""
    if array is not None:
        return array_text(array)
    if isinstance(value, np.generic):
        return str(value)
    try:
        text = repr(value.node.value) if isinstance(value, Recorded) else repr(value)
    except Exception as error:  # noqa: BLE001 - the program's own __repr__ may raise anything
        return f"<its repr raised {describe(error)}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def array_text(array: np.ndarray) -> str:
    """An array in one short line: dtype, shape, and its first and last elements."""
    if array.ndim == 0:
        return str(array[()])
    shape = "x".join(map(str, array.shape))
    shown = np.array2string(array, threshold=6, edgeitems=2, precision=5, separator=", ")
    return f"{array.dtype} {shape} {' '.join(shown.split())}"[:_SHOWN]


def _sizes(value: object) -> tuple[int, int]:
    """So many named parts and elements are inside an object that is no array."""
    if isinstance(value, _Rest):
        return 0, value.stop - value.start
    if value is None or isinstance(value, str | bytes | int | float | complex | np.generic | type):
        return 0, 0
    try:
        if isinstance(value, Mapping | AbstractSet):
            return len(value), 0
        if isinstance(value, Sequence):
            return 0, len(value)
        return sum(1 for _ in _named(value, "")), 0
    except Exception:  # noqa: BLE001 - the program's own __len__ may raise anything
        return 0, 0


def _named(value: object, expression: str) -> Iterator[tuple[str, object, str]]:
    if isinstance(value, np.ndarray):
        yield "about", About(value), ""
    elif isinstance(value, Mapping):
        for key, inside in itertools.islice(value.items(), PAGE * 10):
            yield text_of(key), inside, f"{expression}[{text_of(key)}]" if expression else ""
    elif isinstance(value, AbstractSet):
        for place, inside in enumerate(itertools.islice(value, PAGE * 10)):
            yield str(place), inside, ""
    elif isinstance(value, Node):
        for name in _NODE_PARTS:
            yield name, getattr(value, name), f"{expression}.{name}" if expression else ""
    elif not isinstance(value, Sequence | _Rest):
        for name, inside in getattr(value, "__dict__", {}).items():
            if isinstance(name, str) and not name.startswith("__"):
                yield name, inside, f"{expression}.{name}" if expression else ""


_NODE_PARTS: Final = ("op", "name", "formula", "shape", "dtype", "graph_pass", "scope", "attrs")


class About(Mapping[str, object]):
    """What can be said of an array in numbers, found when somebody opens it: it costs a pass over the memory."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __repr__(self) -> str:
        return f"{self._array.dtype} {'x'.join(map(str, self._array.shape))}"

    def __len__(self) -> int:
        return len(_STATISTICS) + 3

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __getitem__(self, key: str) -> object:
        return self._facts[key]

    @cached_property
    def _facts(self) -> dict[str, object]:
        array = self._array
        found = statistics(array)
        made: dict[str, object] = {"shape": array.shape, "dtype": str(array.dtype), "nbytes": array.nbytes}
        return made if found is None else made | {name: getattr(found, name) for name in _STATISTICS}


_STATISTICS: Final = ("min", "max", "mean", "std", "nan", "inf", "zero")


def _elements(value: object, start: int, stop: int) -> Iterator[object]:
    if isinstance(value, _Rest):
        return _elements(value.value, value.start + start, value.start + stop)
    if isinstance(value, np.ndarray):
        return (value[place] for place in range(start, stop))
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return (value[place] for place in range(start, stop))
    return iter(())
