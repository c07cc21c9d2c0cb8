"""Tuples, lists and dicts of tensors as a flat list and a form, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

_LEAF: Final = "leaf"
_ROWS: Final = (tuple, list)


def flatten(value: Any) -> tuple[list[Any], Any]:
    """What is in a nest of tuples, lists and dicts, in order; and the nest itself, which can be compared."""
    leaves: list[Any] = []
    return leaves, _form(value, leaves)


def _form(value: Any, leaves: list[Any]) -> Any:
    if isinstance(value, _ROWS):
        return (value.__class__, tuple([_form(part, leaves) for part in value]))
    if isinstance(value, dict):
        return (dict, tuple([(name, _form(part, leaves)) for name, part in value.items()]))
    leaves.append(value)
    return _LEAF


def unflatten(form: Any, leaves: Sequence[Any]) -> Any:
    """The nest again, around other leaves."""
    return _nest(form, iter(leaves))


def _nest(form: Any, leaves: Iterator[Any]) -> Any:
    if form is _LEAF or form == _LEAF:
        return next(leaves)
    kind, parts = form
    if kind is dict:
        return {name: _nest(part, leaves) for name, part in parts}
    made = [_nest(part, leaves) for part in parts]
    return kind._make(made) if hasattr(kind, "_make") else kind(made)
