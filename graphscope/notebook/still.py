"""What a notebook shows by itself, without a widget: a page in a frame, or a picture."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Picture", "Still"]


@dataclass(frozen=True)
class Picture:
    """An SVG that a notebook draws where it is the value of a cell."""

    svg: str

    def __repr__(self) -> str:
        return f"<Picture, {len(self.svg)} bytes of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True)
class Still:
    """The page where nothing can come back from it: by what a notebook calls each form, its content."""

    thing: Any
    forms: dict[str, str] = field(repr=False)

    selected = ()
    """Nothing is ever chosen, as far as Python learns."""

    def _repr_mimebundle_(self, **_given: object) -> dict[str, str]:
        return {"text/plain": repr(self), **self.forms}

    def _repr_html_(self) -> str | None:
        return self.forms.get("text/html")
