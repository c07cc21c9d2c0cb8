"""Pages that need nothing else: a heading, and parts beneath it."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from graphscope.errors import UsageError

_SUFFIX: Final = ".html"


def place_of_page(text: str) -> Path:
    """Where a page is written, as the command line names it.

    Raises:
        UsageError: Its ending says that it is something else than HTML.
    """
    place = Path(text)
    if place.suffix.lower() != _SUFFIX:
        raise UsageError(
            f"a page is HTML, and {text!r} does not end in {_SUFFIX}", f"name a file that ends in {_SUFFIX}"
        )
    return place


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    """A page of parts that are HTML already."""
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}{style}</style><main><h1>{html.escape(title)}</h1>{''.join(parts)}</main></html>\n"
    )


def table(heads: Sequence[str], rows: Iterable[tuple[Sequence[str], bool]]) -> str:
    """A table of cells that are HTML already; rows that stand out are marked."""
    lines = ((" class=odd" * is_odd, "".join(f"<td>{cell}</td>" for cell in cells)) for cells, is_odd in rows)
    body = "".join(f"<tr{mark}>{line}</tr>" for mark, line in lines)
    head = "".join(f"<th>{html.escape(each)}</th>" for each in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


_STYLE: Final = """
:root{color-scheme:light dark}
body{font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:1100px;margin:0 auto;padding:16px}
h1{font-size:1.4em}h2{font-size:1.1em;margin-top:1.6em}
pre{overflow-x:auto;font-size:13px}
p{margin:.3em 0;opacity:.8}
table{border-collapse:collapse;font-size:13px;display:block;overflow-x:auto}
th,td{padding:2px 12px 2px 0;text-align:left;white-space:nowrap}
tr.odd td{color:#c62828;font-weight:bold}
@media(prefers-color-scheme:dark){tr.odd td{color:#ff8a8a}}
"""
