"""One line of the tape as pieces of text, each with what it means; the look of a meaning is in the style sheet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len

from graphscope.diagnose.explanation import listed
from graphscope.errors import LogError
from graphscope.eventlog.schema import NODES, Flag, Kind
from graphscope.graph.faults import is_fault
from graphscope.tui.glyphs import Glyphs
from graphscope.tui.scene import gradient_title
from graphscope.tui.screen_text import escape, fit, fit_name, fit_op, fit_shape, shape_text
from graphscope.tui.tape.lanes import REACH, draw, mark_of
from graphscope.tui.tape.magnitude import bar, magnitude

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Node
    from graphscope.graph.outline import Steps
    from graphscope.tui.scene import Scene
    from graphscope.tui.tape.lanes import Lanes

Piece = tuple[str, str]
"""Text and its meaning, which has a look in the table of looks."""

_BAR: Final = 4
_COLUMNS_FROM: Final = 44
_LEAST_NAME: Final = 6
"""So many cells a name keeps beside an op that is long."""
_KEPT: Final = 1 << 13
_NAMED: Final = 3
_INPUTS_FROM: Final = 72
"""A tape of so many columns also tells the inputs."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a row stands on a tape."""

    lanes: Lanes | None = None
    """What leads to it and on from it."""
    lanes_width: int = 3
    """The cells that lanes are given."""
    indent: int = 0
    """The cells that its line is set in by the sections around it."""
    scope: str = ""
    """The path of the module around it that has a header: names are told from there on."""
    behind: str = ""
    """What is said at its end: of the closed loop that it stands for."""
    is_current: bool = False
    """One stands there."""
    is_found: bool = False
    """Something wrong shows there."""


@dataclass
class RowPainter:
    """Draws lines for one scene after another; what does not depend on the position is kept."""

    glyphs: Glyphs
    _sizes: dict[int, float | None] = field(default_factory=dict)

    def moving(self, scene: Scene, steps: Steps, row: int) -> tuple[object, ...]:
        """What a line says of the position in time, as far as it differs from line to line; to be compared."""
        try:
            event = scene.whole.index.event(row)
            node = scene.whole.node(row) if event.kind in NODES else None
            rise = self._rise(scene, steps, node) if node is not None else []
        except LogError:
            return (row, None)
        return (row, row > scene.now, self._gutter(scene, event, 0, here=False), rise, len(str(scene.log.end)))

    def paint(self, scene: Scene, steps: Steps, row: int, width: int, setting: Setting) -> list[Piece]:
        """The pieces of a line, `width` cells together.

        Args:
            scene: Where one stands.
            steps: The steps and passes of the log.
            row: The row of the line.
            width: Cells.
            setting: Where the row stands.
        """
        try:
            return self._painted(scene, steps, scene.whole.index.event(row), width, setting)
        except LogError:  # damaged, dropped of late, or of a program that was started again
            return [("".ljust(width), "future")]

    def _painted(self, scene: Scene, steps: Steps, event: Event, width: int, setting: Setting) -> list[Piece]:
        gutter = [
            *self._gutter(scene, event, len(str(scene.log.end - 1)), here=setting.is_current),
            (" " * setting.indent, ""),
        ]
        room = width - sum(len(text) for text, _ in gutter)
        if event.kind not in NODES:
            return [*gutter, *self._mark(scene, event, room)]
        node = scene.whole.node(event.row)
        lanes_width = max(3, min(room // 5, 20, setting.lanes_width))
        return [
            *gutter,
            *self._rise(scene, steps, node),
            *self._lane_cells(setting.lanes, event, lanes_width),
            *self._words(scene, node, room - 3 - lanes_width - len(setting.behind), setting),
            (setting.behind, "scope"),
        ]

    # Parts -----------------------------------------------------------------------------------------------------------

    def _gutter(self, scene: Scene, event: Event, digits: int, *, here: bool) -> list[Piece]:
        broken = event.kind in NODES and bool(scene.breakpoints) and scene.broken(scene.whole.node(event.row))
        return [
            (self.glyphs.breakpoint if broken else " ", "breakpoint"),
            (self.glyphs.current if here else " ", "current-mark"),
            (f"{event.row:>{digits}} ", "number"),
        ]

    def _rise(self, scene: Scene, steps: Steps, node: Node) -> list[Piece]:
        """Beside forward nodes, gradients rise: where one has arrived up to now, and the way that it has come."""
        if node.graph_pass != "forward" or node.row > scene.now:
            return [("  ", "backward")]
        stop = min(scene.now + 1, node.row + (1 << 16))
        arrived = any(
            scene.whole.index.event(row).kind in (Kind.GRAD, Kind.ACCUMULATE)
            for row in scene.whole.index.backward(node.row, stop)
        )
        if arrived:
            subject = scene.subject
            here = subject is not None and subject.row == node.row
            return [(f"{self.glyphs.rising} ", "rising-here" if here else "backward")]
        climbs = steps.backward_pass(scene.now)
        current = scene.subject
        climbing = climbs is not None and current is not None and current.row < node.row < steps.begins[climbs]
        return [(f"{self.glyphs.lane} " if climbing else "  ", "rising")]

    def _lane_cells(self, lanes: Lanes | None, event: Event, width: int) -> list[Piece]:
        cells = draw(lanes, mark_of(event, self.glyphs), self.glyphs, width) if lanes is not None else []
        kind = {Kind.LEAF: "leaf", Kind.GRAD: "grad", Kind.ACCUMULATE: "grad"}.get(event.kind, "op")
        pieces = [(text, kind if meaning == "node" else meaning) for text, meaning in cells]
        return [*pieces, ("".ljust(width - len(cells) + 1), "forward")]

    def _words(self, scene: Scene, node: Node, room: int, setting: Setting) -> list[Piece]:
        scope = setting.scope
        tone = "future" if node.row > scene.now else ""
        backward = node.kind in ("grad", "accumulate")
        kind = "flag" if node.event.flags & Flag.FAILED else "grad" if backward else "label"
        narrow = room < _COLUMNS_FROM
        flags = self._flags(node, is_found=setting.is_found)
        flags = (flags.strip() or " ")[:1] if narrow else flags
        size = self._size(node)
        cells = _BAR // 2 if narrow else _BAR
        room -= cells + 1 + len(flags) + 1
        inputs = 0 if room < _INPUTS_FROM else room // 3
        room -= inputs
        name = _within(scope, node.name) or _elsewhere(scope, node)
        title = gradient_title(node, name) if node.kind == "accumulate" else node.label
        title = name or title if node.kind == "leaf" else title
        called = "" if name == title or node.kind == "accumulate" else name
        shape = shape_text(node.shape, self.glyphs.times)
        share = _side_by_side if narrow else _in_columns
        for_title, for_name, for_shape = share(room, *map(_cells, (title, called, shape)))
        fit_title = fit_op if node.kind == "grad" else fit_name
        words: list[Piece] = [
            (fit_title(title, for_title, self.glyphs.ellipsis), tone or kind),
            (fit(f" {fit_name(called, max(for_name - 2, 0), self.glyphs.ellipsis)}", for_name), tone or "name"),
            (fit_shape(shape, for_shape, self.glyphs.times, self.glyphs.ellipsis), tone or "shape"),
        ]
        if inputs:
            words.append((fit(_inputs(node), inputs, self.glyphs.ellipsis), tone or "inputs"))
        magnitude_tone = "bar-grad" if backward else "bar"
        words.append((" " + bar(size, cells, self.glyphs.steps), tone or magnitude_tone))
        return [*words, (" " + flags, "flag")]

    def _mark(self, scene: Scene, event: Event, room: int) -> list[Piece]:
        text, tone = _words_of_mark(scene, event)
        if event.kind == Kind.SCOPE_ENTER:
            return [(fit(f"   {self.glyphs.opened} {text}", room, self.glyphs.ellipsis), "scope")]
        across = self.glyphs.across
        line = f"{across * 3} {text} "
        return [(fit(line + across * max(room - len(line), 0), room, self.glyphs.ellipsis), tone)]

    def _flags(self, node: Node, *, is_found: bool) -> str:
        glyphs = self.glyphs
        event = node.event
        nonfinite = is_fault(node)
        return "".join(
            glyph if on else " "
            for glyph, on in (
                (glyphs.finding if is_found else glyphs.nonfinite, is_found or nonfinite),
                (glyphs.in_place, event.flags & Flag.IN_PLACE),
                (glyphs.edited, node.edited),
            )
        )

    def _size(self, node: Node) -> float | None:
        row = node.graph.value_row(node.row)
        if row not in self._sizes:
            if len(self._sizes) > _KEPT:
                self._sizes.clear()
            self._sizes[row] = magnitude(node)
        return self._sizes[row]


def _cells(text: str) -> int:
    return cell_len(escape(text))


def _side_by_side(room: int, title: int, name: int, shape: int) -> tuple[int, int, int]:
    """The cells of title, name and shape where these are few: the title is told first, then the shape, then the name.

    Args:
        room: All cells; of those of the name, one at each side is blank.
        title: What it would take as a whole.
        name: The same.
        shape: The same.
    """
    for_title = min(title, room)
    rest = room - for_title
    column = min(max(room // 4, _LEAST_NAME), 16)
    wanted = max(shape, column) if shape else min(column, rest - 2 - name)
    beside_name = rest - 2 - min(name, _LEAST_NAME) if name else rest - 1
    for_shape = max(min(wanted, max(beside_name, column), rest - 1), 0)
    return for_title, rest - for_shape, for_shape


def _in_columns(room: int, title: int, name: int, shape: int) -> tuple[int, int, int]:
    """The same where there is room for columns, which lines share as long as what stands in them does."""
    for_shape = min(max(room // 4, 6), 16)
    rest = room - for_shape
    column = max(rest - min(max(rest // 3, 5), 24) - 2, 4)
    for_title = max(column, min(title, rest - 2 - min(name, _LEAST_NAME)))
    for_title = max(min(title, for_title), min(for_title, rest - 2 - name))
    return for_title, rest - for_title, for_shape


def events_of(scene: Scene) -> Callable[[int], Event | None]:
    """The event of a row of what is looked at; None where there is none."""

    def event(row: int) -> Event | None:
        try:
            return scene.whole.index.event(row)
        except LogError:
            return None

    return event


def _within(scope: str, name: str) -> str:
    """A name as one tells it inside of a module: `linear1.weight` in `layers.0`."""
    return name[len(scope) + 1 :] if scope and name.startswith(f"{scope}.") else name


def _elsewhere(scope: str, node: Node) -> str:
    """What stands for the name of a node that has none and whose module has no header here: that module."""
    return _within(scope, node.scope) if node.graph_pass == "backward" and node.scope != scope else ""


def _inputs(node: Node) -> str:
    """The inputs in words; those too far away for a lane are told by number, too."""
    parts = []
    for edge in node.inputs:
        source = edge.source
        far = node.row - source.row > REACH
        parts.append((source.name or source.label) + (f" #{source.row}" if far or not source.name else ""))
    return f" {', '.join(parts)}" if parts else ""


def _words_of_mark(scene: Scene, event: Event) -> tuple[str, str]:
    log = scene.log
    if event.kind == Kind.SCOPE_ENTER:
        scope = log.scope(event.scope)
        kind = f"  {scope.type}" if scope is not None and scope.type not in ("", scope.name) else ""
        return f"{scope.name if scope is not None else 'scope'}{kind}", "scope"
    if event.kind == Kind.BACKWARD_BEGIN:
        root = scene.whole.node(event.inputs[0][0]) if event.inputs else None
        said = f"backward from {root.name or root.label} #{root.row}" if root is not None else "backward"
        return said, "pass-mark"
    facts = log.attrs(event.attrs)
    if event.kind == Kind.STEP:
        return "end of a step that was left out" if facts.get("left_out") else "end of the step", "step-mark"
    if event.kind == Kind.ASSIGN:
        found = [scene.whole.node(row) for row in facts.get("tensors", ()) if log.first <= row < event.row]
        names = listed([node.name or node.label for node in found], _NAMED)
        return f"{facts.get('set')} of {names} is {'another tensor' if event.inputs else facts.get('to')}", "other-mark"
    if event.kind == Kind.CALL:
        return str(facts.get("call", "call")), "other-mark"
    if event.kind == Kind.COMPILE:
        from graphscope.graph.compilation import compiler_event  # few programs compile

        return compiler_event(event.row, event.site, facts).words, "other-mark"
    said = str(facts.get("text", ""))
    return f"{event.kind.name.lower().replace('_', ' ')} {said}".strip(), "other-mark"
