"""The parameters of torch's functions: of those in Python as written there, of others as torch's schemas have them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import torch

from graphscope.adapters.kit.op_entries import Argument
from graphscope.eventlog.typed import Input

_schemas: Final[Callable[[str], list[Any]]] = getattr(torch._C, "_jit_get_schemas_for_operator", lambda name: [])


class _Parameter(NamedTuple):
    name: str
    type: str
    default: Any
    by_name: bool
    """Whether it is given by name alone."""


def overload(name: str, operands: Sequence[Any], named: Mapping[str, Any]) -> tuple[Argument, ...]:
    """The parameters, in order, of that of torch's functions of a name which takes these arguments; () where none does.

    Args:
        name: What the log calls it.
        operands: What it was given by position, tensors as `Input`.
        named: What it was given by name.
    """
    known = _overloads(name.rstrip("_") or name)
    fitting = [each for each in known if _fits(each, operands, named)]
    if not fitting:  # functions in Python take more names than what they call
        names = {parameter.name for each in known for parameter in each}
        named = {name: value for name, value in named.items() if name in names}
        fitting = [each for each in known if _fits(each, operands, named)]
    if not fitting:
        return ()
    found = max(fitting, key=lambda each: _closeness(each, operands))
    last = _rest(found, operands)
    return tuple(Argument(each.name, each.default, place == last, each.by_name) for place, each in enumerate(found))


@functools.cache
def _overloads(name: str) -> list[tuple[_Parameter, ...]]:
    """The parameters of each function of a name that takes tensors and returns new ones."""
    found = []
    for schema in _schemas(f"aten::{name}"):
        parameters = tuple(
            _Parameter(
                each.name, str(each.type), each.default_value if each.has_default_value() else ..., each.kwarg_only
            )
            for each in schema.arguments
        )
        if not schema.overload_name.endswith("out") and any("Tensor" in each.type for each in parameters):
            found.append(parameters)
    return found


def _fits(parameters: tuple[_Parameter, ...], operands: Sequence[Any], named: Mapping[str, Any]) -> bool:
    places = [each for each in parameters if not each.by_name]
    if len(operands) > len(places) and _rest(parameters, operands) < 0:
        return False
    known = {_plain(each.name) for each in parameters}
    given = {_plain(each.name) for each in places[: len(operands)]} | {_plain(name) for name in named}
    if not given - {"out"} <= known or any(
        each.default is ... and _plain(each.name) not in given for each in parameters
    ):
        return False
    pairs = [*zip(places, operands, strict=False)]
    pairs += [(each, named[each.name]) for each in parameters if each.name in named]
    return all(holds_input(value) == ("Tensor" in each.type) for each, value in pairs if value is not None)


def _closeness(parameters: tuple[_Parameter, ...], operands: Sequence[Any]) -> tuple[int, int, int]:
    """How well a function fits of several that do: the one that takes most, lists where lists are given."""
    pairs = zip(parameters, operands, strict=False)
    alike = sum(("List[" in each.type) == isinstance(value, (list, tuple)) for each, value in pairs)
    return len(parameters), sum(each.by_name for each in parameters), alike


def _plain(name: str) -> str:
    """A method's own tensor is called otherwise by the function of the same name."""
    return "self" if name == "input" else name


def _rest(parameters: tuple[_Parameter, ...], operands: Sequence[Any]) -> int:
    """The place from which all that is given by position is one list: `x.view(2, 3)`; -1 where there is none."""
    places = [each for each in parameters if not each.by_name]
    last = len(places) - 1
    is_list = bool(places) and "List[" in places[last].type
    return last if is_list and len(operands) > last and not isinstance(operands[last], (list, tuple)) else -1


def holds_input(value: Any) -> bool:
    """Whether an argument as the log tells of it is a tensor, or holds some."""
    if isinstance(value, (list, tuple)):
        return any(map(holds_input, value))
    return isinstance(value, Input)
