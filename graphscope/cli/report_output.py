"""Prints the lines of a report on a terminal, with colours by what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.diagnose.text_lines import Line


def print_report(lines_for: Callable[[int], Iterable[Line]]) -> None:
    """Print what is said in so many columns as the terminal has."""
    from rich.text import Text

    from graphscope.cli.report_console import report_console
    from graphscope.debugger.terminal_text import escape

    console = report_console()
    for line in lines_for(console.width):
        console.print(Text(escape(line.text), _STYLES.get(line.meaning, "")), soft_wrap=True)


_STYLES: Final = {"error": "bold red", "warning": "bold yellow", "source": "cyan", "remark": "dim"}
