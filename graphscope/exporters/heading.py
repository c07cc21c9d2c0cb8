"""What stands above a picture: lines of text, and what the marks of a compiler's pass mean."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Final

from graphscope.exporters.box_styles import CHANGED, INK
from graphscope.exporters.dot_syntax import LONGEST, html, html_label
from graphscope.exporters.labels import CHANGED as MARKS
from graphscope.graph.pass_changes import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphscope.graph.view import GraphView

__all__ = ["above"]

_ROW: Final = '<TR><TD ALIGN="LEFT" COLSPAN="2">{}</TD></TR>'
_KEY: Final = (
    '<TR><TD WIDTH="26" HEIGHT="20" FIXEDSIZE="TRUE" BORDER="2" STYLE="{style}" COLOR="{color}" BGCOLOR="{fill}">'
    '<FONT COLOR="{ink}">{mark}</FONT></TD><TD ALIGN="LEFT" WIDTH="{wide}">{words}</TD></TR>'
)
_WIDE: Final = 330
"""As wide as a line above may be: what is left over would make the marks wider."""


def above(view: GraphView) -> dict[str, str]:
    """The attributes of a graph that write its heading; none where it has no such thing."""
    if not view.heading:
        return {}
    rows = [*_lines(view.heading), *_legend(view)]
    table = f'<TABLE BORDER="0" CELLSPACING="3" CELLPADDING="1">{"".join(rows)}</TABLE>'
    return {"label": html_label(table), "labelloc": "t", "labeljust": "l", "fontcolor": INK, "fontsize": "11"}


def _lines(heading: tuple[str, ...]) -> Iterator[str]:
    for number, line in enumerate(heading):
        for part in textwrap.wrap(line, LONGEST):
            yield _ROW.format(f"<B>{html(part)}</B>" if number < 1 else html(part))


def _legend(view: GraphView) -> Iterator[str]:
    for state, count in view.legend:
        look = CHANGED[state]
        yield _KEY.format(
            style="dashed" if "dashed" in look.get("style", "") else "solid",
            color=look["color"], fill=look["fillcolor"], ink=INK,
            mark=MARKS[state].strip() or " ", words=f"{count:,} {WORDS[state]}", wide=_WIDE,
        )  # fmt: skip
