"""Where two runs part, as lines of text with a meaning."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Protocol

from graphscope.compare.two_lines import two_lines
from graphscope.diagnose.text_lines import WIDTH, Line, counted, wrapped

if TYPE_CHECKING:
    from graphscope.compare.difference import Difference, Distance, Parting, Side

_INDENT: Final = "   "
_UNSAID: Final = "(not given)"
_CAME_IN: Final = {True: " What came in was the same.", False: " What came in differed already.", None: ""}
_MOST: Final = 5
"""So many places beside the first are told."""


class Answer(Protocol):
    """What a comparison answers."""

    @property
    def first(self) -> Parting | None:
        """Where they part first."""

    @property
    def steps(self) -> int:
        """How many steps were compared."""


def lines_of(found: Difference, width: int | None = None) -> list[Line]:
    """All that is to be said of two runs, for so many columns."""
    columns = max(width or WIDTH, 20)
    if found.first is None:
        lines = [Line(part) for part in wrapped(headline(found), columns, "")]
    else:
        lines = [*lines_of_parting(found, found.first, columns), *_others(found, columns)]
    beside = [*_alone(found), *found.remarks]
    lines += [Line("")] * bool(beside and lines)
    lines += [Line(part, "remark") for each in beside for part in wrapped(each, columns, "")]
    return lines


def headline(found: Difference) -> str:
    """The first sentence of the answer."""
    if found.first is None:
        return _unlike(found) if found else _same(found)
    return f"They part {_where(found, found.first)}."


def lines_of_parting(found: Answer, parting: Parting, width: int = WIDTH) -> list[Line]:
    """What is to be said of one place where two runs part."""
    ahead = "They part" if parting is found.first else "Not because of that they part"
    told = f"{ahead} {_where(found, parting)}."
    return [*(Line(part, "warning") for part in wrapped(told, width, "")), *_parting(parting, width)]


def apart(found: Distance) -> str:
    """How far two tensors are apart, and where most, in one line."""
    return "; ".join(f"{name} {said}".strip() for name, said in reversed([*_distance(found)]) if name)


def lines_of_pair(a: Side | None, b: Side | None, far: Distance | None, width: int = WIDTH) -> list[Line]:
    """Two nodes that belong together (or one that has no counterpart): their lines, and how far they are apart."""
    rows = [*_modules(a, b), *(() if far is None else _distance(far))]
    return [*two_lines(a, b, width, _INDENT), *_columns(rows, width)]


def _same(found: Difference) -> str:
    if not len(found.pairs):
        return "There is nothing to compare."
    steps = f"{counted(found.steps, 'step')}, " if found.steps else ""
    largest = "" if found.largest is None else f", at most {found.largest:.2g} apart (relative)"
    if found.largest == 0:
        largest = ", equal bit for bit"
    return f"The same: {steps}{counted(len(found.pairs), 'node')}{largest}."


def _unlike(found: Difference) -> str:
    return f"Nothing of {found.a.path} belongs to anything of {found.b.path}: these are runs of unlike programs."


def _where(found: Answer, parting: Parting) -> str:
    """`in the forward pass of step 1: layer_norm at a.py:12 and b.py:31`."""
    when = "update" if parting.when == "update" else f"{parting.when} pass"
    called = [each.step for each in (parting.a, parting.b) if each is not None and each.step]
    step = f" of {[*called, f'step {parting.step}'][0]}" if max(found.steps, parting.step) > 1 else ""
    return f"in the {when}{step}: {_what(parting)}"


def _what(parting: Parting) -> str:
    """`layer_norm at a.py:12 and b.py:31`."""
    sides = [each for each in (parting.a, parting.b) if each is not None]
    titles = list(dict.fromkeys(_title(each) for each in sides))
    if len(titles) == 1:
        places = list(dict.fromkeys(each.place for each in sides if each.place))
        what = f"{titles[0]} at {' and '.join(places)}" if places else titles[0]
    else:
        what = " and ".join(f"{_title(each)} at {each.place}" if each.place else _title(each) for each in sides)
    return what + (f", which {'a' if parting.a is None else 'b'} has not" if len(sides) == 1 else "")


def _title(side: Side) -> str:
    """What a node is called: its op, and its name where the line of the program does not say it."""
    said = not side.name or re.search(rf"(?<!\w){re.escape(side.name)}(?!\w)", side.source)
    op = "" if side.op == "leaf" else side.op
    called = op or side.name or "a tensor" if said else f"{side.name} ({op})" if op else side.name
    return f"{called} ({side.part})" if side.part else called


def _parting(parting: Parting, width: int) -> Iterator[Line]:
    yield Line("")
    yield from two_lines(parting.a, parting.b, width, _INDENT)
    yield Line("")
    told = f"{parting.verdict.rstrip('.')}.{_CAME_IN[parting.inputs_agree]}"
    yield from (Line(part) for part in wrapped(told, width, _INDENT))
    rows = [*_table(parting)]
    if rows:
        yield Line("")
        yield from _columns(rows, width)
    if parting.consequences:
        yield Line("")
        follow = "that follows" if parting.consequences == 1 else "that follow"
        said = f"and {counted(parting.consequences, 'node')} {follow} from it"
        yield from (Line(part, "remark") for part in wrapped(said, width, _INDENT))


def _table(parting: Parting) -> Iterator[tuple[str, str]]:
    """What differs, as names and what there is to be said of each."""
    for fact in parting.facts:
        yield fact.name, _both(fact.a, fact.b)
    yield from _modules(parting.a, parting.b)
    if parting.distance is not None:
        yield from _distance(parting.distance)


def _modules(a: Side | None, b: Side | None) -> Iterator[tuple[str, str]]:
    if a and b and (a.scope or b.scope):
        yield "module", _both(a.scope, b.scope)


def _both(a: str, b: str) -> str:
    return a if a == b else f"{a or _UNSAID} | {b or _UNSAID}"


def _distance(found: Distance) -> Iterator[tuple[str, str]]:
    if not found.different:
        yield "apart", "equal bit for bit"
        return
    index = f" at [{', '.join(map(str, found.index))}]" if found.index else ""
    yield "worst" if index else "value", " | ".join(f"{each:.9g}" for each in found.values) + index
    ulps = f", {found.ulps:,.0f} ULPs" if found.ulps - found.ulps == 0 else ""
    yield "apart", f"{found.absolute:.3g} absolute, {found.relative:.3g} relative{ulps}"
    if found.elements > 1:
        yield "", f"{found.different:,} of {counted(found.elements, 'element')} differ"


def _columns(rows: list[tuple[str, str]], width: int) -> Iterator[Line]:
    ahead = min(max((len(name) for name, _ in rows), default=0), width // 3) + 2
    for name, said in rows:
        room = width - len(_INDENT) - ahead
        parts = wrapped(said, max(room, 10), "") or [""]
        names = textwrap.wrap(name, ahead - 2) or [""]
        for part, said_before in zip_longest(parts, names, fillvalue=""):
            yield Line(f"{_INDENT}{said_before:{ahead}}{part}".rstrip())


def _others(found: Difference, width: int) -> Iterator[Line]:
    """The places that do not follow from the first, in a sentence each."""
    others = found.partings[1:]
    if not others:
        return
    yield Line("")
    told = f"{counted(len(others), 'more place')} where they part, not because of that:"
    yield from (Line(part) for part in wrapped(told, width, ""))
    for parting in others[:_MOST]:
        said = f"{_what(parting)}: {parting.verdict.rstrip('.')}"
        yield from (Line(part) for part in wrapped(said, width, _INDENT))
    if len(others) > _MOST:
        yield Line(f"{_INDENT}and {len(others) - _MOST} more")


def _alone(found: Difference) -> Iterator[str]:
    counts = {"a": len(found.alone_a), "b": len(found.alone_b)}
    told = [f"{counted(number, 'node')} of {name}" for name, number in counts.items() if number]
    if told:
        yield f"Without a counterpart: {', '.join(told)}."
