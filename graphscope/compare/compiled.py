"""Where one run computes in one compiled region what the other does op by op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphscope.compare.difference import Fact
from graphscope.compare.sentences import Cause
from graphscope.diagnose.explanation import listed

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.regions import Region

_COMPILED: Final = "compiled_"
"""What the op of a compiled region begins with."""
_MOST: Final = 8
"""So many lines are told of."""


def of_compiled(alignment: Alignment, region: Region) -> tuple[Cause, tuple[Fact, ...]] | None:
    """The cause, and what each run computes, where one of them has but a compiled region; None where none has."""
    a, b = _ops(alignment.a, region.a), _ops(alignment.b, region.b)
    is_compiled = [len(each) == 1 and next(iter(each.values()))[0].startswith(_COMPILED) for each in (a, b)]
    if is_compiled[0] == is_compiled[1]:
        return None
    fact = Fact("computes", *(_told(each) for each in (a, b)))
    return Cause("compiled", "a" if is_compiled[0] else "b"), (fact,)


def _ops(run: Run, vertices: Sequence[int]) -> dict[int, list[str]]:
    """What a region runs, by line."""
    found: dict[int, list[str]] = {}
    for vertex in vertices:
        site = run.flow.node(vertex).site
        found.setdefault(0 if site is None else site.line, []).append(run.flow.ops[vertex])
    return found


def _told(ops: dict[int, list[str]]) -> str:
    lines = [f"{listed(names)} (line {line})" for line, names in sorted(ops.items())]
    more = len(lines) - _MOST
    return ", ".join(lines[:_MOST]) + (f" and {more} more lines" if more > 0 else "")
