"""Shapes and words of an SVG that we draw ourselves; all text of a program is escaped here."""

from __future__ import annotations

from html import escape
from typing import Final

from graphscope.exporters.box_styles import INK
from graphscope.exporters.dot_syntax import printable, shortened
from graphscope.exporters.text_widths import width

__all__ = ["document", "element", "group", "text_width", "words"]

FONT: Final = "Helvetica, Arial, sans-serif"


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element: numbers are written short, `stroke_width` is `stroke-width`; what is None is left out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{told}>{content}</{name}>" if content else f"<{name}{told}/>"


def words(
    text: str,
    x: float,
    y: float,
    *,
    size: float = 12,
    anchor: str | None = None,
    fill: str = INK,
    is_bold: bool = False,
    most: float | None = None,
) -> str:
    """A line of text; one that may be `most` wide is shortened, and in smaller letters where that is too wide yet."""
    shown = printable(text if most is None else shortened(text))
    wide = width(shown, size, is_bold=is_bold)
    if most is not None and wide > most:
        size, wide = size * most / wide, most
    return element(
        "text",
        escape(shown),
        x=x,
        y=y,
        font_size=size,
        fill=fill,
        text_anchor=anchor,
        font_weight="bold" if is_bold else None,
        textLength=wide if len(shown) > 1 else None,
        lengthAdjust="spacingAndGlyphs" if len(shown) > 1 else None,
    )


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """How wide a line of text is as `words` writes it."""
    return width(printable(text), size, is_bold=is_bold)


def group(parts: list[str], told: str = "", **attributes: object) -> str:
    """Shapes that belong together, with what a pointer over them shows."""
    title = [f"<title>{escape(chr(10).join(map(printable, told.split(chr(10)))))}</title>"] if told else []
    return element("g", "\n".join([*title, *parts]), **attributes)


def document(parts: list[str], width: float, height: float) -> str:
    """The whole file, upon white."""
    size = {"width": width, "height": height, "viewBox": f"0 0 {width:.5g} {height:.5g}"}
    ground = element("rect", width=width, height=height, fill="white")
    content = "\n".join(["", ground, *parts, ""])
    return f"{element('svg', content, xmlns='http://www.w3.org/2000/svg', font_family=FONT, **size)}\n"


def _attribute(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else escape(str(value))
