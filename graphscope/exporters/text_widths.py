"""Text in an SVG that is as wide as its box was made for, whichever font draws it.

Layout takes the widths of Helvetica; a browser without it takes another font, whose letters may be wider.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Final

__all__ = ["fitted", "width"]

_REGULAR: Final = {
    191: "'", 222: "ijl", 260: "|", 278: " !,./:;[\\]ftI", 333: "()-`r", 334: "{}", 355: '"', 389: "*", 469: "^",
    500: "cksvxyzJ", 556: "#$0123456789?L_abdeghnopqu", 584: "+<=>~", 611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw",
    778: "GOQ", 833: "Mm", 889: "%", 944: "W", 1015: "@",
}  # fmt: skip
_BOLD: Final = {
    238: "'", 278: " ,./I\\ijl", 280: "|", 333: "!()-:;[]`ft", 389: "*r{}", 474: '"', 500: "z",
    556: "#$0123456789J_aceksvxy", 584: "+<=>^~", 611: "?FLTZbdghnopqu", 667: "EPSVXY", 722: "&ABCDHKNRU", 778: "GOQw",
    833: "M", 889: "%m", 944: "W", 975: "@",
}  # fmt: skip
_SIGNS: Final = {"·": 278, "∂": 494, "●": 604, "►": 770}
"""What pictures write beside the names of programs; a letter is never made wider than fonts have it."""
_WIDTHS: Final = [
    {letter: each for each, letters in of.items() for letter in letters} | _SIGNS for of in (_REGULAR, _BOLD)
]
"""Thousandths of the size of the letters, as Adobe's metrics of Helvetica and Helvetica-Bold tell them."""
_OF_BYTE: Final = 278
"""Layout counts so many for each byte of a letter that the metrics do not have."""

_TEXT: Final = re.compile(r'<text ([^>]*font-size="([\d.]+)"[^>]*)>([^<]*[^<\s][^<]*)</text>')


def width(text: str, size: float, *, is_bold: bool) -> float:
    """How wide a line of text is in Helvetica of some size."""
    known = _WIDTHS[is_bold]
    return sum(known.get(letter) or _OF_BYTE * len(letter.encode()) for letter in text) * size / 1000


def fitted(picture: str) -> str:
    """An SVG of Graphviz's that says of each text how wide it is to be drawn."""
    return _TEXT.sub(_with_width, picture)


def _with_width(found: re.Match[str]) -> str:
    attributes, size, text = found.groups()
    wide = width(unescape(text), float(size), is_bold='font-weight="bold"' in attributes)
    return f'<text {attributes} textLength="{wide:.2f}" lengthAdjust="spacingAndGlyphs">{text}</text>'
