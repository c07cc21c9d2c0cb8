"""What a function of a table can be asked for: its keyword-only parameters, as data."""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from graphscope.errors import ExportError

__all__ = ["Option", "alternatives", "checked", "options_of", "summary_of"]


@dataclass(frozen=True)
class Option:
    """One option of an exporter or a view, as data: a command line makes a flag of it, a reference a row."""

    name: str
    type: type
    default: Any
    doc: str
    choices: tuple[Any, ...] = ()
    """The only values allowed; empty when every value of the type is."""


def summary_of(function: Callable[..., Any]) -> str:
    """What a function says of itself in one line."""
    return (inspect.getdoc(function) or "").partition("\n")[0]


def options_of(function: Callable[..., Any]) -> tuple[Option, ...]:
    """The keyword-only parameters of a function, described."""
    parameters = inspect.signature(function).parameters.values()
    declared = {each.name: each for each in parameters if each.kind is inspect.Parameter.KEYWORD_ONLY}
    # Only these annotations are resolved: that of the view may name a type that is imported for checkers alone.
    annotations = SimpleNamespace(__annotations__={name: each.annotation for name, each in declared.items()})
    hints = get_type_hints(annotations, globalns=vars(inspect.getmodule(function)))
    notes = argument_notes(inspect.getdoc(function) or "")
    return tuple(described(name, hints[name], each.default, notes.get(name, "")) for name, each in declared.items())


def checked(options: dict[str, Any], declared: tuple[Option, ...], owner: str) -> dict[str, Any]:
    """The options, when all are declared and their values allowed.

    Args:
        options: What was given.
        declared: What can be.
        owner: Whose options they are: `exporter svg`.

    Raises:
        ExportError: An option is unknown, or its value is not one of the choices.
    """
    known = {option.name: option for option in declared}
    for name, given in options.items():
        option = known.get(name)
        if option is None:
            raise ExportError(f"{owner} has no option {name!r}", alternatives(name, known))
        if option.choices and given not in option.choices:
            allowed = ", ".join(map(str, option.choices))
            raise ExportError(f"option {name} of {owner} can't be {given!r}", f"it can be {allowed}")
    return options


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
