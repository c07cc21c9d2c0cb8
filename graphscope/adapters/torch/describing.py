"""What a call was given, as the log tells of it: tensors by their places, constants as they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch
from torch import Tensor

from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.signatures import holds_input
from graphscope.eventlog.typed import Dtype, Input, Other, shown


def flattened(value: Any) -> list[Any]:
    """What lies in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for each in value for leaf in flattened(each)]
    return [value]


Given = tuple[tuple[Any, ...] | None, dict[str, Any]]
"""Operands and attributes of a call."""

_DATA: Final = frozenset({"tensor", "as_tensor", "asarray"})
"""Functions whose argument is the value itself."""

_MOST: Final = 64
"""Of longer lists of constants the log keeps the length."""


def describe(call: Call, args: Sequence[Any], kwargs: dict[str, Any] | None) -> Given:
    """Operands and attributes of a call.

    Operands are what was given by position, up to the last tensor where the names of the parameters are known; None
    where these are the tensors in their order. What else was given is an attribute, unless it is the default.
    """
    if call.name in _DATA:
        return None, {}
    inputs = itertools.count()
    given = [described(value, inputs) for value in args]
    if call.swapped and len(given) == 2:
        args, given = args[::-1], given[::-1]
    named: dict[str, Any] = {}
    names = list(call.parameters)[: len(args)]
    if len(names) == len(args):
        last = max((place for place, value in enumerate(args) if has_tensor(value)), default=-1) + 1
        named = dict(zip(names[last:], given[last:], strict=True))
        given = given[:last]
    named |= {name: described(value, inputs) for name, value in (kwargs or {}).items()}
    named.pop("out", None)  # where the result goes, not what it is made of
    if any(map(holds_input, named.values())):
        given = _placed(call, given, named)
    defaults = call.parameters
    attributes = {
        name: value
        for name, value in named.items()
        if name not in defaults or value.__class__ is not defaults[name].__class__ or value != defaults[name]
    }
    return None if given == [Input(place) for place in range(next(inputs))] else tuple(given), attributes


def _placed(call: Call, given: list[Any], named: dict[str, Any]) -> list[Any]:
    """Operands with the tensors that were given by name at their places; they are taken out of what was given so."""
    known = [each for each in call.arguments(given, named) if not each.by_name]
    own = {"input", "self"} & named.keys()
    places = [(own and own.pop()) or each.name if each.name in _OWN else each.name for each in known]
    last = max((place for place, name in enumerate(places) if holds_input(named.get(name))), default=-1) + 1
    left_out = [None if each.default is ... else each.default for each in known]
    rest = range(len(given), last)
    return given + [named.pop(places[place], left_out[place]) for place in rest]


_OWN: Final = frozenset({"input", "self"})
"""What a function and a method call the tensor that is theirs."""


def has_tensor(value: Any) -> bool:
    """Whether an argument is a tensor, or holds some."""
    return any(isinstance(each, Tensor) for each in flattened(value))


_PLAIN: Final = (int, float, bool, str, type(None), complex, type(Ellipsis))


def described(value: Any, inputs: Iterator[int]) -> Any:
    """An argument with an `Input` for each tensor in it, and types of torch by their names."""
    if isinstance(value, Tensor):
        return Input(next(inputs))
    if value.__class__ in _PLAIN:
        return value
    if value.__class__ is dict:
        return {str(name): described(each, inputs) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) > _MOST and not has_tensor(value):
            return Other(type(value).__name__, f"{len(value)} elements")
        parts = [described(each, inputs) for each in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, slice):
        return slice(*(described(each, inputs) for each in (value.start, value.stop, value.step)))
    if isinstance(value, torch.dtype):
        return Dtype(str(value).removeprefix("torch."))
    if callable(value):
        return Other("function", str(getattr(value, "__name__", type(value).__name__)))
    text = shown(value)
    return Other(type(value).__name__, text if len(text) <= 200 else f"<{type(value).__name__}>")
