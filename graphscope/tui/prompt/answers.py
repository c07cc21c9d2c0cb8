"""Lines of results in the styles of the theme."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from rich.text import Text

from graphscope.debugger.result_lines import Line, Meaning, beside
from graphscope.debugger.results import Message, Result, Stop

STYLES: Final[Mapping[Meaning, str]] = {
    "text": "",
    "position": "bold",
    "source": "forward",
    "current": "bold",
    "error": "bold error",
    "remark": "muted",
}
"""Styles by what they are for, in words of the theme."""


def styled(lines: Iterable[Line]) -> Text:
    """Lines as one text; what they say is data and never markup."""
    return Text("\n").join(Text(line.text, STYLES[line.meaning]) for line in lines)


def is_worth_telling(result: Result) -> bool:
    """Whether what a key did is to be told in words, too; why it stopped is in the heading, if it is short."""
    if isinstance(result, Stop):
        return bool(beside(result) or result.displays or result.raised)
    return not isinstance(result, Message) or bool(result.text)
