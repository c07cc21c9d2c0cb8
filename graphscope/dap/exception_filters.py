"""What an editor offers as kinds of exceptions to stop at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Filter:
    """Something that one may want to stop at wherever it happens."""

    label: str
    doc: str
    spec: str = ""
    """The breakpoint that it is; empty where the program itself tells of it."""
    default: bool = False


FILTERS: Final[dict[str, Filter]] = {
    "uncaught": Filter("Python exceptions", "Where an exception leaves the program.", default=True),
    "nonfinite": Filter(
        "Non-finite value is born", "The first NaN or Inf whose inputs were finite, in either pass.", "nan"
    ),
    "nonfinite_gradient": Filter(
        "Non-finite gradient is born", "The first NaN or Inf in the backward pass.", "nan backward"
    ),
    "overwritten": Filter("In-place damage", "A write in place over a value that backward still needs.", "overwritten"),
    "missing": Filter(
        "Leaf without a gradient",
        "A backward pass has ended, and a leaf that requires grad got none: detached, not used, or cut off.",
        "missing",
    ),
}
"""Every filter by its name."""
