"""From a log, a graph or a tensor to a file: choose what is drawn, render it, write it whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphscope.errors import ExportError
from graphscope.exporters.options import checked
from graphscope.exporters.registry import Exporter, by_name, by_suffix
from graphscope.exporters.view_selection import Choice
from graphscope.exporters.views.figure import content
from graphscope.exporters.views.request import Request
from graphscope.exporters.views.view_table import DEFAULT, check_said, view_by_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.exporters.view_selection import Fold, OnePass, Step
    from graphscope.exporters.views.view_table import View

__all__ = ["export"]

_TABLES: Final = "parquet"
"""What a person may take for an exporter: the format of tables."""


def export(
    thing: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    view: str = DEFAULT,
    select: str | None = None,
    graph_pass: OnePass | None = None,
    fold: Fold | Iterable[Fold] | None = None,
    step: Step | None = None,
    at: int | None = None,
    radius: int | None = None,
    breakpoints: Iterable[int | str] = (),
    current: int | None = None,
    **options: Any,
) -> str | bytes:
    """Draw a computation graph, or write it as data.

    Args:
        thing: A log or its path, a graph, a view of one, a difference of two runs, or a tensor: its own graph is drawn,
            without a recording.
        path: Where to write; None only returns the content.
        format: Name of the exporter; by default the one whose suffix the path has.
        view: What is drawn: ops as boxes, or another way of the table of views.
        select: Draw the nodes that this SPEC selects (and what lies within `radius` of them), not all.
        graph_pass: Draw the forward or the backward pass alone.
        fold: "repeats" draws the iterations of a loop, and equal layers, as one, "scopes" (or a depth) the call of a
            module as one box; several are done in their order. By default a picture is folded as far as it takes to be
            read; "none" folds nothing.
        step: Draw this training step, or "all" in one picture. By default a picture shows the one that the doctor found
            something in, else the newest that has ended.
        at: The graph as it was when the log had come to this row.
        radius: So many edges away from what is selected (else from `current`) are drawn too.
        breakpoints: Nodes to mark: row numbers or SPECs.
        current: The row to mark as the one where the debugger stands.
        options: What the exporter and the view declare, such as `overlay=True` or `rankdir="LR"`.

    Returns:
        The content of the file: text, or bytes of a binary format.

    Raises:
        ExportError: It can't be drawn or written; nothing was left at `path` that was not there before.
    """
    made_by = exporter_for(path, format)
    if path is not None:
        check_place(Path(path), made_by)
    choice = Choice(select, graph_pass, step, at, radius, current, tuple(breakpoints))
    folds = None if fold is None else (fold,) if isinstance(fold, str | int) else tuple(fold)
    made = rendered(Request(thing, choice, folds, made_by), view_by_name(view), options)
    if path is not None:
        write_whole(Path(path), made if isinstance(made, bytes) else made.encode())
    return made


def rendered(asked: Request, entry: View, options: dict[str, Any]) -> str | bytes:
    """What a file holds of what was asked for, drawn in one way.

    Args:
        asked: What is drawn, and by what exporter.
        entry: How.
        options: Those of the view and of the exporter that were given.

    Raises:
        ExportError: It can't be drawn so, or an option is of neither.
    """
    check_said(entry, asked.said)
    own = {option.name for option in entry.options}
    chosen = checked({name: each for name, each in options.items() if name in own}, entry.options, f"view {entry.name}")
    others = {name: each for name, each in options.items() if name not in own}
    return content(entry.draw(asked, **chosen), entry, asked.made_by, others)


def exporter_for(path: str | os.PathLike[str] | None, format: str | None) -> Exporter:
    """The exporter that is named, else the one for the path's suffix.

    Raises:
        ExportError: There is no such exporter.
    """
    if format == _TABLES or (format is None and path is not None and Path(path).suffix.lower() == f".{_TABLES}"):
        raise ExportError(
            f"{_TABLES} is no drawing of a graph: tables are written of whole logs, to a folder",
            f"graphscope.tables.export_tables(logs, folder), or `graphscope export LOG --format {_TABLES} -o FOLDER`",
        )
    if format is not None:
        return by_name(format)
    if path is None:
        raise ExportError("neither a file nor a format was given", 'say where: "graph.svg", or what: format="svg"')
    return by_suffix(Path(path))


def check_place(path: Path, made_by: Exporter) -> None:
    """Look whether a file of an exporter can be here before the work is done.

    Raises:
        ExportError: It is a folder, or lies in none, or a file is here whose name says that it is something else.
    """
    if path.is_dir():
        raise ExportError(f"{path} is a folder", f"name a file in it: {path / 'graph.svg'}")
    if not path.parent.is_dir():
        raise ExportError(f"there is no folder {path.parent} to write {path.name} to", "make it, or choose another")
    suffix = Path(made_by.name + made_by.suffix).suffix  # `.json`, too, of what ends in `.trace.json`
    if path.suffix.lower() != suffix and path.is_file() and path.stat().st_size:
        raise ExportError(
            f"{path} is there already and does not end in {suffix}: it may be something else, and is left as it is",
            f"name a file that ends in {suffix}, or remove this one",
        )


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it: under another name first, which then takes its place.

    Raises:
        ExportError: It can't be written.
    """
    # A link's target is replaced, not the link; the new file gets the permissions that any new file would.
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device takes what is written as it comes
            target.write_bytes(content)
            return
        draft.write_bytes(content)
        draft.replace(target)
    except OSError as error:
        raise ExportError(f"{path} can't be written: {error.strerror}", "choose another place, or make room") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
