"""Lessons on the site: the picture becomes the page that plays, and numbers in the text lead to where it shows them."""

from __future__ import annotations

import re
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import graphscope as gs
from docs.learn.lessons import Framework, Lesson, lesson_of
from docs.learn.marks import Mark, marks, replaced

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from graphscope.eventlog.reader import Log

FRAMEWORKS: Final[list[Framework]] = ["graphscope", "torch"] if find_spec("torch") else ["graphscope"]
"""Those that a lesson is recorded from; its text is that of the first."""
_NAMES: Final[dict[Framework, str]] = {"graphscope": "graphscope’s engine", "torch": "PyTorch"}
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
        folder = Path(app.outdir, name).parent
        (folder / "play").mkdir(parents=True, exist_ok=True)
        for framework in FRAMEWORKS:
            with lesson.recorded(framework) as log:
                gs.export(log, folder / page_of(lesson, framework), title=Path(lesson.sample).name)
                if framework == "graphscope":
                    source[0] = _WIDE + on_site(lesson, log)


def page_of(lesson: Lesson, framework: Framework = "graphscope") -> str:
    """Where the page of a lesson lies, seen from its text."""
    return f"play/{lesson.name}{'' if framework == 'graphscope' else f'.{framework}'}.html"


def on_site(lesson: Lesson, log: Log) -> str:
    """The text of a lesson as Markdown for the site."""
    page = page_of(lesson)
    first = next(mark.row for mark in marks(lesson.text, log.graph) if mark.row is not None)

    def link(mark: Mark) -> str:
        if mark.row is None:
            return f"**{mark.words}**"
        return f'<a class="seen" href="{page}#{mark.row}" target="play">{escape(mark.words)}</a>'

    def frame(picture: re.Match[str]) -> str:
        shown = f'<iframe class="play" name="play" src="{page}#{first}" title="{escape(picture[1])}"></iframe>'
        others = [f'<a href="{page_of(lesson, each)}#{first}" target="play">{_NAMES[each]}</a>' for each in FRAMEWORKS]
        return shown + (f'\n<p class="frameworks">Recorded from {" · ".join(others)}</p>' if len(others) > 1 else "")

    return _PICTURE.sub(frame, replaced(lesson.text, log.graph, link))
