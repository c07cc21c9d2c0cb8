"""The console that reports are printed on: as rich has it, but no line ends in blanks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, RenderHook
from rich.segment import Segment

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, ConsoleRenderable


def report_console() -> Console:
    """A console on standard output."""
    console = Console(highlight=False)
    console.push_render_hook(_Trimming())
    return console


class _Trimming(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Trimmed(each) for each in renderables]


class _Trimmed:
    """What is printed, without the blanks by which tables fill their last column."""

    def __init__(self, shown: ConsoleRenderable) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for line in Segment.split_lines(console.render(self._shown, options)):
            while line and not line[-1].text.rstrip(" "):
                line.pop()
            yield from line[:-1]
            if line:
                yield line[-1]._replace(text=line[-1].text.rstrip(" "))
            yield Segment.line()
