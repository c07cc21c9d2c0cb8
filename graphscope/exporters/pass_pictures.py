"""The picture of each pass of a compiler, without words around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from graphscope.exporters.svg import svg
from graphscope.graph.pass_changes import changes
from graphscope.graph.pass_view import pass_view

if TYPE_CHECKING:
    from graphscope.eventlog.compilations import Compilation
    from graphscope.eventlog.reader import Log
    from graphscope.graph.pass_changes import PassChange
    from graphscope.graph.view import GraphView

__all__ = ["Pictured", "pictured"]

Pictured: TypeAlias = "tuple[Compilation, Sequence[tuple[PassChange, str]]]"
"""A compilation, and each of its passes with its picture as SVG."""


def pictured(log: Log, compilations: Sequence[Compilation]) -> list[Pictured]:
    """Compilations with the pictures of their passes; one that did nothing has that of the graph that it was given."""
    drawn: dict[GraphView, str] = {}
    found: list[Pictured] = []
    for compilation in compilations:
        pictures = []
        for change in changes(compilation):
            plain = replace(pass_view(change, log), heading=(), legend=())
            if plain not in drawn:
                drawn[plain] = svg(plain)
            pictures.append((change, drawn[plain]))
        found.append((compilation, pictures))
    return found
