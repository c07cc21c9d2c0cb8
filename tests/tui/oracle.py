"""What the screen ought to say, read anew from the log alone, held against the text that it shows.

Only where one stands, and which region shows what, is taken from the application: no region is asked what it shows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path, PurePath

import numpy as np
from textual.geometry import Region
from textual.widget import Widget

from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph import Graph, Node
from graphscope.graph.faults import is_fault
from graphscope.graph.text_search import rows_with
from graphscope.tui.glyphs import UNICODE
from tests.tui.screens import Screen

SHOWN_ROW = re.compile(r"(.)(.) *(\d+) (.*)")
"""A line of the tape: breakpoint, current, row, and the rest."""
NUMBER = re.compile(r"[-+]?(?:nan|inf|\d+\.?\d*(?:e[-+]?\d+)?)")
FOLDED = re.compile(r"(\d+) rows")


class Truth:
    """A log, read by nobody else."""

    def __init__(self, path: Path) -> None:
        self.log = load(path)
        self.graph = Graph(self.log)
        self.events = [self.log.event(row) for row in range(self.log.first, self.log.end)]

    @cached_property
    def edits(self) -> dict[int, int]:
        """The newest edit of each node that has one."""
        return {event.inputs[0][0]: event.row for event in self.events if event.kind == Kind.EDIT}

    def is_node(self, row: int) -> bool:
        place = row - self.log.first
        return 0 <= place < len(self.events) and self.events[place].kind in NODES

    def nodes_between(self, low: int, high: int) -> list[int]:
        """The nodes behind one row and ahead of another."""
        return [row for row in range(low + 1, high) if self.is_node(row)]

    def value(self, row: int) -> np.ndarray | None:
        """What a node made, or what a person has put in its place."""
        found = self.log.value(self.edits.get(row, row))
        return None if found is None else np.asarray(found)

    def step(self, row: int) -> int | None:
        """How many training steps an optimizer has ended ahead of a row; None where there is no optimizer."""
        ends = [event.row for event in self.events if event.kind == Kind.STEP]
        return sum(end < row for end in ends) if ends else None

    @cached_property
    def newest(self) -> int:
        """The newest node."""
        return max((event.row for event in self.events if event.kind in NODES), default=-1)

    def modules(self, row: int) -> list[str]:
        """The names of the modules that a row lies in, from the outermost inward."""
        found: list[str] = []
        number = self.log.event(row).scope
        while number and (scope := self.log.scope(number)) is not None:
            found.append(scope.name)
            number = scope.parent
        return found[::-1]

    @cached_property
    def lines(self) -> Counter[tuple[str, int]]:
        """How many nodes each line made; a leaf that a later segment repeats was not made again."""
        made = [e for e in self.events if e.kind in NODES and not (e.kind == Kind.LEAF and e.tensor != e.row)]
        sites = [self.log.site(event.site) for event in made]
        return Counter((site.file, site.line) for site in sites if site is not None)

    @cached_property
    def losses(self) -> list[float]:
        """What each backward pass began from, where that is one number."""
        begun = [event.inputs[0][0] for event in self.events if event.kind == Kind.BACKWARD_BEGIN and event.inputs]
        values = [value for value in map(self.value, begun) if value is not None and value.size == 1]
        return [float(value.reshape(-1)[0]) for value in values]


class Oracle:
    """Holds one screen against the log.

    Args:
        screen: The screen.
        truth: The log.
        scrolled: Somebody has looked away from where one stands.
    """

    def __init__(self, screen: Screen, truth: Truth, *, scrolled: bool = False) -> None:
        self.main = screen.main
        self.scrolled = scrolled
        self.lines = screen.text.split("\n")
        self.truth = truth
        self.now = self.main.session.now if not self.main.has_class("-searching") else screen.now
        self.node = truth.graph.at(self.now).node(self.now) if truth.is_node(self.now) else None

    def complaints(self) -> list[str]:
        """What the screen says that is not so."""
        if self.main.has_class("-tiny"):
            return []
        regions = (
            self.heading, self.position, self.tape, self.inspector, self.numbers, self.source, self.timeline, self.map,
            self.modules, self.search,
        )  # fmt: skip
        return [f"{region.__name__}: {said}" for region in regions for said in region()]

    # Reading the screen ----------------------------------------------------------------------------------------------

    def cut(self, region: Region) -> list[str]:
        return [line[region.x : region.right] for line in self.lines[region.y : region.bottom]]

    def shown(self, selector: str) -> Widget | None:
        """A region that can be seen."""
        widget: Widget = self.main.query_one(selector)
        seen = all(each.display for each in widget.ancestors_with_self if isinstance(each, Widget))
        return widget if seen and widget.size.height and widget.size.width else None

    # Regions ---------------------------------------------------------------------------------------------------------

    def heading(self) -> Iterator[str]:
        widget = self.shown("#heading")
        if widget is None or self.node is None:
            return
        text = self.cut(widget.region)[0].rstrip()
        for word in (f"#{self.now} ", called(self.node)):
            if not appears(word, text) and not text.endswith(UNICODE.ellipsis):
                yield f"{word!r} is not in {text!r}"
        other = "forward" if self.node.graph_pass == "backward" else "backward"
        if f" {other} " in text.partition("#")[0]:
            yield f"{other!r} in {text!r}"
        said = re.search(r"\bstep (\d+)", text.partition("#")[0])
        if said is not None and self.truth.step(self.now) not in (None, int(said[1])):
            yield f"{text!r} in step {self.truth.step(self.now)}"

    def position(self) -> Iterator[str]:
        """Where one stands against where a program waits: the newest node that there is."""
        widget = self.shown("#heading")
        if widget is None or self.main.session.state != "waits":
            return
        text, newest = self.cut(widget.region)[0], self.truth.newest
        past = re.search(r" PAST #(\d+) of #(\d+) ", text)
        if past is not None and (int(past[1]), int(past[2])) != (self.now, newest):
            yield f"{past[0]!r} at #{self.now} of #{newest}"
        if past is None and (" LIVE " not in text or self.now != newest):
            yield f"{text!r} at #{self.now} of #{newest}"

    def tape(self) -> Iterator[str]:
        widget = self.shown("#tape")
        if widget is None:
            return
        lines = self.cut(widget.scrollable_content_region)
        found = [SHOWN_ROW.fullmatch(line) for line in lines]
        marked = 0
        for place, line in enumerate(found):
            if line is None:
                continue
            row, rest = int(line[3]), line[4].strip()
            following = found[place + 1] if place + 1 < len(found) else None
            behind = None if following is None else int(following[3])
            is_header = rest[:1] in (UNICODE.opened, UNICODE.closed)
            is_closed = rest[:1] == UNICODE.closed
            if line[2] == UNICODE.current:
                marked += 1
                if (row != self.now) if not is_closed else (row > self.now or (behind or self.now + 1) <= self.now):
                    yield f"marked though one stands at #{self.now}: {line[0]!r}"
            if behind is not None and UNICODE.times not in rest and not is_closed:
                lost = self.truth.nodes_between(row - is_header, behind)
                if lost:
                    yield f"{lost} lie between {line[0]!r} and #{behind}"
            told = FOLDED.search(rest)
            if is_closed and told is not None and behind is not None and behind < row + int(told[1]):
                yield f"folded, and #{behind} comes next: {line[0]!r}"
            if not is_header and self.truth.is_node(row):
                yield from self.row(self.truth.graph.node(row), line)
        cursor = self.main.query_one("#tape").cursor  # one stands on a header, and the node may be far from it
        if self.node is not None and cursor is None and lines and not self.scrolled and marked != 1:
            yield f"{marked} lines are marked, of {[line for line in lines if UNICODE.current in line]}"

    def row(self, node: Node, line: re.Match[str]) -> Iterator[str]:
        if not appears(called(node), line[4]):
            yield f"no {called(node)!r} in {line[0]!r}"
        flags = line[4][-3:]
        # a narrow tape has room for one sign
        for sign, holds in ((UNICODE.nonfinite, is_fault(node)), (UNICODE.edited, node.row in self.truth.edits)):
            others = flags.strip(f" {sign}")
            if (sign in flags) != holds and not (holds and others):
                yield f"{sign!r} {'is missing' if holds else 'is wrong'} in {line[0]!r}"
        broken = any(
            each.enabled and each.selector and each.selector.matches(node) for each in self.main.session.breakpoints
        )
        if (line[1] == UNICODE.breakpoint) != broken:
            yield f"the breakpoint {'is missing' if broken else 'is none'} in {line[0]!r}"

    def inspector(self) -> Iterator[str]:
        widget = self.shown("#inspector")
        if widget is None or self.node is None or self.main.query_one("#inspector").module is not None:
            return
        top, *_, bottom = self.cut(widget.region)
        if f"#{self.now}" not in top:
            yield f"titled {top!r} at #{self.now}"
        if (UNICODE.edited in bottom) != (self.now in self.truth.edits):
            yield f"the sign of edits is wrong in {bottom!r}"
        words = self.shown("#words")
        if words is None:
            return
        subject = self.subject
        for line in self.cut(words.region):
            told = re.match(r"\s+out  (.*)|value  (.*)", line)
            value = self.truth.value(subject.row)
            if told is None or value is None or not 1 <= value.size <= 4:
                continue
            said = told[1] or told[2]
            if not alike(said, value.reshape(-1)[0]):
                yield f"{line!r} of {value}"
            if said.strip() and ("edited" in said) != (subject.row in self.truth.edits) and len(said.strip()) < 24:
                yield f"edits are told wrongly in {line!r}"

    @property
    def subject(self) -> Node:
        assert self.node is not None
        owner = self.node.forward if self.node.kind in ("grad", "accumulate") else None
        return owner or self.node

    def numbers(self) -> Iterator[str]:
        if self.shown("#numbers") is None or self.node is None:
            return
        head, *facts = self.cut(self.main.query_one("#facts").region)
        told = re.match(r"(value|gradient) (\S+) \S+ (\[[^\]]*\])?", head)
        if told is None:
            return
        value = self.truth.value(self.subject.row) if told[1] == "value" else self.gradient
        if value is None:
            yield f"{head!r} where there is none"
            return
        if told[2] != (UNICODE.times.join(map(str, value.shape)) or "scalar"):
            yield f"{head!r} of shape {value.shape}"
        if facts and (said := re.match(r"min (\S+)  max (\S+)", facts[0])) and np.isfinite(value).any():
            finite = value[np.isfinite(value)]
            is_cut = UNICODE.ellipsis in facts[0][: said.end() + 1]
            if not is_cut and not (alike(said[1], finite.min()) and alike(said[2], finite.max())):
                yield f"{facts[0]!r} of {finite.min()} .. {finite.max()}"
        table = self.shown("#array")
        if table is None:
            return
        index = eval(told[3] or "()")
        plane = np.atleast_2d(value[tuple(index) if isinstance(index, (list, tuple)) else index])
        plane = plane.reshape(-1, plane.shape[-1]) if plane.ndim > 2 else plane
        lines = self.cut(table.scrollable_content_region)
        if (
            plane.size <= 4
            and 1 in plane.shape
            and len(lines) > 1
            and not lines[0].strip().isdigit()
            and not lines[0][6:].strip()
        ):
            yield f"a few numbers are not shown as such: {lines[:2]}"
        yield from cells(lines, plane)

    @property
    def gradient(self) -> np.ndarray | None:
        assert self.node is not None
        if self.node.kind in ("grad", "accumulate"):
            return self.truth.value(self.now)
        found = self.node.grad
        return None if found is None else np.asarray(found)

    def source(self) -> Iterator[str]:
        widget = self.shown("#source")
        if widget is None or self.node is None:
            return
        stop = self.main.scene.stop
        place = self.node.site if stop is None or stop.raised is None else stop.raised.place
        title = self.cut(widget.region)[0]
        if place is None:
            return
        if not appears(PurePath(place.file).name, title):
            yield f"{title!r} at {place.file}"
        written = (self.truth.log.source(place.file) or "").splitlines()
        lines = self.cut(widget.scrollable_content_region)
        current = [line for line in lines if line[1:2] == UNICODE.current]
        away = self.scrolled or widget.has_focus  # whose keys look around in it
        if written and not current and lines and not away and self.main.query_one("#source").line is None:
            yield f"line {place.line} is not in sight"
        for line in lines:
            counts = " *([0-9kM]*) " if len(line) >= 40 else "()"  # where there is little room, none are told
            told = re.match(rf".(.){counts} *(\d+) (.*)", line)
            if told is None or widget.scroll_offset.x:
                continue
            number, text = int(told[3]), told[4].rstrip()
            if (told[1] == UNICODE.current) != (number == place.line):
                yield f"{line!r} where line {place.line} is current"
            whole = written[number - 1].expandtabs(4) if number <= len(written) else ""
            if text.strip(f" {UNICODE.ellipsis}") not in whole:
                yield f"{line!r} is not line {number} of {len(written)}"
            if told[2] and told[2].isdigit() and int(told[2]) != self.truth.lines[place.file, number]:
                yield f"{line!r} made {self.truth.lines[place.file, number]} nodes"

    def timeline(self) -> Iterator[str]:
        widget = self.shown("#timeline")
        lines = [] if widget is None else self.cut(widget.region)
        losses = [loss for loss in self.truth.losses if math.isfinite(loss)]
        if len(lines) < 2 or not self.main.query_one("#timeline").window.is_whole:
            return
        said = re.search(r" ([-+.\de]+|nan|inf)(?: log)?\s*$", lines[1].removeprefix("loss"))
        told = said[1].split("..") if said is not None else []
        expected = [min(losses), max(losses)] if losses else self.truth.losses if len(self.truth.losses) == 1 else []
        if bool(told) != bool(expected) or (
            told and not (alike(told[0], expected[0]) and alike(told[-1], expected[-1]))
        ):
            yield f"{lines[1]!r} of {self.truth.losses}"

    def map(self) -> Iterator[str]:
        widget = self.shown("#map")
        if widget is None or self.node is None or widget.of_modules or widget.size.height < 8:
            return
        text = "\n".join(self.cut(widget.region))
        if f"#{self.now}" not in text and not appears(called(self.node), text):
            yield f"#{self.now} {called(self.node)} is not on it:\n{text}"

    def modules(self) -> Iterator[str]:
        """The module where one stands is on the map of those that lie around it."""
        widget = self.shown("#map")
        if widget is None or self.node is None or not widget.of_modules or self.scrolled or widget.size.height < 8:
            return
        title, *lines = self.cut(widget.region)
        told = re.search(r"modules((?: > | › |[^\w.]+[\w.]+)*)", title)
        around = re.findall(r"[\w.]+", told[1]) if told is not None else []
        inside = self.truth.modules(self.now)
        if UNICODE.ellipsis in title or self.node.graph_pass == "backward" or inside[: len(around)] != around:
            return
        name, text = (inside[len(around) :] or [""])[0], "\n".join(lines)
        if name and not appears(name, text) and UNICODE.times not in text:
            yield f"{name!r} of {inside} is not on it:\n{title}\n{text}"

    def search(self) -> Iterator[str]:
        """How many matches there are, and which of them one stands at."""
        told = re.match(r" /(.+)  (nothing|([\d,]+) of ([\d,]+)|([\d,]+) matches)  n N Esc", self.lines[-1])
        if told is None or self.main.has_class("-searching"):
            return
        rows = rows_with(self.truth.graph, told[1]).tolist()
        place, *counts = (each and int(each.replace(",", "")) for each in told.groups()[2:])
        if len(rows) != (counts[0] or counts[1] or 0):
            yield f"{told[0]!r}, and {len(rows)} match"
        elif (rows.index(self.now) + 1 if self.now in rows else None) != place:
            yield f"{told[0]!r} at #{self.now} of {rows}"


def called(node: Node) -> str:
    """What a node is called, wherever it is told of; of dotted names the end."""
    return "grad" if node.kind == "accumulate" else node.label.rpartition(".")[2]


def appears(word: str, text: str) -> bool:
    """Whether a word is in a text, or so much of it as an ellipsis has left."""
    more = UNICODE.ellipsis
    return word in text or any(word[:end] + more in text or more + word[-end:] in text for end in range(1, len(word)))


def alike(text: str, number: float) -> bool:
    """Whether the first number of a text is this one, as far as it is written."""
    said = NUMBER.search(text)
    if said is None:
        return text.strip(" [").startswith(("True", "False")) or not text.strip()
    value = float(said[0])
    return value == number or (math.isnan(value) and math.isnan(number)) or math.isclose(value, number, rel_tol=6e-3)


def cells(lines: list[str], plane: np.ndarray) -> Iterator[str]:
    """What is wrong with a table of numbers; heads of columns stand above it, right of each row its number."""
    if not lines or not re.fullmatch(r" {6}[ \d]*", lines[0]):
        return  # a heatmap
    columns = [(each.end(), int(each[0])) for each in re.finditer(r"\d+", lines[0])]
    for line in lines[1:]:
        row = line[:5].strip()
        if not row:
            continue
        for end, column in columns:
            if end - 11 < 6 or end >= len(line):  # cut
                continue
            said, value = line[end - 11 : end].strip(), plane[int(row), column]
            if not (alike(said, float(value)) if value.dtype.kind in "fiu" else str(value).startswith(said[:9])):
                yield f"[{row}, {column}] is shown as {said!r}, and is {value}"
