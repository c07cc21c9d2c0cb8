"""Parts that are written to: of tensors, which become new ones, of lists and of dicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from graphscope.static.graphs import dynamic_shapes
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.graphs.trees import leaves_of

_VIEWS: Final = frozenset(
    {"getitem", "select", "narrow", "view", "reshape", "permute", "transpose", "t", "unsqueeze", "squeeze", "unbind",
     "split", "chunk", "expand", "diagonal", "flatten", "index"}
)  # fmt: skip
"""Ops whose result shares memory with what they are given: a write would be seen in both."""


CHANGING: Final = frozenset({"append", "extend", "insert", "pop", "clear", "reverse", "update", "setdefault"})
"""Methods that change a list or dict."""


def _put(x: Any, index: Any, value: Any) -> Any:
    """A tensor like another but for a part."""
    new = x.clone()
    new[index] = value
    return new


def written(whole: Any, index: Any, value: Any) -> Any:
    """What stands for a tensor, list or dict when a part of it has been written.

    Raises:
        TypeError: It has no parts.
    """
    if isinstance(whole, Symbol):
        return dynamic_shapes.call(_put, (whole, index, value), {}, Symbol)
    if isinstance(whole, dict):
        return {**whole, index: value}
    if isinstance(whole, list):
        new = list(whole)
        new[index] = value
        return new
    raise TypeError(f"a part of a {type(whole).__name__} can't be written")


def shared(whole: Any, names: dict[str, Any], given: Sequence[Any]) -> str | None:
    """Why a write to a part of a tensor would be seen elsewhere, too; None where it would not.

    Args:
        whole: The tensor.
        names: The variables.
        given: What the function was given.
    """
    if not isinstance(whole, Symbol):
        return None
    node = whole.output.node
    if node.op == "variable" or any(whole is each for each in given):
        return "it was given from outside, where the write would be seen"
    if node.op in _VIEWS:
        return "it is a view of another tensor, where the write would be seen"
    for name, value in names.items():
        for leaf in leaves_of(value):
            seen = isinstance(leaf, Symbol) and leaf.output.node.op in _VIEWS
            if seen and whole.output in leaf.output.node.inputs:
                return f"{name!r} is a view of it, where the write would be seen"
    return None


def replaced(names: dict[str, Any], old: Any, new: Any) -> None:
    """Let all names of one thing stand for another."""
    names.update({name: new for name, value in names.items() if value is old})
