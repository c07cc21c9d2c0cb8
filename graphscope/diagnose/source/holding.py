"""What holds a tensor of an earlier step, as a recording with memory tells it, and where the program makes that."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphscope.diagnose.source.trees import tree_of
from graphscope.eventlog.names import short_place

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class Holder(NamedTuple):
    """A variable or attribute, and where it is made."""

    words: str
    """`losses, a list at train.py:7`."""
    file: str
    line: int


def holder_of(log: Log, facts: Mapping[str, Any]) -> Holder | None:
    """What holds it; None where the log does not tell."""
    told = facts.get("holder")
    if not isinstance(told, dict) or not told.get("name"):
        return None
    kind, name, owner, file = (str(told.get(each, "")) for each in ("kind", "name", "owner", "file"))
    begin = told.get("line")
    begin = begin if isinstance(begin, int) else 0
    after = begin if kind in _OWN else 0
    made = min((line for line in _assignments(log.source(file), name) if line >= after), default=begin)
    place = short_place(file, made) if made else short_place(file, 0).removesuffix(":0")
    title = _TITLES.get(kind, "{name}").format(name=name, owner=owner)
    return Holder(f"{title} (a {told.get('holds', 'container')} of {place})", file, made)


_OWN: Final = ("variable", "generator")
"""What a function makes itself, behind the line where it begins."""

_TITLES: Final = {
    "variable": "{name} of {owner}",
    "global": "the global {name}",
    "attribute": "{owner}.{name}",
    "closure": "{name}, over which {owner} closes",
    "generator": "{name} of the generator {owner}",
}


def _assignments(text: str | None, name: str) -> Iterator[int]:
    """The lines that assign to a variable or attribute of that name."""
    for each in ast.walk(tree_of(text)):
        if isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Store):
            assigned = each.id if isinstance(each, ast.Name) else each.attr
            if assigned == name:
                yield each.lineno
