"""What of the modules of a program is looked at: one call, whose parts are drawn; it follows where one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.errors import LogError
from graphscope.tui.map.module_boxes import Standing, module_sketch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.graph.modules import Call, Half, ModuleBox, ModuleMap, StepRows
    from graphscope.tui.glyphs import Glyphs
    from graphscope.tui.map.boxes import Sketch
    from graphscope.tui.scene import Scene


class ModuleView:
    """The modules around a position."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._rows: StepRows | None = None
        self._inside: tuple[int, ...] = ()
        """The modules that one has gone into, from the outermost inward."""
        self._found: tuple[int, ...] = ()
        self._findings: tuple[tuple[int, tuple[int, ...]], ...] = ()
        """Rows of findings, each with the modules that it lies in."""
        self.shown: ModuleMap | None = None
        self.here = Standing()

    @staticmethod
    def is_worth_it(scene: Scene) -> bool:
        """Whether the program has modules at all."""
        return bool(scene.log.table("scopes"))

    def judge(self, scene: Scene, found_at: Sequence[int]) -> bool:
        """Take over where findings are; whether that is news."""
        before, self._found = self._found, tuple(found_at)
        if self._found != before:
            self._findings = tuple((row, _modules_of(scene, row)) for row in self._found)
        return self._found != before

    def look(self, scene: Scene) -> None:
        """Look at where one stands."""
        from graphscope.graph.modules import module_map, step_rows  # the map is not in every first picture

        rows = self._rows = step_rows(scene.log, scene.now)
        around = rows.around(scene.now)
        calls: tuple[Call, ...] = ()
        for scope, call in zip(self._inside, around, strict=False):
            if call.scope != scope:
                break
            calls += (call,)
        self._inside = tuple(call.scope for call in calls)
        self.shown = module_map(scene.whole, rows, calls)
        found = self.shown.at(scene.now)
        node = scene.node
        backward = node is not None and node.graph_pass == "backward"
        self.here = Standing(-1, 0, backward) if found is None else Standing(*found, backward)

    def sketch(self, room: tuple[int, int]) -> Sketch:
        """The picture in characters."""
        assert self.shown is not None
        return module_sketch(self.shown, self.here, self.findings, room, self._glyphs)

    @property
    def findings(self) -> list[int]:
        """How many findings each box has."""
        shown = self.shown
        return [] if shown is None else [self._findings_of(place, box) for place, box in enumerate(shown.boxes)]

    def _findings_of(self, place: int, box: ModuleBox) -> int:
        if box.kind != "module":
            return sum(self.shown is not None and self.shown.at(row) == (place, 0) for row, _ in self._findings)
        return self.findings_of(*box.calls)

    def findings_of(self, *calls: Call) -> int:
        """How many findings lie in some modules, in whichever call of them."""
        own = {call.scope for call in calls}
        return sum(not own.isdisjoint(modules) for _, modules in self._findings)

    @property
    def call(self) -> Call | None:
        """The module where one stands."""
        if self.shown is None or self.here.box < 0:
            return None
        calls = self.shown.boxes[self.here.box].calls
        return calls[self.here.member] if calls else None

    def title(self, scene: Scene) -> str:
        """The way to what is looked at."""
        names = []
        for number in self._inside:
            scope = scene.log.scope(number)
            names.append(scope.name if scope is not None else "?")
        return f" {self._glyphs.ahead} ".join(["modules", *names])

    # What a person does ----------------------------------------------------------------------------------------------

    def enter(self) -> bool:
        """Go into the module where one stands; whether it has modules of its own."""
        shown, here = self.shown, self.here
        if shown is None or here.box < 0 or self._rows is None:
            return False
        box = shown.boxes[here.box]
        if box.kind != "module" or not self._has_modules(shown, box, here.member):
            return False
        self._inside += (box.calls[here.member].scope,)
        return True

    def _has_modules(self, shown: ModuleMap, box: ModuleBox, member: int) -> bool:
        rows = self._rows
        if rows is None:
            return False
        inside = rows.inside((*shown.around, box.calls[member]))
        depth = len(shown.around) + 1
        return depth < len(rows.levels) and bool((rows.levels[depth][0][inside] > 0).any())

    def leave(self) -> bool:
        """Go out of what is looked at; whether it lay in something."""
        was_inside = bool(self._inside)
        self._inside = self._inside[:-1]
        return was_inside

    def go_out(self, scene: Scene) -> None:
        """Look at the module that the current node is of."""
        from graphscope.graph.modules import step_rows

        self._inside = tuple(call.scope for call in step_rows(scene.log, scene.now).around(scene.now)[:-1])

    def is_part(self, place: int) -> bool:
        """Whether a box is a part of what is looked at, and not what comes in or goes out."""
        return self.shown is not None and self.shown.boxes[place].kind in ("module", "ops")

    def row_of(self, place: int, member: int = 0) -> int | None:
        """Where one goes for a box: its first node in the pass that one is in, else in the other."""
        assert self.shown is not None
        box = self.shown.boxes[place]
        halves = self._halves(place, member)
        return box.row if box.row >= 0 else next((half.row for half in halves if half is not None), None)

    def other_half(self) -> int | None:
        """Where the other half begins of the box where one stands; None where it has none."""
        half = self._halves(self.here.box, self.here.member)[1] if self.here.box >= 0 else None
        return half.row if half is not None else None

    def _halves(self, place: int, member: int) -> tuple[Half | None, Half | None]:
        """The half of a box in the pass that one is in, and the other."""
        assert self.shown is not None
        box = self.shown.boxes[place]
        told = box.members[member] if box.members else box
        return (told.backward, told.forward) if self.here.is_backward else (told.forward, told.backward)

    def beside(self, by: int) -> int | None:
        """Where one goes for the next of those that are alike."""
        if self.shown is None or self.here.box < 0:
            return None
        place = self.here.member + by
        count = self.shown.boxes[self.here.box].count
        return self.row_of(self.here.box, place) if count > 1 and 0 <= place < count else None


def _modules_of(scene: Scene, row: int) -> tuple[int, ...]:
    try:
        number = scene.whole.place(scene.log.event(row))[1]
    except LogError:
        return ()
    found: list[int] = []
    while number and number not in found:
        found.append(number)
        scope = scene.log.scope(number)
        number = scope.parent if scope is not None else 0
    return tuple(found)
