"""Lessons on the site: the picture becomes the page that plays, and numbers in the text lead to where it shows them."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import graphscope as gs
from docs.learn.lessons import Lesson, lesson_of
from docs.learn.marks import Mark, marks, replaced

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_PICTURE: Final = re.compile(r"^!\[(.*)\]\([\w-]+\.svg\)$", re.MULTILINE)
_WIDE: Final = "---\nhide-toc: true\n---\n\n"
"""What tells the theme to leave the room at the right to the page."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Have each text read through us."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}


def _read(app: Sphinx, name: str, source: list[str]) -> None:
    lesson = lesson_of(Path(app.env.doc2path(name)))
    if lesson is not None:
        with lesson.recorded() as log:
            source[0] = _WIDE + on_site(lesson, log)
            file = Path(app.outdir, name).parent / page_of(lesson)
            file.parent.mkdir(parents=True, exist_ok=True)
            gs.export(log, file, title=Path(lesson.sample).name)


def page_of(lesson: Lesson) -> str:
    """Where the page of a lesson lies, seen from its text."""
    return f"play/{lesson.name}.html"


def on_site(lesson: Lesson, log: gs.Log) -> str:
    """The text of a lesson as Markdown for the site."""
    page = page_of(lesson)
    first = next(mark.row for mark in marks(lesson.text, log.graph) if mark.row is not None)

    def link(mark: Mark) -> str:
        if mark.row is None:
            return f"**{mark.words}**"
        return f'<a class="seen" href="{page}#{mark.row}" target="play">{escape(mark.words)}</a>'

    def frame(picture: re.Match[str]) -> str:
        return f'<iframe class="play" name="play" src="{page}#{first}" title="{escape(picture[1])}"></iframe>'

    return _PICTURE.sub(frame, replaced(lesson.text, log.graph, link))
