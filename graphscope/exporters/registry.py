"""The table of exporters: what turns a view into a file, under its name, with the options that it declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any, Final, TypeAlias, TypeVar

from graphscope.errors import ExportError
from graphscope.exporters.options import Option, alternatives, options_of, summary_of

__all__ = ["EXPORTERS", "Exporter", "by_name", "by_suffix", "exporter", "load_extensions"]

Render: TypeAlias = Callable[..., str | bytes]
"""An exporter's function: from a `GraphView` and keyword-only options to the whole content of the file."""

Rendering = TypeVar("Rendering", bound=Render)

GROUP: Final = "graphscope.exporters"
"""Entry points of this group are loaded and add their exporters to the table with `@exporter`."""


@dataclass(frozen=True)
class Exporter:
    """One entry of the table."""

    name: str
    suffix: str
    render: Render
    is_whole: bool = False
    """It is given all steps and nothing folded, unless the person asks for less: it folds by itself, or writes data."""
    most: int | None = None
    """It takes so many nodes with nothing folded; None where it takes any number."""

    @property
    def doc(self) -> str:
        """What it makes, in one line."""
        return summary_of(self.render)

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its keyword-only parameters, described."""
        return options_of(self.render)


EXPORTERS: Final[dict[str, Exporter]] = {}
"""Every exporter under its name."""


def exporter(
    name: str, *, suffix: str, is_whole: bool = False, most: int | None = None
) -> Callable[[Rendering], Rendering]:
    """Enter a function into the table.

    Args:
        name: What it is called on a command line.
        suffix: Files that end so are made by it, with the dot: `.svg`.
        is_whole: It wants all steps with nothing folded, as it folds by itself or writes data; others are given what a
            person can read at a glance.
        most: Of more nodes it asks for a part; None where it takes any number.
    """

    def enter(render: Rendering) -> Rendering:
        EXPORTERS[name] = Exporter(name, suffix, render, is_whole, most)
        return render

    return enter


def load_extensions() -> list[str]:
    """Load the exporters that other packages bring; returns what went wrong, a sentence for each that failed."""
    from importlib.metadata import entry_points  # it loads much, and few come here

    failures = []
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001 - whatever a foreign package does, ours go on working
            failures.append(f"exporter {entry.name} ({entry.value}) can't be loaded: {error}")
    return failures


def by_name(name: str) -> Exporter:
    """The exporter of this name.

    Raises:
        ExportError: There is none.
    """
    return found(f"there is no exporter {name!r}", name, lambda entry: entry.name, name.__eq__)


def by_suffix(path: PurePath) -> Exporter:
    """The exporter that makes files that end so; of several, that of the longest suffix: `.trace.json`, not `.json`.

    Raises:
        ExportError: There is none.
    """
    suffix = path.suffix.lower()
    what = f"no exporter makes files that end in {suffix!r}" if suffix else "the file's name does not say its format"
    return found(what, suffix, lambda entry: entry.suffix, "".join(path.suffixes).lower().endswith)


def found(complaint: str, wanted: str, key: Callable[[Exporter], str], fits: Callable[[str], Any]) -> Exporter:
    """The exporter with the longest key that fits; other packages are asked only when none of ours does."""
    failures: list[str] = []
    for attempt in (list, load_extensions):
        failures = attempt()
        fitting = [entry for entry in EXPORTERS.values() if fits(key(entry))]
        if fitting:
            return max(fitting, key=lambda entry: len(key(entry)))
    choices = alternatives(wanted, [key(entry) for entry in EXPORTERS.values()])
    raise ExportError(complaint, "; ".join([choices, *failures]))
