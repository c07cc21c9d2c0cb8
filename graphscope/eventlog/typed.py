"""Values of a program as typed JSON, and back.

JSON's own values stand for themselves; one that JSON has no place for is an object whose only key names its type:

    {"tuple": [2, 3]}   {"slice": [0, null, 2]}   {"dtype": "float32"}   {"float": "nan"}   {"input": 1}
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

import numpy as np

from graphscope.eventlog.interruptions import own
from graphscope.eventlog.schema import DTYPE_CODES

MOST_ELEMENTS: Final = 64
"""Of arrays of more elements dtype and shape are kept."""


@dataclass(frozen=True, slots=True)
class Input:
    """Stands where input `number` of a row stood."""

    number: int


@dataclass(frozen=True, slots=True)
class Dtype:
    """The dtype of a framework."""

    name: str


@dataclass(frozen=True, slots=True)
class Structure:
    """A value of named fields."""

    type: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Other:
    """A value of which the text is kept."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """An array of which dtype and shape are kept."""

    dtype: str
    shape: tuple[int, ...]


Places = Iterator[int | None] | None
"""For each number of a value, in order: where it lies if not in the JSON but beside it."""


def is_number(value: Any) -> bool:
    """Whether a value is a Python number of at most 64 bits."""
    return value.__class__ is float or (value.__class__ is int and -1 << 63 <= value < 1 << 63)


def is_small(array: np.ndarray) -> bool:
    """Whether the elements of an array are kept."""
    return array.size <= MOST_ELEMENTS and array.dtype.kind in "fiub"


def elements(array: np.ndarray) -> list[int | float]:
    """The elements of an array in C order, booleans as integers."""
    return [int(each) if each.__class__ is bool else each for each in array.reshape(-1).tolist()]


def encode(value: Any, places: Places = None) -> Any:
    """A value as typed JSON; numbers that have one of `places` are told as `{"varying": [type, place]}`."""
    kind = value.__class__
    if value is None or kind is bool or kind is str:
        return value
    if kind is int or kind is float:
        place = next(places) if places is not None and is_number(value) else None
        if place is not None:
            return {"varying": [kind.__name__, place]}
        return value if kind is int or math.isfinite(value) else {"float": repr(value)}
    if kind is list:
        return [encode(each, places) for each in value]
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        named = zip(value._fields, value, strict=True)
        return {"structure": [kind.__name__, {name: encode(each, places) for name, each in named}]}
    for type_, (name, parts) in _ENCODERS.items():
        if isinstance(value, type_):
            return {name: parts(value, places)}
    if is_dataclass(value) and not isinstance(value, type):
        return {"structure": [kind.__name__, {each.name: encode(getattr(value, each.name)) for each in fields(value)}]}
    return {"other": [kind.__name__, shown(value)]}


def shown(value: Any) -> str:
    """The text of a value that JSON has no place for."""
    try:
        return str(value)
    except own(Exception):  # the program's own code
        return f"<{type(value).__name__}>"


def _array(array: np.ndarray, places: Places) -> dict[str, Any]:
    encoded: dict[str, Any] = {"dtype": array.dtype.name, "shape": list(array.shape)}
    if is_small(array):
        encoded["elements"] = [encode(each, places) for each in elements(array)]
    return encoded


_ENCODERS: Final[dict[type, tuple[str, Callable[[Any, Places], Any]]]] = {
    tuple: ("tuple", lambda value, places: [encode(each, places) for each in value]),
    Input: ("input", lambda value, places: value.number),
    slice: ("slice", lambda value, places: [encode(each, places) for each in (value.start, value.stop, value.step)]),
    dict: ("dict", lambda value, places: [[encode(name), encode(each, places)] for name, each in value.items()]),
    np.ndarray: ("array", _array),
    np.dtype: ("dtype", lambda value, places: value.name),
    Dtype: ("dtype", lambda value, places: value.name),
    type(...): ("ellipsis", lambda value, places: None),
    complex: ("complex", lambda value, places: [encode(value.real), encode(value.imag)]),
    Structure: ("structure", lambda value, places: [value.type, {k: encode(v) for k, v in value.fields.items()}]),
    Other: ("other", lambda value, places: [value.type, value.text]),
    Outline: ("array", lambda value, places: {"dtype": value.dtype, "shape": list(value.shape)}),
    int: ("int", lambda value, places: int(value)),
    float: ("float", lambda value, places: repr(float(value))),
    str: ("str", lambda value, places: str(value)),
}


Numbers = Callable[[int], int]
"""The 64 bits of each number that lies beside a value."""


def decode(encoded: Any, numbers: Numbers | None = None) -> Any:
    """A value from typed JSON.

    Raises:
        ValueError: It is not of this form.
    """
    if isinstance(encoded, list):
        return [decode(each, numbers) for each in encoded]
    if not isinstance(encoded, dict):
        return encoded
    try:
        ((name, content),) = encoded.items()
        return _DECODERS[name](content, numbers)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"{encoded!r} is no typed value") from error


def _decoded_array(content: Any, numbers: Numbers | None) -> Any:
    shape = tuple(content["shape"])
    if "elements" not in content:
        return Outline(content["dtype"], shape)
    if content["dtype"] not in DTYPE_CODES:
        raise ValueError("no dtype of a log")
    found = [decode(each, numbers) for each in content["elements"]]
    return np.array(found, content["dtype"]).reshape(shape)


def _varying(content: Any, numbers: Numbers | None) -> int | float:
    kind, place = content
    if numbers is None:
        raise ValueError("a number that varies lies in a row")
    bits = np.uint64(numbers(place))
    return int(bits.view(np.int64)) if kind == "int" else float(bits.view(np.float64))


_DECODERS: Final[dict[str, Callable[[Any, Numbers | None], Any]]] = {
    "tuple": lambda content, numbers: tuple(decode(each, numbers) for each in content),
    "input": lambda content, numbers: Input(content),
    "slice": lambda content, numbers: slice(*(decode(each, numbers) for each in content)),
    "dict": lambda content, numbers: {decode(name): decode(each, numbers) for name, each in content},
    "array": _decoded_array,
    "dtype": lambda content, numbers: Dtype(content),
    "ellipsis": lambda content, numbers: ...,
    "complex": lambda content, numbers: complex(*map(decode, content)),
    "structure": lambda content, numbers: Structure(
        content[0], {name: decode(each, numbers) for name, each in content[1].items()}
    ),
    "other": lambda content, numbers: Other(*content),
    "varying": _varying,
    "int": lambda content, numbers: int(content),
    "float": lambda content, numbers: float(content),
    "str": lambda content, numbers: str(content),
}


def spelled(value: Any, name_of: Callable[[int], str] | None = None) -> str:
    """A decoded value as people write it: `[0:3, ...]` for an index, `float32` for a dtype.

    Args:
        value: The value.
        name_of: What to call an input.
    """
    if isinstance(value, Input):
        return name_of(value.number) if name_of is not None else f"input {value.number}"
    if isinstance(value, slice):
        parts = ["" if each is None else spelled(each, name_of) for each in (value.start, value.stop, value.step)]
        return ":".join(parts if value.step is not None else parts[:2])
    if isinstance(value, tuple | list):
        inside = ", ".join(spelled(each, name_of) for each in value)
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if isinstance(value, np.ndarray):
        return str(value.tolist())
    if isinstance(value, Outline):
        return f"array of {value.dtype}, {'x'.join(map(str, value.shape))}"
    if isinstance(value, Dtype):
        return value.name
    if isinstance(value, Other):
        return value.text
    if isinstance(value, Structure):
        return f"{value.type}({', '.join(f'{name}={spelled(each, name_of)}' for name, each in value.fields.items())})"
    return "..." if value is ... else str(value)
