"""Breakpoints: `SPEC[, CONDITION]`, where to stop and under which condition."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graphscope.debugger.expressions import Expression, Lookup, describe, parse
from graphscope.errors import CommandError
from graphscope.graph import select

if TYPE_CHECKING:
    from graphscope.debugger.nodes import Node
    from graphscope.graph.select import Selector

NONFINITE: Final = "nan"
"""The SPEC of a breakpoint where a NaN or an Inf is born."""

_BEFORE = re.compile(r"\s+before\s*$")
_LINE = re.compile(r"(?:(?P<file>[^\s:]+\.\w+):)?(?P<line>\d+)")


@dataclass
class Breakpoint:
    """A place to stop, and what has become of it so far."""

    number: int
    spec: str
    selector: Selector | None
    """None where a non-finite value is what to stop at."""
    condition: Expression | None = None
    before: bool = False
    temporary: bool = False
    enabled: bool = True
    ignore: int = 0
    """So many hits are yet to be passed over."""
    hits: int = 0
    commands: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        parts = [self.spec, " before" if self.before else "", f", {self.condition.text}" if self.condition else ""]
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that stops, and why if that needs saying."""

    breakpoint: Breakpoint
    note: str = ""


def read(text: str, file: str | None = None) -> tuple[str, Selector | None, Expression | None, bool]:
    """The SPEC, its selector, the condition, and whether to stop before the node, of what a person typed.

    Args:
        text: `SPEC[ before][, CONDITION]`; as in pdb, a number alone is a line, and so is `FILE:NUMBER`.
        file: The file that a line number alone means.

    Raises:
        GraphscopeError: The SPEC or the condition is not understood.
    """
    spec, _, condition = text.partition(",")
    before = _BEFORE.search(spec) is not None
    spec = _BEFORE.sub("", spec).strip()
    if not spec:
        raise CommandError("A breakpoint needs a SPEC", "for example: b mul, b #12, b op:tanh backward, b nan")
    place = _LINE.fullmatch(spec)
    if place is not None:
        named = place["file"] or file
        if named is None:
            raise CommandError(f"Line {spec} of which file?", f"b FILE:{spec}, or b #{spec} for node {spec}")
        spec = f'line:"{named}":{place["line"]}' if " " in named else f"line:{named}:{place['line']}"
    selector = None if spec == NONFINITE else select.parse(spec)
    if before and selector is None:
        raise CommandError("`nan` and `before` exclude each other: a value is looked at when it is there", "b nan")
    if before and selector is not None and selector.graph_pass == "backward":
        raise CommandError("`before` is for the forward pass: in backward, a stop is ahead of the rule", f"b {spec}")
    return spec, selector, parse(condition) if condition.strip() else None, before


class Breakpoints:
    """All breakpoints of a session, by number."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._next = 1

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(self, text: str, *, temporary: bool = False, file: str | None = None) -> Breakpoint:
        """Make a breakpoint of what a person typed."""
        spec, selector, condition, before = read(text, file)
        made = Breakpoint(self._next, spec, selector, condition, before, temporary)
        self._all[made.number] = made
        self._next += 1
        return made

    def get(self, number: int) -> Breakpoint:
        """The breakpoint of a number.

        Raises:
            CommandError: There is none.
        """
        if number not in self._all:
            numbers = ", ".join(map(str, self._all))
            raise CommandError(
                f"There is no breakpoint {number}", f"there is {numbers}" if numbers else "b SPEC sets one"
            )
        return self._all[number]

    def remove(self, number: int) -> Breakpoint:
        """Take a breakpoint away."""
        found = self.get(number)
        del self._all[number]
        return found

    @property
    def last(self) -> int | None:
        """The number of the newest breakpoint."""
        return max(self._all, default=None)

    def enabled(self, before: bool) -> list[Breakpoint]:
        """Those that may stop before (or after) a node."""
        return [found for found in self._all.values() if found.enabled and found.before == before]

    def check(self, node: Node, lookup: Callable[[], Lookup], born: bool | None, *, before: bool = False) -> Hit | None:
        """The first breakpoint that stops at a node; hits and ignore counts go on for every one that is met.

        Args:
            node: The node.
            lookup: Says what names mean in conditions there.
            born: Whether a non-finite value is born there; None when nobody asks.
            before: Whether the node is yet to be computed.
        """
        first: Hit | None = None
        for found in self.enabled(before):
            if not (bool(born) if found.selector is None else found.selector.matches(node)):
                continue
            met, note = _condition(found, lookup)
            if not met:
                continue
            found.hits += 1
            if found.ignore and not note:
                found.ignore -= 1
            elif first is None:
                first = Hit(found, note)
        if first is not None and first.breakpoint.temporary:
            self._all.pop(first.breakpoint.number, None)
        return first

    @property
    def wants_nonfinite(self) -> bool:
        """Whether some breakpoint asks for non-finite values."""
        return any(found.enabled and found.selector is None for found in self._all.values())


def _condition(found: Breakpoint, lookup: Callable[[], Lookup]) -> tuple[bool, str]:
    if found.condition is None:
        return True, ""
    try:
        return found.condition.holds(lookup()), ""
    except Exception as error:  # noqa: BLE001 - whatever a person's condition raises, the person is to see it
        return True, f"the condition {found.condition.text!r} raised {describe(error)}"
