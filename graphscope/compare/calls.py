"""What differs about two calls: constants and attributes, with the defaults of what was not said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.compare.difference import Fact
from graphscope.compare.signatures import DEFAULTS, PARAMETERS
from graphscope.eventlog.typed import Input, spelled

if TYPE_CHECKING:
    from graphscope.compare.expansions import Part
    from graphscope.graph import Node

_UNNAMED: Final = ("argument ", "number")
"""What a constant is called that has no name of its own."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call, or a part of what it computes."""

    node: Node
    part: Part | None = None

    @property
    def constants(self) -> dict[str, str]:
        """The constants of the part, or of the call."""
        if self.part is not None:
            return {name: _spelled(value) for name, value in self.part.constants.items()}
        return {name: text for name, text in told(self.node).items() if "·" not in text}


def told(node: Node) -> dict[str, str]:
    """What a call was given beside its inputs, by name, as people write it; an input is `·`."""
    given = node.arguments
    inputs = node.graph.log.op(node.event.op).inputs
    found: dict[str, str] = {}
    for place, operand in enumerate(given.operands or ()):
        name = _name(node.op, place, inputs)
        found[name] = _spelled(operand)
    for name, value in given.attributes.items():
        if not name.startswith("_"):
            found[name] = _spelled(value)
    return found


def default(op: str, name: str) -> str:
    """What a function takes where the call does not say it, as people write it; nothing where that is not known."""
    known = DEFAULTS.get(op, {})
    return _spelled(known[name]) if name in known else ""


def _name(op: str, place: int, inputs: Sequence[str]) -> str:
    """What a function calls the argument at a place."""
    names = inputs or PARAMETERS.get(op.rstrip("_"), ())
    return names[place] if place < len(names) and names[place] else f"argument {place + 1}"


def _spelled(value: Any) -> str:
    return "·" if isinstance(value, Input) else spelled(value, lambda _: "·")


def alone(call: Call | None, extra: str) -> tuple[Fact, ...]:
    """What a call was told that only one side makes: `a` or `b`."""
    known = {} if call is None else call.constants
    return tuple(Fact(name, text, "") if extra == "a" else Fact(name, "", text) for name, text in known.items())


def facts(a: Call | None, b: Call | None, *, alike: bool = False) -> tuple[Fact, ...]:
    """What two calls were told differently.

    Args:
        a: A call, or a part of what it computes.
        b: Another.
        alike: Whether the two do the same kind of step, so that the one number of each means the same.
    """
    if a is None or b is None:
        return ()
    found: list[Fact] = []
    if a.node.op == b.node.op:
        found += _between(told(a.node), told(b.node), a.node.op)
        if a.node.shape != b.node.shape:
            found.append(Fact("shape", str(tuple(a.node.shape)), str(tuple(b.node.shape))))
    else:
        if alike and a.part is not None and b.part is not None:
            between = _between(a.constants, b.constants)
            found += between if len(between) == 1 else [each for each in between if each.a and each.b]
        else:
            found += _constants(a.constants, b.constants, alike)
        found = found or _chosen(a.node, b.node)
    if a.node.dtype != b.node.dtype:
        found.append(Fact("dtype", a.node.dtype, b.node.dtype))
    return tuple(found)


def _between(one: Mapping[str, str], other: Mapping[str, str], op: str = "") -> list[Fact]:
    """What is said differently of one function; where one call does not say it, its default."""
    found = []
    for name in dict.fromkeys([*one, *other]):
        texts = [each.get(name, default(op, name)) for each in (one, other)]
        if texts[0] != texts[1]:
            found.append(Fact(name, *("a tensor" if text == "·" else text for text in texts)))
    return found


def _constants(one: Mapping[str, str], other: Mapping[str, str], alike: bool) -> list[Fact]:
    """What is said differently of two functions: by names that both have, or where each was told one number."""
    shared = [name for name in one if name in other]
    if not shared and alike:
        numbers = [[name for name, text in each.items() if _is_number(text)] for each in (one, other)]
        if len(numbers[0]) == len(numbers[1]) == 1:
            (mine,), (its,) = numbers
            name = its if mine.startswith(_UNNAMED) else mine
            return [Fact(name, one[mine], other[its])] if one[mine] != other[its] else []
    return [Fact(name, one[name], other[name]) for name in shared if one[name] != other[name]]


def _chosen(a: Node, b: Node) -> list[Fact]:
    """What either call asked for that is not the default of its function."""
    asked = [
        {
            name: text
            for name, text in told(node).items()
            if name in DEFAULTS.get(node.op, {}) and text not in ("·", _spelled(DEFAULTS[node.op][name]))
        }
        for node in (a, b)
    ]
    return [
        *(Fact(name, text, "") for name, text in asked[0].items()),
        *(Fact(name, "", text) for name, text in asked[1].items()),
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
