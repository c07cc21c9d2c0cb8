"""What stands behind `%%graphscope`: which variable gets the view, how high that is, and how is recorded."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from graphscope.errors import UsageError
from graphscope.eventlog.record import CAPTURES
from graphscope.notebook.show import LEAST

__all__ = ["CellOptions", "cell_options"]


@dataclass(frozen=True)
class CellOptions:
    """The words, understood."""

    name: str | None
    """The variable that gets the view."""
    height: int
    recording: dict[str, Any]
    """What `record` is given."""


class _Parser(argparse.ArgumentParser):
    """One that says in a sentence what is wrong, and ends nothing."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%%graphscope: {message}", "%%graphscope? tells what it takes")


_PARSER: Final = _Parser(prog="%%graphscope", add_help=False, allow_abbrev=False)
_PARSER.add_argument("name", nargs="?")
_PARSER.add_argument("--height", type=int, default=560)
_PARSER.add_argument("--values", choices=("full", "summary", "none"), default="full")
_PARSER.add_argument("--capture", choices=CAPTURES, default="calls+backward")
_PARSER.add_argument("--keep-last", type=int)
_PARSER.add_argument("--every", type=int, default=1)
_PARSER.add_argument("--memory", action="store_true")


def cell_options(line: str) -> CellOptions:
    """Read what stands behind the magic.

    Raises:
        UsageError: It is not understood.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:  # a quote that does not end
        _PARSER.error(str(error).lower())
    given = vars(_PARSER.parse_args(words))
    name, height = given.pop("name"), given.pop("height")
    if name is not None and not name.isidentifier():
        _PARSER.error(f"{name!r} is no name for a variable")
    if height < LEAST:
        _PARSER.error(f"a view can't be {height} pixels high, {LEAST} is the least")
    return CellOptions(name, height, given)
