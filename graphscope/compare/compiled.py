"""Where one run computes in one compiled region what the other does op by op."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.compare.difference import Fact
from graphscope.compare.sentences import Cause
from graphscope.diagnose.explanation import listed
from graphscope.eventlog.generated import GeneratedGraph
from graphscope.eventlog.names import place_of
from graphscope.graph.operands import arguments_text, call_text

if TYPE_CHECKING:
    from graphscope.compare.alignment import Alignment, Run
    from graphscope.compare.regions import Region
    from graphscope.eventlog.reader import Log

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
    told = Fact("computes", *(_told(each) for each in (a, b)))
    within = _first_other(*(list(_calls(run, own)) for run, own in ((alignment.a, region.a), (alignment.b, region.b))))
    return Cause("compiled", "a" if is_compiled[0] else "b"), (told, *within)


class _Call(NamedTuple):
    """A call: its op and the constants that it is given."""

    text: str
    line: int

    def __str__(self) -> str:
        return f"{self.text} (line {self.line})" if self.line else self.text


def _calls(run: Run, vertices: Sequence[int]) -> Iterator[_Call]:
    """The calls of a stretch in their order; for those of a compiled region, those of the graph generated for it."""
    regions = set()
    for vertex in vertices:
        node = run.flow.node(vertex)
        generated = node.graph.log.generated(node.event.op)
        if generated is None:
            yield _Call(node.op + arguments_text(node), place_of(node.site)[1])
        elif node.event.op not in regions:
            regions.add(node.event.op)
            yield from _generated(node.graph.log, generated.forward)


def _generated(log: Log, graph: GeneratedGraph) -> Iterator[_Call]:
    for each in graph.nodes:
        if each.op:
            site = log.site(each.site) if each.site else None
            yield _Call(each.op + call_text(each.arguments), place_of(site)[1])


def _first_other(a: list[_Call], b: list[_Call]) -> Iterator[Fact]:
    """The first calls that one of two stretches has and the other has not."""
    pair = SequenceMatcher(None, [each.text for each in a], [each.text for each in b], autojunk=False)
    for tag, a_first, a_stop, b_first, b_stop in pair.get_opcodes():
        if tag != "equal":
            yield Fact("first other call", *(_first(each) for each in (a[a_first:a_stop], b[b_first:b_stop])))
            return


def _first(calls: list[_Call]) -> str:
    return str(calls[0]) if calls else "none"


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
