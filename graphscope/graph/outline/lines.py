"""Which lines lie farther down in the same function than others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_PARTS: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Functions that Python makes of parts of others."""


def lies_below(log: Log, upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Whether lines lie farther down in the same function than others, all by their numbers."""
    pairs, which = np.unique(upper.astype(np.int64) << 32 | lower.astype(np.int64), return_inverse=True)
    found = [_is_below(log.site(pair >> 32), log.site(pair & 0xFFFFFFFF)) for pair in pairs.tolist()]
    return np.asarray(np.array(found, bool)[which])


def _is_below(upper: Site | None, lower: Site | None) -> bool:
    if upper is None or lower is None:
        return False
    return (upper.file, _written(upper)) == (lower.file, _written(lower)) and lower.line > upper.line


def _written(site: Site) -> str:
    """The function of the program's text that a line lies in."""
    function = site.function
    while (parts := function.rpartition("."))[2] in _PARTS:
        function = parts[0].removesuffix(".<locals>") or "<module>"
    return function
