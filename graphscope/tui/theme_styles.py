"""Text whose styles are words of the theme (`forward`, `backward`, `muted`, ...), themed in the colours of today."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rich.style import Style
from rich.text import Span, Text

WORDS: Final = ("forward", "backward", "leaf", "muted", "faint", "warning", "error", "primary", "secondary")
"""Variables of the theme that a style may name."""


def themed(text: Text, variables: Mapping[str, str]) -> Text:
    """The text with the words in its styles replaced by colours."""
    made = text.copy()
    made.spans = [Span(span.start, span.end, _style(span.style, variables)) for span in text.spans]
    made.style = _style(text.style, variables)
    return made


def _style(style: str | Style, variables: Mapping[str, str]) -> str | Style:
    if isinstance(style, Style):
        return style
    return " ".join(variables.get(word, word) if word in WORDS else word for word in style.split())
