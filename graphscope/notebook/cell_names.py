"""The names of cells: what IPython calls `/tmp/ipykernel_71/305.py` a person knows as `In[4]`."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from graphscope.notebook.surroundings import shell

__all__ = ["with_cell_names"]


def with_cell_names(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a page in which lines of cells stand in their cells."""
    running = shell()
    if running is None:
        return data
    strings = list(data["strings"])
    cells: dict[str, str] = {}
    for place in {*data["sites"]["file"]}:
        told = running.compile.format_code_name(strings[place])
        if told is not None:
            cells[PurePath(strings[place]).name] = strings[place] = told[1]
    return {**data, "strings": strings, "findings": [_named(each, cells) for each in data["findings"]]}


def _named(finding: dict[str, Any], cells: dict[str, str]) -> dict[str, Any]:
    named = dict(finding)
    for column in ("verdict", "cure", "place"):
        for file, cell in cells.items():
            named[column] = named[column].replace(file, cell)
    return named
