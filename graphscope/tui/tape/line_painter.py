"""A line of the tape as pieces of text: a row of the log, or the header of a section, set in by what lies around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.text_lines import counted
from graphscope.graph.outline import SectionKind, Steps
from graphscope.graph.outline.kinds import ROW, key_of
from graphscope.tui.tape.headers import HeaderPainter, flags_of
from graphscope.tui.tape.lanes import LaneSheet
from graphscope.tui.tape.lines import Line, Lines
from graphscope.tui.tape.row import RowPainter, Setting, events_of

if TYPE_CHECKING:
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.scene import Scene
    from graphscope.tui.tape.row import Piece

_WIDE: Final = 60
"""On a tape of so many columns, each section sets in by two."""


class LinePainter:
    """Draws the lines of one log for one scene after another."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._rows = RowPainter(glyphs)
        self._headers = HeaderPainter(glyphs)
        self._lines: Lines | None = None
        self._lanes: LaneSheet | None = None
        self.found: Sequence[int] = ()
        """The rows of what is wrong."""
        none = np.zeros(0, np.int64)
        self.steps = Steps(none, none, none, none)

    def take(self, lines: Lines, steps: Steps, found: Sequence[int]) -> bool:
        """Draw these lines from now on; whether what was drawn may differ."""
        if lines is self._lines and steps is self.steps and found == self.found:
            return False
        self._lines, self.steps, self.found = lines, steps, found
        self._headers.forget()
        self.forget()
        return True

    def forget(self) -> None:
        """Lines were shown or hidden."""
        self._lanes = None

    def moving(self, scene: Scene, key: int) -> tuple[object, ...]:
        """What a line says of the position in time, as far as it differs from line to line; to be compared."""
        assert self._lines is not None
        line = self._lines.told(key)
        here, loop = self._is_current(scene, key), self._lines.loop_told_at(key)
        if line.section is None:
            widest = self._lanes.widest if self._lanes is not None else 0
            return (*self._rows.moving(scene, self.steps, line.row), widest, here, loop)
        return (line.row > scene.now, line.is_closed, here, len(str(scene.log.end)), loop)

    def paint(self, scene: Scene, key: int, number: int, width: int) -> list[Piece]:
        """The pieces of the line of a key, `width` cells together.

        Args:
            scene: Where one stands.
            key: What names the line.
            number: Which line it is.
            width: Cells.
        """
        assert self._lines is not None
        line = self._lines.told(key)
        indent = min(line.depth * (2 if width >= _WIDE else 1), width // 4)
        place = self._lines.loop_told_at(key)
        behind = ""
        if place is not None:
            loop = self._lines.loops[place]
            behind = f" {self._glyphs.closed} {loop.turns}{self._glyphs.times} {counted(loop.turn, 'row')}"
        if line.section is not None:
            return self._header(scene, key, line, width, indent, behind)
        if self._lanes is None:
            self._lanes = LaneSheet(self._runs, events_of(scene))
        lanes = self._lanes.of(number, line.row)
        path = self._path(scene, line.around)
        setting = Setting(
            lanes,
            self._lanes.widest,
            indent,
            path,
            behind,
            is_current=self._is_current(scene, key),
            is_found=line.row in self.found,
        )
        return self._rows.paint(scene, self.steps, line.row, width, setting)

    def _header(self, scene: Scene, key: int, line: Line, width: int, indent: int, behind: str) -> list[Piece]:
        assert self._lines is not None
        first, last = self._lines.span(key)
        digits = len(str(scene.log.end - 1))
        mark = self._glyphs.current if self._is_current(scene, key) else " "
        gutter = [(" ", ""), (mark, "current-mark"), (f"{line.row:>{digits}} ", "number"), (" " * indent, "")]
        room = width - sum(len(text) for text, _ in gutter) - len(behind)
        flags = flags_of(self.found, first, last, self._glyphs) if line.is_closed else ""
        pieces = self._headers.paint(scene, line.section, last, room, is_closed=line.is_closed, flags=flags)
        return [*gutter, *pieces, (behind, "scope")]

    def _is_current(self, scene: Scene, key: int) -> bool:
        """Whether a line is that of the current node, or the one that it is folded away behind."""
        assert self._lines is not None
        here = key_of(scene.now, ROW)
        return key <= here and self._lines.key(self._lines.line_of(here)) == key

    def _path(self, scene: Scene, section: Any) -> str:
        """The path of the module that a section is about."""
        if section is None or section["kind"] not in (SectionKind.SCOPE, SectionKind.LIBRARY, SectionKind.MAKING):
            return ""
        number = int(section["scope"]) or int(scene.log.raw(int(section["first"]))["scope"])
        return scene.log.scope_path(number)

    def _runs(self, low: int, high: int) -> list[list[int]]:
        """The rows of some lines, in runs: those of one section that stand right beneath each other."""
        assert self._lines is not None
        found: list[list[int]] = []
        last: object = None
        for number in range(low, min(high, len(self._lines))):
            key = self._lines.key(number)
            line = self._lines.told(key) if key is not None else None
            if line is None or line.section is not None:
                last = None
                continue
            around = () if line.around is None else (int(line.around["first"]), int(line.around["slot"]))
            if around != last:
                found.append([])
            found[-1].append(line.row)
            last = around
        return found
