"""Lines of the program, each with some around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.exporters.page.strings import Strings
    from graphscope.graph.view import GraphView

__all__ = ["SourceLines"]

_AROUND: Final = 3


class SourceLines:
    """A table of lines that grows as they are asked for.

    Args:
        view: What is drawn; its log may hold the text of the program.
        strings: Where the texts go.
    """

    def __init__(self, view: GraphView, strings: Strings) -> None:
        self._log = None if view.graph is None else view.graph.log
        self._strings = strings
        self._numbers: dict[tuple[str, int, str], int] = {}
        self._texts: dict[str, list[str]] = {}

    def number(self, site: Site | None) -> int:
        """The number of the line of a site; -1 where there is none."""
        if site is None or not site.file:
            return -1
        return self._numbers.setdefault((site.file, site.line, site.function), len(self._numbers))

    def columns(self) -> dict[str, list[Any]]:
        """The table; of each line also the texts around it, and the number of the first of these."""
        found: dict[str, list[Any]] = {name: [] for name in ("file", "line", "function", "begin", "text")}
        for file, line, function in self._numbers:
            lines = self._lines(file)
            begin = max(line - _AROUND, 1)
            around = lines[begin - 1 : line + _AROUND] if 0 < line <= len(lines) else []
            entry = (self._strings.number(file), line, self._strings.number(function), begin)
            for name, value in zip(found, (*entry, self._strings.numbers(around)), strict=True):
                found[name].append(value)
        return found

    def _lines(self, file: str) -> list[str]:
        if file not in self._texts:
            text = None if self._log is None else self._log.source(file)
            self._texts[file] = [] if text is None else text.expandtabs(4).splitlines()
        return self._texts[file]
