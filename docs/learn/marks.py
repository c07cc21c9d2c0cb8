"""Numbers in a lesson: each is followed by a comment that says what of the recording it is.

    At `y` it has grown to **4**<!-- y.grad -->.

A name means the node of that name, `row(7)` the seventh row; the expression between them is Python. A comment that
begins with `at` names a place of the page and leaves the words before it as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.graph.graph import Graph
from graphscope.graph.node import Node

_MARK: Final = re.compile(r"\*\*([^*]+)\*\*<!-- (at )?(.+?) -->")
_PLACE: Final = re.compile(r"(\w+|row\(\d+\))\.(value|grad|shape)")


@dataclass(frozen=True)
class Mark:
    """Words of a lesson, and what of the recording they tell of."""

    words: str
    what: str
    row: int | None
    """The row where the page shows it; None of what is computed from several."""


def filled(text: str, graph: Graph) -> str:
    """A text with the numbers that its recording has."""
    known = _known(graph)

    def one(found: re.Match[str]) -> str:
        words = found[1] if found[2] else told(_value(found[3], known))
        return f"**{words}**<!-- {found[2] or ''}{found[3]} -->"

    return _MARK.sub(one, text)


def replaced(text: str, graph: Graph, write: Callable[[Mark], str]) -> str:
    """A text with every mark written in another way."""
    known = _known(graph)
    return _MARK.sub(lambda found: write(Mark(found[1], found[3], _row(found[3], known))), text)


def marks(text: str, graph: Graph) -> list[Mark]:
    """Every mark of a text."""
    found: list[Mark] = []
    replaced(text, graph, lambda mark: found.append(mark) or "")  # type: ignore[func-returns-value]
    return found


def told(value: Any) -> str:
    """A value as the page writes it."""
    if isinstance(value, tuple):
        return "×".join(map(str, value)) or "scalar"
    if np.ndim(value):
        return f"[{', '.join(map(told, value))}]"
    number = float(value)
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "∞" if number > 0 else "−∞"
    return f"{number:,.4g}".replace("-", "−") if abs(number) < 1e4 else f"{number:,.0f}".replace("-", "−")


def _known(graph: Graph) -> dict[str, Any]:
    """The nodes of a recording by their names."""
    forward = [node for node in graph.nodes if node.graph_pass == "forward" and node.name]
    return {**{node.name: node for node in forward}, "row": graph.node}


def _value(what: str, known: dict[str, Any]) -> Any:
    return eval(what, {"__builtins__": {}}, known)  # noqa: S307 (our own texts)


def _row(what: str, known: dict[str, Any]) -> int | None:
    found = _PLACE.fullmatch(what)
    if found is None:
        return None
    node: Node = _value(found[1], known)
    return node.backward[-1].row if found[2] == "grad" else node.row
