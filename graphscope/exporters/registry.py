"""The table of exporters: what turns a view into a file, under its name, with the options that it declares."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from graphscope.errors import ExportError

__all__ = ["EXPORTERS", "Exporter", "Option", "by_name", "by_suffix", "exporter", "load_extensions"]

Render: TypeAlias = Callable[..., str | bytes]
"""An exporter's function: from a `GraphView` and keyword-only options to the whole content of the file."""

Rendering = TypeVar("Rendering", bound=Render)

GROUP: Final = "graphscope.exporters"
"""Entry points of this group are loaded and add their exporters to the table with `@exporter`."""


@dataclass(frozen=True)
class Option:
    """One option of an exporter, as data: a command line makes a flag of it, a reference a row."""

    name: str
    type: type
    default: Any
    doc: str
    choices: tuple[Any, ...] = ()
    """The only values allowed; empty when every value of the type is."""


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
        return (inspect.getdoc(self.render) or "").partition("\n")[0]

    @cached_property
    def options(self) -> tuple[Option, ...]:
        """Its keyword-only parameters, described."""
        parameters = inspect.signature(self.render).parameters.values()
        declared = {each.name: each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
        # Only these annotations are resolved: that of the view may name a type that is imported for checkers alone.
        annotations = SimpleNamespace(__annotations__={name: each.annotation for name, each in declared.items()})
        hints = get_type_hints(annotations, globalns=vars(inspect.getmodule(self.render)))
        notes = argument_notes(inspect.getdoc(self.render) or "")
        return tuple(described(name, hints[name], each.default, notes.get(name, "")) for name, each in declared.items())

    def checked(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options, when this exporter has them all and allows their values.

        Raises:
            ExportError: An option is unknown, or its value is not one of the choices.
        """
        declared = {option.name: option for option in self.options}
        for name, given in options.items():
            option = declared.get(name)
            if option is None:
                raise ExportError(f"exporter {self.name} has no option {name!r}", alternatives(name, declared))
            if option.choices and given not in option.choices:
                allowed = ", ".join(map(str, option.choices))
                raise ExportError(f"option {name} of exporter {self.name} can't be {given!r}", f"it can be {allowed}")
        return options


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


def alternatives(word: str, choices: Any) -> str:
    """A hint: the choice that was probably meant, or all of them."""
    if not choices:
        return "it has no options"
    close = difflib.get_close_matches(word, list(choices), n=1)
    suggestion = f"did you mean {close[0]}? " if close else ""
    return f"{suggestion}choose one of {', '.join(sorted(choices))}"


def described(name: str, hint: Any, default: Any, doc: str) -> Option:
    """One keyword-only parameter as an option."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        return Option(name, type(choices[0]), default, doc, choices)
    return Option(name, hint, default, doc)


def argument_notes(doc: str) -> dict[str, str]:
    """What a docstring's `Args:` says of each parameter."""
    section = re.search(r"^Args:\n((?:[ ]{4}.*\n?|\n)+)", doc, re.MULTILINE)
    entries = re.findall(r"^ {4}(\w+): (.+(?:\n {5,}.+)*)", section[1], re.MULTILINE) if section else []
    return {name: " ".join(text.split()) for name, text in entries}
