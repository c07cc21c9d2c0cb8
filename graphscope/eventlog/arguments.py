"""What a call was given: operands in order, constants where they stood among the inputs, and attributes by name.

The entry of a call site holds both as typed JSON. A number that differs from one run of the site to the next lies in
the row, behind its inputs, so that tables do not grow with it.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.eventlog.interruptions import own
from graphscope.eventlog.typed import Input, decode, elements, encode, is_number, is_small, shown

_FLOAT: Final = struct.Struct("<d")
_BITS: Final = struct.Struct("<q")


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call was given."""

    operands: tuple[Any, ...] | None
    """Constants, and an `Input` where an input stood; None where the log does not say (format 1)."""
    attributes: Mapping[str, Any]

    def place(self, number: int) -> int:
        """Where among the operands an input stands; its own number where it is not one of them."""
        for place, operand in enumerate(self.operands or ()):
            if operand.__class__ is Input and operand.number == number:
                return place
        return number


def alike(one: Any, other: Any) -> bool:
    """Whether two constants are surely the same; arrays and what else takes long to compare are not."""
    if one is other:
        return True
    kind = one.__class__
    if kind is not other.__class__:
        return False
    if kind is tuple or kind is list:
        return len(one) == len(other) and all(map(alike, one, other))
    if kind is dict:
        return [*one] == [*other] and all(map(alike, one.values(), other.values()))
    if kind is float:
        return bool(one == other and one != 0)  # 0.0 is equal to -0.0
    return kind in _PLAIN and bool(one == other)


_PLAIN: Final = frozenset({bool, int, str, slice, np.dtype, Input})


def separated(value: Any, numbers: list[float]) -> Any:
    """A value without its numbers, as something that can be hashed; the numbers are added to a list, in order."""
    kind = value.__class__
    if is_number(value):
        numbers.append(value)
        return kind
    if value is None or kind is bool or kind is str or kind is Input:
        return value
    if isinstance(value, tuple | list):
        return (kind, *[separated(each, numbers) for each in value])
    if kind is slice:
        return (kind, *[separated(each, numbers) for each in (value.start, value.stop, value.step)])
    if isinstance(value, dict):
        return (kind, *[(name, separated(each, numbers)) for name, each in value.items()])
    if isinstance(value, np.ndarray):
        if is_small(value):
            numbers += elements(value)
        return (kind, value.dtype, value.shape)
    try:
        hash(value)
    except own(Exception):  # the program's own code
        return (kind, shown(value))
    return (kind, value)


def bits(number: float) -> int:
    """A number as the 64 bits that stand for it in a row, read as a signed integer."""
    return number if number.__class__ is int else int(_BITS.unpack(_FLOAT.pack(number))[0])


def varying_with(varying: Sequence[int], numbers: Sequence[int], others: Sequence[int]) -> Sequence[int]:
    """Which numbers of a call site vary, now that it runs with others.

    Args:
        varying: Those that were known to, by their places among the numbers.
        numbers: The bits of the numbers of a run.
        others: Those of another run.
    """
    if numbers == others:
        return varying
    differing = {place for place, pair in enumerate(zip(numbers, others, strict=True)) if pair[0] != pair[1]}
    return varying if differing.issubset(varying) else sorted(differing.union(varying))


def entry(operands: Sequence[Any] | None, attributes: Mapping[str, Any], varying: Sequence[int] = ()) -> dict[str, Any]:
    """What the table `attrs` says of a call.

    Args:
        operands: Constants, and an `Input` where an input stood; None: the inputs in order.
        attributes: By name.
        varying: Which of its numbers lie in the rows.
    """
    order = {place: position for position, place in enumerate(varying)}
    places = map(order.get, itertools.count()) if varying else None
    encoded: dict[str, Any] = {}
    if operands is not None:
        encoded["operands"] = [encode(each, places) for each in operands]
    if attributes:
        encoded["attributes"] = {name: encode(each, places) for name, each in attributes.items()}
    return encoded


def numbers_behind(names: Sequence[str], count: int) -> dict[str, Any]:
    """What an entry says of numbers that lie in the rows, behind `count` others that do."""
    return {name: {"varying": ["float", count + place]} for place, name in enumerate(names)}


CALL: Final = ("operands", "attributes", "measured")
"""The keys of an entry that tell of a call; what else it holds are facts: names, texts."""


ARGUMENT: Final = "argument"
"""The key of an entry that leaves a name to its reader: the site of a call, and which of its arguments bears the name.
To read the program's text takes longer than its first ops."""


def of_entry(encoded: Mapping[str, Any], inputs: int, numbers: Callable[[int], int]) -> Arguments:
    """What a call was given.

    Args:
        encoded: The entry of the table `attrs`.
        inputs: How many inputs the row has.
        numbers: The 64 bits of each number that the row holds.
    """
    operands, attributes = encoded.get("operands"), encoded.get("attributes")
    try:
        return Arguments(
            tuple(map(Input, range(inputs)))
            if not isinstance(operands, list)
            else tuple(decode(each, numbers) for each in operands),
            {name: decode(each, numbers) for name, each in attributes.items()} if isinstance(attributes, dict) else {},
        )
    except (ValueError, IndexError, RecursionError):  # a damaged log
        return Arguments(None, {})


_OPERANDS_OF_FORMAT_1: Final = ("other", "operands", "arguments")
_FACTS_OF_FORMAT_1: Final = ("name", "function", "text", "slot")


def of_format_1(encoded: Mapping[str, Any], inputs: int) -> Arguments:
    """The same of a log of format 1, which does not say where constants stood, and has attributes as text."""
    unknown = any(name in encoded for name in _OPERANDS_OF_FORMAT_1)
    return Arguments(
        None if unknown else tuple(map(Input, range(inputs))),
        {name: value for name, value in encoded.items() if name not in _FACTS_OF_FORMAT_1},
    )
