"""For terminals that show nothing but ASCII: signs of formulas are in_ascii; what is left has a sign in its place."""

from __future__ import annotations

from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.color import Color
from textual.filter import LineFilter

WORDS: Final = {
    "·": "*", "×": "x", "÷": "/", "−": "-", "²": "^2", "³": "^3", "ⁿ": "^n", "ˣ": "^x", "√": "sqrt ", "Σ": "sum ",
    "∑": "sum ", "∏": "prod ", "Π": "prod ", "∂": "d", "∞": "inf", "π": "pi", "ε": "eps", "σ": "sigma", "μ": "mu",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "←": "<-", "→": "->", "↔": "<->", "…": "...", "–": "-", "—": "-",
    "“": '"', "”": '"', "‖": "|", "⟨": "<", "⟩": ">", "∈": "in", "ᵀ": ".T", "½": "1/2",
}  # fmt: skip
"""How signs of formulas are in_ascii where a line is yet to be laid out."""

_SIGNS: Final = {"↑": "^", "↓": "v", **{sign: word for sign, word in WORDS.items() if len(word) == 1}}


def in_ascii(text: Text) -> Text:
    """Text with its signs in_ascii; styles stay where they were."""
    cuts = sorted({cut for place, sign in enumerate(text.plain) if sign in WORDS for cut in (place, place + 1)})
    if not cuts:
        return text
    made = Text(style=text.style)
    for part in text.divide(cuts):
        word = WORDS.get(part.plain)
        made.append_text(part if word is None else Text(word, part.spans[0].style if part.spans else ""))
    return made


class OnlyAscii(LineFilter):
    """Puts a sign in the place of every character that is left, so that lines keep their length."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The same segments in ASCII."""
        return [
            segment if segment.text.isascii() else Segment(_signs(segment.text), segment.style, segment.control)
            for segment in segments
        ]


def _signs(text: str) -> str:
    return "".join(sign if sign.isascii() else _SIGNS.get(sign, "?" * cell_len(sign)) for sign in text)
