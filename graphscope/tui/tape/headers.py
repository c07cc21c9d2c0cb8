"""The header of a section as pieces of text, each with what it means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len

from graphscope.diagnose.text_lines import counted
from graphscope.graph.outline import SectionKind, facts, steps
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui.screen_text import fit, number, shape_text

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.scene import Scene
    from graphscope.tui.tape.row import Piece

Title = tuple[str, tuple[str, ...]]
"""What a header calls its section, and what else it tells of it, what matters most ahead."""

_SMALL: Final = 1e-4
_KEPT: Final = 1 << 11


class HeaderPainter:
    """Draws headers; what they tell is worked out once."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._told: dict[tuple[int, int, int], Title] = {}

    def forget(self) -> None:
        """What was kept may be of a log that has grown since."""
        self._told.clear()

    def paint(self, scene: Scene, section: Any, last: int, width: int, *, is_closed: bool, flags: str) -> list[Piece]:
        """The pieces of a header behind its indentation, `width` cells together.

        Args:
            scene: Where one stands.
            section: What it is the header of.
            last: The last row of that.
            width: Cells.
            is_closed: Whether it is folded.
            flags: What is wrong beneath it, in a sign.
        """
        glyphs, kind = self._glyphs, SectionKind(int(section["kind"]))
        key = (int(section["first"]), int(section["slot"]), last)
        if key not in self._told:
            if len(self._told) > _KEPT:
                self._told.clear()
            self._told[key] = _TITLES[kind](scene, section, last, glyphs)
        title, told = self._told[key]
        sign = glyphs.closed if is_closed else glyphs.opened
        rows = counted(last - int(section["first"]) + 1, "row")
        told = (*told, rows) if is_closed or kind is SectionKind.STEP else told
        words = f"{sign} {title}"
        room = width - len(flags)
        if kind is SectionKind.PASS and section["is_backward"]:
            words += f"  {rows}" if is_closed and cell_len(f"{words}  {rows} ") <= room else ""
            line = f"{words} " + glyphs.across * max(room - len(words) - 1, 0)
            return [(fit(line, room, glyphs.ellipsis), "pass-mark"), (flags, "flag")]
        name_room = min(len(words), room)
        rest = room - name_room
        tone = _TONES.get(kind, "scope")
        return [
            (fit(words, name_room, glyphs.ellipsis), tone),
            (fit(_joined(told, rest), rest, glyphs.ellipsis) if rest else "", "told"),
            (flags, "flag"),
        ]


def _joined(parts: Sequence[str], room: int) -> str:
    """As many parts as have room, each as a whole; of the first what has room."""
    first, *others = *filter(None, parts), ""
    made = f"  {first}" if first else ""
    for part in filter(None, others):
        if cell_len(f"{made}  {part}") > room:
            break
        made += f"  {part}"
    return made


_TONES: Final = {SectionKind.STEP: "step-mark", SectionKind.PASS: "pass-mark"}


def _step(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    place = int(section["subject"])
    told, called = steps(scene.log), step_numbers(scene.log).number(place)
    begins = told.begins[told.passes_of(place)]
    found = facts.of_step(scene.whole, int(section["first"]), last, begins, called.count)
    parts = [f"{name} {number(value)}" for name, value in zip(found._fields, found, strict=True) if value is not None]
    return str(called), tuple(parts)


def _pass(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    if not section["is_backward"]:
        return "forward", ()
    inputs = scene.log.event(int(section["first"])).inputs
    root = scene.whole.node(inputs[0][0]) if inputs else None
    return "backward" if root is None else f"backward from {root.name or root.label} #{root.row}", ()


def _scope(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    scope = scene.log.scope(int(section["scope"]))
    name = scope.name if scope is not None else "scope"
    kind = scope.type if scope is not None and scope.type not in ("", name) else ""
    flow = "" if section["is_backward"] else _flow(scene.log, int(section["first"]), last, glyphs)
    return name, (kind, flow)


def _flow(log: Log, first: int, last: int, glyphs: Glyphs) -> str:
    taken, given = facts.of_call(log, first, last)
    sides = [shape_text(shape, glyphs.times) or "scalar" for shape in (taken, given) if shape is not None]
    return (sides[0] if len(set(sides)) == 1 else f" {glyphs.leads_to} ".join(sides)) if sides else ""


def _making(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    return "parameters made", (_line(scene, section),)


def _optimizer(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    count, ops = facts.parameters_of(scene.log, int(section["first"]), last)
    return _line(scene, section) or "optimizer", (counted(count, "parameter"), ", ".join(ops))


def _parameter(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    node = scene.whole.node(int(section["subject"]) - 1)
    return node.name or node.label, ()


def _library(scene: Scene, section: Any, last: int, glyphs: Glyphs) -> Title:
    event = scene.log.event(int(section["first"]))
    site = scene.log.site(event.site)
    return _line(scene, section) or "library", (PurePath(site.file).name,) if site is not None and site.caller else ()


def _line(scene: Scene, section: Any) -> str:
    """The program's own line that a section was made by, as it is written."""
    site = facts.line_of(scene.log, section)
    if site is None:
        return ""
    lines = (scene.log.source(site.file) or "").splitlines()
    written = lines[site.line - 1].strip() if 0 < site.line <= len(lines) else ""
    return written or f"{PurePath(site.file).name}:{site.line}"


_TITLES: Final[dict[SectionKind, Callable[[Scene, Any, int, Glyphs], Title]]] = {
    SectionKind.STEP: _step,
    SectionKind.PASS: _pass,
    SectionKind.MAKING: _making,
    SectionKind.OPTIMIZER: _optimizer,
    SectionKind.PARAMETER: _parameter,
    SectionKind.SCOPE: _scope,
    SectionKind.LIBRARY: _library,
}


def flags_of(found: Sequence[int], first: int, last: int, glyphs: Glyphs) -> str:
    """A sign for each finding of some that lies in some rows, as far as there is room for a few."""
    count = sum(first <= row <= last for row in found)
    return f" {glyphs.finding}{count if count > 1 else ''}" if count else ""
