"""Whose the lines of a program are: its own, or a library's that one of them led into; and which only make modules."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MAKING: Final = frozenset(
    {
        "__init__", "reset_parameters", "_reset_parameters", "init_weights", "_init_weights", "initialize_weights",
        "_initialize_weights", "post_init", "__deepcopy__", "__copy__", "__setstate__",
    }
)  # fmt: skip
"""Functions that make modules and fill their parameters."""
_MAKING_FILES: Final = (("torch", "nn", "init.py"), ("torch", "nn", "modules", "module.py"))
_COPYING: Final = "copy.py"
_INSTALLED: Final = ("site-packages", "dist-packages")


class Origins(NamedTuple):
    """What is known of the lines of a log, by their numbers."""

    callers: np.ndarray
    """Of a line of a library the number of the program's line that led there first; 0 of the program's own lines."""
    is_making: np.ndarray
    """Whether the line is of a function that makes modules or fills parameters."""


@once_a_length
def origins(log: Log) -> Origins:
    """The lines of a log as far as it goes now."""
    sites = [None, *log.table("sites")]
    callers, is_making = np.zeros(len(sites), np.int64), np.zeros(len(sites), bool)
    for number, site in enumerate(sites):
        if isinstance(site, dict):
            caller = site.get("caller", 0)
            callers[number] = caller if isinstance(caller, int) and 0 < caller < len(sites) else 0
            is_making[number] = _makes(site, bool(callers[number]))
    return Origins(callers, is_making)


def _makes(site: dict[str, Any], is_of_library: bool) -> bool:
    function = str(site.get("function", "")).rpartition(".")[2]
    if function in _MAKING:
        return True
    parts = PurePath(str(site.get("file", ""))).parts
    if any(parts[-len(tail) :] == tail for tail in _MAKING_FILES):
        return True
    return is_of_library and parts[-1:] == (_COPYING,) and not set(_INSTALLED) & set(parts)
