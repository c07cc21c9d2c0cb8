"""How the person of a recorded program knows its arrays: as tensors of the library that the program computes with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

Present = Callable[["np.ndarray", str], Any]
"""Makes a tensor of an array and the name that the log has for its dtype; the two share no memory."""

_presents: Final[dict[Path, Present]] = {}


def present_as(path: Path, present: Present) -> None:
    """Let the arrays of the log at `path`, which this process records, be presented so from now on."""
    _presents[path] = present


def forget(path: Path) -> None:
    """Another recording begins at `path`."""
    _presents.pop(path, None)


def presented(path: Path, array: np.ndarray | None, dtype: str) -> Any:
    """An array of the log at `path` as the program's person knows it; as it is, where another process recorded it."""
    present = _presents.get(path)
    return array if present is None or array is None else present(array, dtype)
