"""A report of the doctor as lines of text with a meaning."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.check_table import every
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.text_lines import WIDTH, Line, counted, path_from_here, wrapped

if TYPE_CHECKING:
    from graphscope.diagnose.report import Report

_INDENT: Final = "   "
_MOST_FOLDS: Final = 5
"""So many lines of the terminal are for one line of the program, from what is meant of it on."""

_LONGEST_EFFECT: Final = 200
"""So many characters of what came of a finding are told: messages of exceptions may be long."""


def lines_of(report: Report, width: int | None = None) -> list[Line]:
    """All that a report says, for so many columns."""
    columns = max(width or WIDTH, 20)
    found = [Line(part) for part in wrapped(_headline(report), columns, "")]
    for number, each in enumerate(report.findings, 1):
        found += [Line(""), *_finding(f"{number}. ", each, columns)]
    if report.unjudged:
        found += [Line(""), Line("not judged:", "remark")]
        for gap in report.unjudged:
            found += [Line(part, "remark") for part in wrapped(f"{gap.what}: {gap.why}", columns, "  ")]
    return found


def lines_of_finding(found: Finding, width: int | None = None) -> list[Line]:
    """What one finding says, for so many columns: the verdict and the cure first, for where there are few lines."""
    columns = max(width or WIDTH, 20)
    verdict = (Line(part, found.severity) for part in wrapped(f"{_sentence(found.verdict)}.", columns, ""))
    title = (Line(part, "remark") for part in _title("", found, columns))
    ahead = (verdict, _cure(found, columns), _source(found, columns))
    return list(chain(*ahead, title, _measured(found, columns), _effects(found, columns)))


def _headline(report: Report) -> str:
    severities = Counter(each.severity for each in report.findings)
    found = [counted(number, word) for word in ("error", "warning") if (number := severities[word])]
    what = ", ".join(found) or ("nothing found" if report.events else "nothing to judge")
    return f"{what} in {counted(report.events, 'event')} of {report.log}"


def _finding(number: str, found: Finding, width: int) -> Iterator[Line]:
    for part in _title(number, found, width):
        yield Line(part, found.severity)
    yield from _source(found, width)
    for part in wrapped(f"{_sentence(found.verdict)}.", width, _INDENT):
        yield Line(part)
    yield from _measured(found, width)
    yield from _cure(found, width)
    yield from _effects(found, width)


def _title(number: str, found: Finding, width: int) -> list[str]:
    check = every().get(found.kind)
    words = check.title if check is not None else _TITLES.get(found.kind)
    title = f"{found.kind}: {words}" if words else found.kind
    sure = "" if found.confidence == "certain" else f", {found.confidence}"
    return wrapped(f"{number}{title} ({found.severity}{sure}{_when(found)})", width, "")


def _measured(found: Finding, width: int) -> Iterator[Line]:
    if found.evidence:
        measured = ", ".join(f"{name} {_number(value)}" for name, value in found.evidence.items())
        for part in wrapped(f"measured: {measured}", width, _INDENT):
            yield Line(part, "remark")


def _cure(found: Finding, width: int) -> Iterator[Line]:
    if found.cure:
        for part in wrapped(f"cure: {found.cure}", width, _INDENT):
            yield Line(part)


def _effects(found: Finding, width: int) -> Iterator[Line]:
    for effect in found.consequences:
        place = f" at {effect.place}" if effect.place else ""
        verdict = textwrap.shorten(effect.verdict, _LONGEST_EFFECT, placeholder=" ...")
        for part in wrapped(f"so: {effect.kind}{place}{_when(effect)}: {verdict}", width, _INDENT):
            yield Line(part, "remark")


_TITLES: Final = {
    "nondeterminism": "two runs that part",
    "rank_differs": "ranks that part",
    "ranks_alike": "ranks that do the same",
}
"""Of what is found between several logs, for which there is no entry in the table."""


def _number(value: float) -> str:
    if isinstance(value, Row):
        return f"#{value}"
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < _EXACT else f"{value:.4g}"


_EXACT: Final = 1e12
"""Whole numbers below are told digit by digit."""


def _when(found: Finding) -> str:
    first = f", {found.step}" if found.step else ""
    return first + (f", {found.count:,} times" if found.count > 1 else "")


def _sentence(verdict: str) -> str:
    return verdict.rstrip(".")


def _source(found: Finding, width: int) -> Iterator[Line]:
    """Where it is, the line of the program folded to the width, and beneath each fold what of it is meant."""
    if not found.place:
        return
    yield Line(f"{_INDENT}{path_from_here(found.file, found.line)}")
    text = found.source.expandtabs(4)
    blanks = len(text) - len(text.lstrip())
    text = text.strip()
    ahead = f"{_INDENT}{found.line:>5} | "
    room = max(width - len(ahead), 1)
    start, end = (min(max(column - blanks, 0), len(text)) for column in found.columns)
    first = start // room if len(text) > _MOST_FOLDS * room else 0
    for begin in range(first * room, min(len(text), (first + _MOST_FOLDS) * room), room):
        yield Line(ahead + text[begin : begin + room], "source")
        low, high = max(start - begin, 0), min(end - begin, room)
        if high > low:
            yield Line(" " * (len(ahead) + low) + "^" * (high - low), "source")
        ahead = f"{_INDENT}      | "
