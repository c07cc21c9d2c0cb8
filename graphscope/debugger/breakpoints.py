"""Breakpoints: `SPEC[, CONDITION]`, where to stop and under which condition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, cast

from graphscope.debugger.breakpoint_checks import (
    ANY,
    NODE_MADE,
    RECORDED,
    Moments,
    checks_of,
    findings_at,
    to_blame,
)
from graphscope.debugger.breakpoint_reading import PASSES, pass_of, read
from graphscope.debugger.expressions import RAISED, Expression, Lookup, describe, parse
from graphscope.debugger.hit_counts import hits_that_stop
from graphscope.debugger.results import BreakpointInfo, PassName
from graphscope.diagnose import Check, Finding, every
from graphscope.errors import CommandError

if TYPE_CHECKING:
    from graphscope.debugger.nodes import Node
    from graphscope.graph import Graph
    from graphscope.graph import Node as Recorded
    from graphscope.graph.select import Line, Selector

_BRACES = re.compile(r"\{([^{}]+)\}")


@dataclass
class Breakpoint:
    """A place to stop, and what has become of it so far."""

    number: int
    spec: str
    selector: Selector | None
    """None where something that is wrong is what to stop at."""
    condition: Expression | None = None
    before: bool = False
    temporary: bool = False
    enabled: bool = True
    ignore: int = 0
    """So many hits are yet to be passed over."""
    hits: int = 0
    commands: tuple[str, ...] = field(default=())
    graph_pass: PassName | None = None
    """The pass that it must show in; None means both."""
    when: str = ""
    """Which hits stop: `5`, `>= 5`, `% 5`; empty for all."""
    message: str = ""
    """Said in place of stopping; `{EXPR}` in it is what an expression is there."""
    backward_hits: int = 0
    """Those of `hits` in backward passes, where lines are counted."""

    @property
    def checks(self) -> tuple[Check, ...]:
        """What must be wrong with a node, any of these; empty where a selector says where to stop."""
        return () if self.selector is not None else checks_of(self.word)

    @property
    def word(self) -> str:
        """The word that says what must be wrong, where no selector says where to stop."""
        return self.spec.split()[0]

    @property
    def line(self) -> Line | None:
        """The line that it asks for, where that is all that it asks for."""
        return None if self.selector is None or len(self.selector.terms) > 1 else self.selector.terms[0].line

    @property
    def place(self) -> Line | None:
        """The line that it asks for, in one of the passes or in both, where that is all that it asks for."""
        terms = () if self.selector is None else self.selector.terms
        others = [term for term in terms if term.form not in PASSES]
        return others[0].line if len(others) == 1 else None

    def hit_at(self, counted: PassName | None) -> int:
        """Count a hit; its number, of those in one of the passes where that is said."""
        self.hits += 1
        self.backward_hits += counted == "backward"
        return {"backward": self.backward_hits, "forward": self.hits - self.backward_hits}.get(counted or "", self.hits)

    @property
    def info(self) -> BreakpointInfo:
        """It as data."""
        return BreakpointInfo(
            self.number,
            self.spec,
            self.selector,
            "" if self.condition is None else self.condition.text,
            self.before,
            self.temporary,
            self.enabled,
            self.ignore,
            self.hits,
            self.commands,
            self.graph_pass,
            self.when,
            self.message,
            self.backward_hits,
        )

    def __str__(self) -> str:
        return self.info.title


def breakpoint_of(info: BreakpointInfo) -> Breakpoint:
    """The breakpoint that data tells of."""
    condition = parse(info.condition) if info.condition else None
    fields = {name: getattr(info, name) for name in BreakpointInfo.__slots__}
    return Breakpoint(**(fields | {"condition": condition}))


@dataclass(frozen=True, slots=True)
class Hit:
    """A breakpoint that stops, where, and why if that needs saying."""

    breakpoint: Breakpoint
    row: int
    """The node where one stands then: the one to blame."""
    note: str = ""
    findings: tuple[Finding, ...] = ()
    """What is wrong, where that was asked for."""


class Breakpoints:
    """All breakpoints of a session, by number.

    Args:
        say: Hears what breakpoints say that have a message.
    """

    def __init__(self, say: Callable[[Breakpoint, str], None] | None = None) -> None:
        self.say = say
        self.entered: set[int] = set()
        """The numbers of those whose line has called what makes the next node that is looked at."""
        self._all: dict[int, Breakpoint] = {}
        self._next = 1
        self.visits: Counter[tuple[int, int]] = Counter()
        """How often a live program came by an op of a line, where everything that is wrong is asked for."""

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(list(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    def add(
        self, text: str, *, temporary: bool = False, file: str | None = None, when: str = "", message: str = ""
    ) -> Breakpoint:
        """Make a breakpoint of what a person typed."""
        spec, selector, condition, before = read(text, file)
        made = Breakpoint(self._next, spec, selector, condition, before, temporary, when=when.strip(), message=message)
        made.graph_pass = (pass_of(spec) or None) if selector is None else selector.graph_pass
        if made.when:
            hits_that_stop(made.when)
        self.put(made)
        return made

    def put(self, made: Breakpoint) -> None:
        """Enter a breakpoint under its own number."""
        self._all[made.number] = made
        self._next = max(self._next, made.number + 1)

    def get(self, number: int) -> Breakpoint:
        """The breakpoint of a number.

        Raises:
            CommandError: There is none.
        """
        if number not in self._all:
            numbers = ", ".join(map(str, self._all))
            raise CommandError(
                f"There is no breakpoint {number}", f"there is {numbers}" if numbers else "b SPEC sets one"
            )
        return self._all[number]

    def remove(self, number: int) -> Breakpoint:
        """Take a breakpoint away."""
        found = self.get(number)
        del self._all[number]
        return found

    @property
    def last(self) -> int | None:
        """The number of the newest breakpoint."""
        return max(self._all, default=None)

    def enabled(self, before: bool) -> list[Breakpoint]:
        """Those that may stop before (or after) a node."""
        return [found for found in self._all.values() if found.enabled and found.before == before]

    def check(
        self,
        node: Node,
        lookup: Callable[[], Lookup],
        *,
        before: bool = False,
        moments: Moments = RECORDED,
        begins: Callable[[], bool] | None = None,
    ) -> Hit | None:
        """The first breakpoint that stops at a node; hits and ignore counts go on for every one that is met.

        Args:
            node: The node.
            lookup: Says what names mean in conditions there.
            before: Whether the node is yet to be computed.
            moments: What has come about: the node, the end of the pass that it ends, or (in a recording) both.
            begins: Says whether its line begins with it, where breakpoints at lines stop once a line and pass.
        """
        counted = None if begins is None else node.graph_pass
        entered, self.entered = self.entered, set()
        seldom = not before and moments == NODE_MADE and not self._is_turn_of(cast("Recorded", node))
        all_met = (
            (found, Met(node.row) if found.number in entered else _met(found, node, moments, seldom))
            for found in self.enabled(before)
        )
        fresh = ((found, at) for found, at in all_met if at and (not begins or not found.place or begins()))
        return self._first(fresh, lookup, counted)

    def check_line(self, is_here: Callable[[Line], bool], row: int, lookup: Callable[[], Lookup]) -> Hit | None:
        """The first breakpoint that stops at a line that is about to run; `row` is where one stands then."""
        met = [(found, Met(row)) for found, line in self._at_lines() if is_here(line)]
        return self._first(met, lookup, "forward")

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are to be stopped at when they run."""
        return tuple(line for _, line in self._at_lines())

    def _at_lines(self) -> Iterator[tuple[Breakpoint, Line]]:
        for found in self.enabled(before=False):
            if (line := found.place) is not None and found.graph_pass != "backward":
                yield found, line

    def _is_turn_of(self, node: Recorded) -> bool:
        """Whether all is to be looked at at a live node: the 1st, 2nd, 4th, 8th that is made at its line."""
        if not any(found.selector is None and found.word == ANY for found in self.enabled(before=False)):
            return True
        key = node.event.site, node.event.op
        self.visits[key] += 1
        return self.visits[key] & (self.visits[key] - 1) == 0

    def check_run(self, row: int, findings: Sequence[Finding], lookup: Callable[[], Lookup]) -> Hit | None:
        """The first breakpoint that stops for what is wrong with the run as a whole; `row` is where one stands then."""
        return self._first(((found, _met_by_run(found, row, findings)) for found in self.enabled(False)), lookup)

    def _first(
        self,
        all_met: Iterable[tuple[Breakpoint, Met | None]],
        lookup: Callable[[], Lookup],
        counted: PassName | None = None,
    ) -> Hit | None:
        """The first breakpoint that stops, of those that are met; hits and ignore counts of all go on.

        Args:
            all_met: Breakpoints, each with where one stands then if it is met.
            lookup: Says what names mean in conditions.
            counted: The pass that hits are counted by, each on its own; None counts them together.
        """
        first: Hit | None = None
        for found, at in all_met:
            if at is None:
                continue
            met, note = holds(found.condition, lookup)
            if not met:
                continue
            number = found.hit_at(counted if found.place is not None else None)
            if found.ignore and not note:
                found.ignore -= 1
            elif found.when and not note and not hits_that_stop(found.when)(number):
                continue
            elif found.message and not note:
                if self.say is not None:
                    self.say(found, filled(found.message, lookup()))
            elif first is None:
                first = Hit(found, at.row, note or at.words, at.findings)
        if first is not None and first.breakpoint.temporary:
            self._all.pop(first.breakpoint.number, None)
        return first

    def rows(self, graph: Graph) -> list[int]:
        """The rows of a graph where one may stop, found in bulk."""
        found: set[int] = set()
        for each in self.enabled(before=False):
            if each.selector is not None:
                found.update(node.row for node in graph.select(each.spec))
            for check in each.checks:
                if not check.is_of_run:
                    found.update(check.rows(graph.log))
        return sorted(found)

    @property
    def look_at_nodes(self) -> bool:
        """Whether some breakpoint may stop at a node that was made."""
        return any(
            found.selector is not None or any(check.shows == "node" for check in found.checks)
            for found in self.enabled(False)
        )

    @property
    def look_between_nodes(self) -> bool:
        """Whether some breakpoint may stop where a backward pass or a training step has ended."""
        return any(check.shows != "node" for found in self.enabled(False) for check in found.checks)

    def of_runs(self, *, ended: bool) -> list[Check]:
        """The checks of a run as a whole that some breakpoint asks for: of one that goes on, or that has ended."""
        wanted = {check.name for found in self.enabled(False) for check in found.checks}
        asked = [check for check in every().values() if check.is_of_run and check.name in wanted]
        return [check for check in asked if ended or check.shows != "end"]

    @property
    def wait_for_ends(self) -> bool:
        """Whether some breakpoint asks what a pass has left undone."""
        return any(check.shows == "pass" for found in self._all.values() if found.enabled for check in found.checks)


class Met(NamedTuple):
    """A node that a breakpoint asks for."""

    row: int
    """Where one stands then."""
    findings: tuple[Finding, ...] = ()
    words: str = ""


def _met(found: Breakpoint, node: Node, moments: Moments, seldom: bool) -> Met | None:
    """Where one stands, and what is to be said, at a node that a breakpoint asks for; None of another node."""
    if found.selector is not None:
        return Met(node.row) if "node" in moments and found.selector.matches(node) else None
    if found.graph_pass not in (None, node.graph_pass):
        return None
    recorded = cast("Recorded", node)
    for check in found.checks:
        if check.shows not in moments or (seldom and found.word == ANY and "values" not in check.reads):
            continue
        findings = findings_at(check, recorded)
        if findings:
            row = to_blame(recorded, findings[0].node) if check.shows == "node" else node.row
            kind = f"{check.name}: " if len(found.checks) > 1 else ""
            return Met(row, tuple(findings), kind + "; ".join(each.verdict for each in findings))
    return None


def _met_by_run(found: Breakpoint, row: int, findings: Sequence[Finding]) -> Met | None:
    """What is wrong with a run, the most important first, as far as a breakpoint asks for its kind."""
    kinds = {check.name for check in found.checks}
    wanted = tuple(each for each in findings if each.kind in kinds)
    words = (f"{each.kind}{f' at {each.place}' if each.place else ''}: {each.verdict}" for each in wanted)
    return Met(row, wanted, "; ".join(words)) if wanted else None


def holds(condition: Expression | None, lookup: Callable[[], Lookup]) -> tuple[bool, str]:
    """Whether a condition, if there is one, lets a breakpoint stop, and what went wrong with it."""
    if condition is None:
        return True, ""
    try:
        return condition.holds(lookup()), ""
    except RAISED as error:  # whatever a person's condition raises, the person is to see it
        return True, f"the condition {condition.text!r} raised {describe(error)}"


def filled(message: str, lookup: Lookup) -> str:
    """A message with its `{EXPR}` replaced by what they are."""

    def value(found: re.Match[str]) -> str:
        try:
            return str(parse(found[1]).evaluate(lookup))
        except RAISED as error:  # whatever a person's expression raises is what it says
            return f"<{describe(error)}>"

    return _BRACES.sub(value, message)
