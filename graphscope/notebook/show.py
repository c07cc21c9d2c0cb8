"""A graph shown in a notebook: `show(tensor)`, and the picture that a cell shows of its own accord."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphscope.errors import GraphscopeError
from graphscope.exporters.export import export
from graphscope.exporters.svg import embedded

__all__ = ["Picture", "repr_svg", "show"]


@dataclass(frozen=True)
class Picture:
    """An SVG that a notebook draws where it is the value of a cell."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg)} bytes of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


def show(thing: Any, **options: Any) -> Picture:
    """The picture of a log, a graph or a tensor, for a notebook to draw.

    Args:
        thing: What to draw.
        options: As of `graphscope.export`: `fold="repeats"`, `overlay=True`, `select="op:mm"`.

    Raises:
        GraphscopeError: It can't be drawn.
    """
    return Picture(embedded(str(export(thing, format="svg", **options))))


def repr_svg(thing: Any) -> str | None:
    """What `_repr_svg_` of a thing returns: its picture, or None (then a notebook prints it) when there is none."""
    try:
        return show(thing).svg
    except GraphscopeError:
        return None
