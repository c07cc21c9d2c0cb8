"""Whose the lines of a program are: its own, or a library's that one of them led into; and which only make modules."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_MAKING: Final = frozenset(
    {
        "__init__", "reset_parameters", "_reset_parameters", "init_weights", "_init_weights", "initialize_weights",
        "_initialize_weights", "post_init", "__deepcopy__", "__copy__", "__setstate__",
    }
)  # fmt: skip
"""Functions that make modules and fill their parameters."""
_MAKING_FILES: Final = (
    ("torch", "nn", "init.py"),
    ("torch", "nn", "modules", "module.py"),
    ("transformers", "initialization.py"),
    ("timm", "layers", "weight_init.py"),
)
_COPYING: Final = "copy.py"
_INSTALLED: Final = ("site-packages", "dist-packages")


class Origins(NamedTuple):
    """What is known of the lines of a log, by their numbers."""

    callers: np.ndarray
    """Of a line of a library the number of the program's line that led there first; 0 of the program's own lines."""
    makes: np.ndarray
    """Whether the line is of a function that makes modules or fills parameters."""


@once_a_length
def origins(log: Log) -> Origins:
    """The lines of a log as far as it goes now."""
    count = len(log.table("sites")) + 1
    callers, makes = np.zeros(count, np.int64), np.zeros(count, bool)
    for number in range(1, count):
        site = log.site(number)
        if site is not None:
            callers[number] = site.caller if site.caller < count else 0
            makes[number] = is_making(site)
    return Origins(callers, makes)


def is_making(site: Site) -> bool:
    """Whether a line is of a function that makes modules or fills their parameters."""
    if site.function.rpartition(".")[2] in _MAKING:
        return True
    parts = PurePath(site.file).parts
    if any(parts[-len(tail) :] == tail for tail in _MAKING_FILES):
        return True
    return site.caller > 0 and parts[-1:] == (_COPYING,) and not set(_INSTALLED) & set(parts)
