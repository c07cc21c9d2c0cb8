"""The passes that changed something side by side, each with what it is and what it did."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphscope.exporters.box_styles import CHANGED, FAINT, INK
from graphscope.exporters.labels import CHANGED as MARKS
from graphscope.exporters.svg import embedded
from graphscope.exporters.svg_shapes import document, element, text_width, words
from graphscope.graph.pass_changes import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphscope.graph.pass_changes import PassChange
    from graphscope.graph.view import Changed

__all__ = ["pass_strip"]

_IDENTITY: Final = re.compile(r' id="[^"]*"')
_SIZE: Final = re.compile(r'<svg width="[^"]*" height="[^"]*"\s+viewBox="[\d.]+ [\d.]+ ([\d.]+) ([\d.]+)"')
_ACROSS: Final = 1500.0
"""So wide is a row of pictures at most, unless one alone is wider."""
_MARGIN: Final = 24.0
_GAP: Final = 18.0
_HEAD: Final = 72.0


@dataclass(frozen=True, slots=True)
class _Card:
    """A pass that is drawn."""

    change: PassChange
    picture: str
    width: float
    height: float


def pass_strip(pictures: Sequence[tuple[PassChange, str]], title: str) -> str:
    """The graph as it was, and each pass that changed something, as one SVG.

    Args:
        pictures: The passes, each with its picture.
        title: What was compiled.
    """
    cards = [_card(change, picture) for change, picture in pictures if change.is_change or not change.number]
    idle = [f"{change.number}. {change.stage.name}" for change, _ in pictures if change.number and not change.is_change]
    parts = [words(title, _MARGIN, 36, size=15, is_bold=True), *_legend(cards)]
    y, wide = 84.0, max(_legend_width(cards), text_width(title, 15, is_bold=True) + _MARGIN)
    for row in _rows(cards):
        x = _MARGIN
        tallest = max(card.height for card in row) + _HEAD
        for card in row:
            parts += _drawn(card, x, y, tallest)
            x += card.width + _GAP
        wide = max(wide, x - _GAP)
        y += tallest + _GAP
    for line in _lines(idle, wide - _MARGIN):
        y += 16
        parts.append(words(line, _MARGIN, y, size=11, fill=FAINT))
    return document(parts, wide + _MARGIN, y + _MARGIN)


def _card(change: PassChange, picture: str) -> _Card:
    plain = _IDENTITY.sub("", embedded(picture))
    found = _SIZE.match(plain)
    assert found is not None, "Graphviz writes the size of each picture"
    wide, high = map(float, found.groups())
    name = text_width(_name(change), 13, is_bold=True)
    return _Card(change, plain, max(wide, name, text_width(_did(change), 11), 150.0) + 24, high + 12)


def _rows(cards: Sequence[_Card]) -> Iterator[list[_Card]]:
    row: list[_Card] = []
    for card in cards:
        if row and sum(each.width + _GAP for each in row) + card.width > _ACROSS:
            yield row
            row = []
        row.append(card)
    if row:
        yield row


def _drawn(card: _Card, x: float, y: float, height: float) -> Iterator[str]:
    """A frame, what the pass is and did, and its picture."""
    look = {"rx": 10, "fill": "#fafbfc", "stroke": "#d5d9e0"}
    yield element("rect", x=x, y=y, width=card.width, height=height, **look)
    yield words(_name(card.change), x + 12, y + 22, size=13, is_bold=True)
    yield words(_amount(card.change), x + 12, y + 39, size=11, fill=FAINT)
    yield words(_did(card.change), x + 12, y + 55, size=11)
    wide, high = card.width, card.height - 12
    yield _SIZE.sub(
        rf'<svg x="{x:.5g}" y="{y + _HEAD - 6:.5g}" width="{wide:.5g}" height="{high:.5g}" viewBox="0 0 \1 \2"',
        card.picture,
        count=1,
    )


def _name(change: PassChange) -> str:
    return f"{change.number}. {change.stage.name}"


def _amount(change: PassChange) -> str:
    after = f"{len(change.after.nodes):,} nodes"
    return f"{len(change.before.nodes):,}, then {after}" if change.number else after


def _did(change: PassChange) -> str:
    """What it did, by marks."""
    if not change.number:
        return "as it was written"
    told = [
        f"{MARKS[state].strip()} {count:,} {WORDS[state]}" for state, count in change.counts.items() if state != "kept"
    ]
    return ", ".join(told)


def _legend(cards: Sequence[_Card]) -> Iterator[str]:
    """What the looks of boxes mean, of those that are drawn."""
    x = _MARGIN
    for state in _states(cards):
        look = CHANGED[state]
        dashes = "4 2" if "dashed" in look.get("style", "") else None
        box = {
            "rx": 4,
            "fill": look["fillcolor"],
            "stroke": look["color"],
            "stroke_width": 1.8,
            "stroke_dasharray": dashes,
        }
        yield element("rect", x=x, y=52, width=26, height=18, **box)
        yield words(MARKS[state].strip() or " ", x + 13, 65.5, size=12, anchor="middle", fill=INK, is_bold=True)
        yield words(WORDS[state], x + 32, 65, size=11)
        x += 32 + text_width(WORDS[state], 11) + 22


def _legend_width(cards: Sequence[_Card]) -> float:
    return _MARGIN + sum(54 + text_width(WORDS[state], 11) for state in _states(cards))


def _states(cards: Sequence[_Card]) -> list[Changed]:
    return [state for state in WORDS if any(state in card.change.counts for card in cards)]


def _lines(idle: Sequence[str], wide: float) -> Iterator[str]:
    """The passes that found nothing to do, in lines that fit."""
    line = "Found nothing to do:" if idle else ""
    for number, name in enumerate(idle):
        word = f" {name}{',' if number < len(idle) - 1 else ''}"
        if text_width(line + word, 11) > wide:
            yield line
            line = ""
        line += word
    if line:
        yield line
