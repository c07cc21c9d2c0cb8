"""Brings programs, numbers and pictures of the lessons up to date: `python -m docs.learn`."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.learn.lessons import HERE, lessons
from docs.learn.marks import filled


def main() -> None:
    """Write all lessons: here, or to the folder that is named."""
    folder = Path(*sys.argv[1:2]) if sys.argv[1:] else HERE
    for lesson in lessons():
        with lesson.recorded() as log:
            (folder / lesson.file.name).write_text(filled(lesson.with_program(), log.graph), encoding="utf-8")
            lesson.draw(log, folder)
        print(folder.name, lesson.file.name, sep="/")


if __name__ == "__main__":
    main()
