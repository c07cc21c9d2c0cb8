"""Adapters that installed packages bring, by their entry points.

What Python has for entry points loads much, and takes as long as many a program's first steps. So the files that may
name one are looked through first, and it is asked only where one of them does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import Final

GROUP: Final = "graphscope.adapters"
"""The group of entry points: `torchlike = torchlike.graphscope`."""


def brought() -> Iterator[tuple[str, str]]:
    """Frameworks that packages serve, and the modules by which they do."""
    if _may_be_some():
        from importlib.metadata import entry_points

        for entry in entry_points(group=GROUP):
            yield entry.name, entry.module


def _may_be_some() -> bool:
    others = any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder)
    return others or any(map(_is_named, [each or os.curdir for each in sys.path]))


def _is_named(place: str) -> bool:
    """Whether a package in an entry of `sys.path` may have such an entry point."""
    try:
        return _is_named_in(place, os.stat(place).st_mtime_ns)  # noqa: PTH116 - as `pathlib` does, at a tenth of the time
    except OSError:
        return False


@lru_cache(maxsize=256)
def _is_named_in(place: str, _changed: int) -> bool:
    try:
        names = os.listdir(place)  # noqa: PTH208
    except NotADirectoryError:  # an archive
        return True
    return any(_names_it(place, name) for name in names if name.lower().endswith("-info"))


def _names_it(place: str, package: str) -> bool:
    with suppress(FileNotFoundError, NotADirectoryError), open(f"{place}/{package}/entry_points.txt", "rb") as file:  # noqa: PTH123
        return GROUP.encode() in file.read()
    return False
