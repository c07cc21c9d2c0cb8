"""What a log says of an op: its formula and rules by the places of its arguments, so that it explains itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from graphscope.eventlog.typed import encode
from graphscope.formulas.formula import Formula

NO_RULE: Final = "no gradient"
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_PLAIN: Final = (int, float, bool, str, type(None), tuple, list)


class Argument(NamedTuple):
    """One parameter of a function, as its library calls it."""

    name: str
    default: Any = ...
    several: bool = False
    """Whether it takes all arguments from its place on."""
    by_name: bool = False
    """Whether it is given by name alone."""


def op_entry(
    name: str, doc: str = "", arguments: Sequence[Argument] = (), known: Formula | None = None
) -> dict[str, Any]:
    """The entry of the table `ops`.

    Args:
        name: The op's.
        doc: What it does, in a sentence.
        arguments: Its parameters in order; empty where they are not known.
        known: Its formula; without one it is a call, and has no rules.
    """
    found = known or Formula("")
    places = [each for each in arguments if not each.by_name]
    names = [found.name(each.name) for each in places] or list(found.inputs or found.rules)
    text = found.text or _call(name, names)
    words = {word for part in (text, *found.rules.values()) for word in _WORD.findall(part)}
    defaults = {found.name(each.name): each.default for each in arguments}
    entry: dict[str, Any] = {
        "name": name, "formula": text, "doc": f"{doc} {found.source}".strip(), "vjp": _rules(names, found.rules),
        "inputs": [f"*{named}" if each.several else named for named, each in zip(names, places, strict=False)]
        or names,
        "cited": True,
    }  # fmt: skip
    told = {key: encode(value) for key, value in defaults.items() if key in words and isinstance(value, _PLAIN)}
    if told:
        entry["defaults"] = told
    if found.element:
        entry["element"] = found.element
    return entry


def _rules(names: Sequence[str], rules: Mapping[str, str]) -> list[str]:
    return [rules.get(name, NO_RULE) for name in names] if rules else []


def _call(name: str, names: Sequence[str]) -> str:
    """What an op computes of which nothing is known but its name: a call."""
    return f"{'x ←' if name.endswith('_') else 'out ='} {name}({', '.join(names) or '...'})"
