"""The passes of a compiler as a folder: a picture of each, and a page to go through them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from graphscope.errors import ExportError
from graphscope.exporters.export import write_whole
from graphscope.exporters.pass_page import page
from graphscope.exporters.pass_pictures import pictured
from graphscope.exporters.registry import by_name
from graphscope.graph.pass_changes import changes, recorded
from graphscope.graph.pass_view import pass_view

if TYPE_CHECKING:
    from graphscope.eventlog.compilations import Compilation
    from graphscope.eventlog.reader import Log

__all__ = ["PAGE", "export_passes"]

PAGE: Final = "index.html"


def export_passes(log: Log, folder: Path, format: str = "svg") -> list[Path]:
    """Write a picture of each pass of each compilation that a log tells of, and a page to go through all.

    Args:
        log: The log.
        folder: Where to; it is made, and may hold nothing yet.
        format: Name of the exporter that draws the pictures; those of the page are SVG.

    Returns:
        What was written, the page first.

    Raises:
        LogError: The log tells of no compilation.
        ExportError: There is no such format, or the folder can't be written or holds files.
    """
    made_by = by_name(format)
    compilations = recorded(log)
    _make(folder)
    stems = _stems(compilations)
    written: list[Path] = []
    for compilation, stem in zip(compilations, stems, strict=True):
        for change in changes(compilation):
            view = pass_view(change, log, f"{compilation.function} ({compilation.framework})")
            place = folder / f"{stem}-{change.number:02}-{change.stage.name}{made_by.suffix}"
            write_whole(place, _content(made_by.render(view)))
            written.append(place)
    write_whole(folder / PAGE, page(pictured(log, compilations), log.path.name).encode())
    return [folder / PAGE, *written]


def _content(rendered: str | bytes) -> bytes:
    return rendered if isinstance(rendered, bytes) else rendered.encode()


def _make(folder: Path) -> None:
    """Make a folder, or see that it is an empty one.

    Raises:
        ExportError: It can't be made, or something is there.
    """
    if folder.exists() and not folder.is_dir():
        raise ExportError(f"{folder} is a file, and the passes need a folder", "name another place")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        held = next(folder.iterdir(), None)
    except OSError as error:
        raise ExportError(f"{folder} can't be made: {error.strerror}", "choose another place") from error
    if held is not None:
        raise ExportError(f"{folder} holds files already ({held.name})", "name a new folder, or empty this one")


def _stems(compilations: list[Compilation]) -> list[str]:
    """How the files of each compilation begin: its name, with a number where several have the same."""
    names = [re.sub(r"[^\w.-]+", "_", each.function).strip("._") or "graph" for each in compilations]
    counts: dict[str, int] = {}
    stems = []
    for name in names:
        counts[name] = counts.get(name, 0) + 1
        stems.append(f"{name}-{counts[name]}" if names.count(name) > 1 else name)
    return stems
