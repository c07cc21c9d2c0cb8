"""Layout: DOT source in, a picture out, by whichever Graphviz this machine has."""

from __future__ import annotations

import logging
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from graphscope.errors import ExportError

__all__ = ["LayoutError", "Program", "drawn", "program"]

PURE: Final = "graphviz-pure"
CURE: Final = f"pip install {PURE} (a wheel for every platform), or install Graphviz so that `dot` is on the PATH"


LARGE: Final = 500_000
"""Characters of DOT: more than some 2,500 nodes, which take longer to lay out than a person likes to wait."""

REFUSING: Final = tuple(-number for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL))
"""Exit statuses of a program that met a fault of its own; with other signals somebody has ended it."""

_logger = logging.getLogger("graphscope")


class LayoutError(ExportError):
    """The layout program ran, and can't lay out what it was given."""


@dataclass(frozen=True)
class Program:
    """An executable that speaks the command line of `dot`."""

    path: str
    system: bool
    """It is the system's own Graphviz, which writes PDF too."""


def program() -> Program:
    """The layout program of this machine: the system's `dot`, else graphviz-pure.

    Raises:
        ExportError: There is neither.
    """
    if dot := shutil.which("dot"):
        return Program(dot, system=True)
    if pure := shutil.which(PURE) or beside_python() or in_distribution():
        return Program(pure, system=False)
    raise ExportError("no layout program is installed: neither `dot` nor `graphviz-pure` was found", CURE)


def beside_python() -> str | None:
    """graphviz-pure in the environment of this Python, which need not be activated."""
    return shutil.which(PURE, path=str(Path(sys.executable).parent))


def in_distribution() -> str | None:
    """graphviz-pure where its wheel says that it put its executable."""
    try:
        installed = files(PURE) or []
    except PackageNotFoundError:
        return None
    places = (Path(str(file.locate())) for file in installed if file.stem == PURE)
    return next((str(place.resolve()) for place in places if place.is_file()), None)


def drawn(source: str, file_format: str, *flags: str) -> bytes:
    """The picture of this DOT source.

    Args:
        source: DOT source.
        file_format: What `-T` of the program takes: `svg`, `png`, `pdf`, `json`.
        flags: Further flags of the program.

    Raises:
        LayoutError: It can't lay this out; the message has its own words.
        ExportError: There is no program, it can't be started, or somebody has ended it.
    """
    layout = program()
    if file_format == "pdf" and not layout.system:
        cure = "install Graphviz (`dot`), or export .svg and print it to PDF from a browser"
        raise ExportError(f"{PURE} does not write PDF, and no system `dot` was found", cure)
    if len(source) > LARGE:
        _logger.warning(
            "laying out about %s nodes and edges, which can take minutes (Ctrl-C stops it); "
            "draw less with fold, select or radius",
            f"{source.count(chr(10)):,}",
        )
    try:
        done = subprocess.run(
            [layout.path, f"-T{file_format}", *flags], input=source.encode(), capture_output=True, check=False
        )
    except OSError as error:
        raise ExportError(f"the layout program {layout.path} can't be started: {error.strerror}", CURE) from error
    if done.stdout and not done.returncode:
        return done.stdout
    said = done.stderr.decode(errors="replace").strip().splitlines()
    words = said[-1] if said else "it gave no reason"
    is_refused = done.returncode >= 0 or done.returncode in REFUSING
    raise (LayoutError if is_refused else ExportError)(
        f"the layout program {layout.path} failed (exit status {done.returncode}): {words}",
        "export .dot to see what it was given, or draw less: select=..., fold=..., radius=...",
    )
