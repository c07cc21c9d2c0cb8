"""Tuples, lists and dicts of tensors as a flat list and a form, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

_LEAF: Final = "leaf"
_ROWS: Final = (tuple, list)


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """What is in a nest of tuples, lists and dicts, in order; and the form of the nest, which can be compared."""
    leaves: list[Any] = []
    return leaves, _form(tree, leaves)


def _form(tree: Any, leaves: list[Any]) -> Any:
    if isinstance(tree, _ROWS):
        return (tree.__class__, tuple([_form(part, leaves) for part in tree]))
    if isinstance(tree, dict):
        return (tree.__class__, tuple([(name, _form(part, leaves)) for name, part in tree.items()]))
    leaves.append(tree)
    return _LEAF


def unflatten(form: Any, leaves: Iterable[Any]) -> Any:
    """A nest of this form, around other leaves."""
    return _nest(form, iter(leaves))


def _nest(form: Any, leaves: Iterator[Any]) -> Any:
    if form is _LEAF or form == _LEAF:
        return next(leaves)
    kind, parts = form
    if issubclass(kind, dict):
        return kind([(name, _nest(part, leaves)) for name, part in parts])
    made = [_nest(part, leaves) for part in parts]
    return kind._make(made) if hasattr(kind, "_make") else kind(made)


def leaves_of(tree: Any) -> list[Any]:
    """What is in a nest, in order."""
    return flatten(tree)[0]


def with_leaves(tree: Any, leaves: Iterable[Any]) -> Any:
    """The same nest around other leaves, of which so many are taken as it has."""
    return unflatten(flatten(tree)[1], leaves)
