"""The page that goes through the passes of a compiler: each with its picture, what it did, and how often."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Final

from graphscope.exporters.box_styles import CHANGED
from graphscope.exporters.dark_theme import DARK, PAINTS
from graphscope.exporters.labels import CHANGED as MARKS
from graphscope.exporters.svg import embedded
from graphscope.graph.pass_changes import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from graphscope.eventlog.compilations import Compilation
    from graphscope.exporters.dot_syntax import Attributes
    from graphscope.exporters.pass_pictures import Pictured
    from graphscope.graph.pass_changes import PassChange

__all__ = ["page"]

_DARK: Final = {
    "ink": "#1f2937", "faint": "#6b7280", "line": "#d5d9e0", "chosen": "#0072b2", "paper": "white", "card": "#fafbfc",
    "idle": "#f3f4f6", "pressed": "#d9eaf6",
}  # fmt: skip
"""What the page has other colours for in the dark: those that stand for these in pictures."""
_IDENTITY: Final = re.compile(r' id="[^"]*"')
_IDLE: Final = ' class="idle"'
"""Of the button of a pass that changed nothing."""
_CHANGES: Final = " data-changed"
"""Of a pass that changed something."""
_MOST_LINES: Final = 400
"""So many changes of a pass are told one by one."""


def page(shown: Sequence[Pictured], title: str) -> str:
    """The page, complete in one file.

    Args:
        shown: What was compiled.
        title: Where it is from.
    """
    pictures = {picture: number for number, picture in enumerate(dict.fromkeys(_pictures(shown)))}
    text = files("graphscope.exporters").joinpath("assets/passes.html").read_text(encoding="utf-8")
    return Template(text).substitute(
        title=escape(f"Compiler passes of {title}"),
        paints=PAINTS,
        **{f"dark_{name}": DARK[light] for name, light in _DARK.items()},
        choice=_choice([compilation for compilation, _ in shown]),
        strips="\n".join(_strip(number, changes) for number, (_, changes) in enumerate(shown)),
        stages="\n".join(
            _stage(number, compilation, change, pictures[picture])
            for number, (compilation, changes) in enumerate(shown)
            for change, picture in changes
        ),
        pictures="\n".join(
            f'<div class="picture" hidden>{_IDENTITY.sub("", embedded(picture))}</div>' for picture in pictures
        ),
    )


def _pictures(shown: Sequence[Pictured]) -> Iterator[str]:
    for _, changes in shown:
        for _, picture in changes:
            yield picture


def _choice(compilations: Sequence[Compilation]) -> str:
    """Where there are several, the field to choose one by."""
    if len(compilations) < 2:
        return ""
    entries = (
        f'<option value="{number}">{number + 1}. {escape(each.function)} ({escape(each.framework)})</option>'
        for number, each in enumerate(compilations)
    )
    return f'<select aria-label="what was compiled">{"".join(entries)}</select>'


def _strip(number: int, changes: Sequence[tuple[PassChange, str]]) -> str:
    """A button for each pass, with its counts."""
    buttons = "".join(
        f'<button type="button"{"" if change.is_change or not change.number else _IDLE}>'
        f"<span>{change.number}. {escape(change.stage.name)}</span><small>{_counts(change)}</small></button>"
        for change, _ in changes
    )
    return f'<nav class="row strip" data-compilation="{number}" aria-label="passes">{buttons}</nav>'


def _counts(change: PassChange) -> str:
    marks = [f"{MARKS[state].strip()}{count:,}" for state, count in change.counts.items() if state != "kept"]
    nothing = f"{len(change.after.nodes):,} nodes" if not change.number else "nothing"
    return "  ".join(marks) or nothing


def _stage(number: int, compilation: Compilation, change: PassChange, picture: int) -> str:
    before, after = len(change.before.nodes), len(change.after.nodes)
    amount = f"{before:,} nodes" + (f", then {after:,}" if change.number else "")
    return (
        f'<section data-compilation="{number}" data-picture="{picture}"{_CHANGES if change.is_change else ""} hidden>'
        f'<div class="told"><h2>{change.number}. {escape(change.stage.name)}</h2>'
        f"<p>{escape(change.stage.doc)}</p><p>{escape(compilation.function)}: {amount}</p>"
        f"<ul>{_legend(change)}</ul><pre>{_lines(change)}</pre></div></section>"
    )


def _legend(change: PassChange) -> str:
    if change.number and not change.is_change:
        return "<li>This pass found nothing to do.</li>"
    return "".join(
        f'<li><span class="mark" style="{_look(CHANGED[state])}">{MARKS[state].strip() or "&nbsp;"}</span>'
        f"{count:,} {words}</li>"
        for state, words in WORDS.items()
        if (count := change.counts.get(state)) and change.number
    )


def _look(box: Attributes) -> str:
    """The look of a box of Graphviz's, as a page has it."""
    border = "dashed" if "dashed" in box.get("style", "") else "solid"
    return f"background: {box['fillcolor']}; border: 2px {border} {box['color']}"


def _lines(change: PassChange) -> str:
    lines = [escape(f"{MARKS[state].strip()} {line}") for state, line in change.lines()]
    return "\n".join(
        [*lines[:_MOST_LINES], *([f"and {len(lines) - _MOST_LINES:,} more"] if lines[_MOST_LINES:] else [])]
    )
