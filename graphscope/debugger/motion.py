"""Where a step ends: for each way of stepping, a test that tells whether to stop at a node."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from graphscope.errors import GraphscopeError
from graphscope.eventlog.schema import Kind
from graphscope.graph.outline.origins import is_making

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

Granularity = Literal["node", "line"]
"""What a step is: a node, or a line of the program in one of the passes."""
Reach = Literal["over", "into", "out"]
"""How far a step goes: over what is called, into it, or out of where one is."""
End = tuple[int, int]
"""Where an expression ends in its file: line and column."""

Test = Callable[["Node"], bool]

_RULE_KINDS = ("op", "leaf")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a step begins; None for what is not known, as ahead of the first node."""

    kind: str = ""
    graph_pass: str = ""
    scope: int = 0
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Motion:
    """A way to move: how to test nodes once it is known where the move begins."""

    name: str
    begin: Callable[[Log, Origin], Test]
    into_rules: bool = False
    """At a backward node, run its rule on tensors so that its ops are seen."""
    passes_by: bool = False
    """Breakpoints and watches on the way stop nothing."""
    goal: str = ""
    """What is looked for, in words: said where it was not found."""
    lines: Reach | None = None
    """It ends at a line: where the program runs on, Python tells of the next that is within reach."""
    call: End | None = None
    """Where the call ends, of those of the line, which is the only one that it goes into."""


@dataclass
class Plan:
    """A move under way: its way of stepping, the test for where it ends, and how often yet."""

    motion: Motion
    test: Test
    left: int

    @property
    def unmet(self) -> tuple[str, ...]:
        """What to say of what was looked for up to the end, and not found."""
        return (f"no node met `run {self.motion.goal}` on the way",) if self.motion.goal else ()

    def meets(self, node: Node) -> tuple[bool, str]:
        """Whether the move ends at a node, and what went wrong with finding that out: then it does."""
        try:
            return self.test(node), ""
        except GraphscopeError as error:
            return True, error.message


def _inside(log: Log, inner: int, outer: int) -> bool:
    """Whether one scope lies within another, and is another."""
    number = inner
    seen: set[int] = set()  # a damaged log may hold a scope that lies in itself
    while number and number != outer and number not in seen:
        seen.add(number)
        scope = log.scope(number)
        number = scope.parent if scope is not None else 0
    return number == outer and inner != outer


def _in_rule(kind: str, graph_pass: str) -> bool:
    return graph_pass == "backward" and kind in _RULE_KINDS


def _next(log: Log, origin: Origin) -> Test:
    in_rule = _in_rule(origin.kind, origin.graph_pass)

    def test(node: Node) -> bool:
        if node.graph_pass == "backward":
            return in_rule or not _in_rule(node.kind, node.graph_pass)
        return not _inside(log, node.event.scope, origin.scope)

    return test


def _step(log: Log, origin: Origin) -> Test:
    return lambda node: True


def _first(log: Log, origin: Origin) -> Test:
    return lambda node: node.site is None or not is_making(node.site)


def _return(log: Log, origin: Origin) -> Test:
    in_rule = _in_rule(origin.kind, origin.graph_pass)

    def test(node: Node) -> bool:
        if origin.graph_pass and node.graph_pass != origin.graph_pass:
            return True
        if origin.graph_pass == "backward":
            return in_rule and not _in_rule(node.kind, node.graph_pass)
        scope = node.event.scope
        return origin.scope != 0 and scope != origin.scope and not _inside(log, scope, origin.scope)

    return test


def _over_lines(log: Log, origin: Origin) -> Test:
    outer, here = _next(log, origin), origin.graph_pass or "forward"

    def test(node: Node) -> bool:
        return outer(node) and (node.graph_pass == "forward" or here == "backward")

    return test


def _out_of_lines(log: Log, origin: Origin) -> Test:
    left = _return(log, origin)

    def test(node: Node) -> bool:
        return node.graph_pass == "forward" and left(node)

    return test


def into_call(end: End, begins_pass: bool) -> Motion:
    """Into one of the calls of a line, which may begin a backward pass; else to the next line."""

    def begin(log: Log, origin: Origin) -> Test:
        over = _over_lines(log, origin)
        return lambda node: over(node) or (begins_pass and node.graph_pass == "backward")

    return Motion("into", begin, lines="into", call=end)


def until(line: int = 0) -> Motion:
    """Until a line greater than where it begins (at least `line`, if given), another function, or another pass."""

    def begin(log: Log, origin: Origin) -> Test:
        outer = _next(log, origin)

        def test(node: Node) -> bool:
            if node.graph_pass != origin.graph_pass:
                return True
            here, there = origin.site, node.site
            if not outer(node) or there is None:
                return False
            if here is None:
                return True
            if (here.file, here.function) != (there.file, there.function):
                # Whatever runs while the module's own code or a given line is awaited was called from there.
                return here.function != "<module>" and not line
            if origin.graph_pass == "backward" and not line:
                return there.line != here.line
            return there.line >= line if line else there.line > here.line

        return test

    return Motion("until", begin)


def goto(row: int) -> Motion:
    """To a row that is not written yet."""
    return Motion("goto", lambda log, origin: lambda node: node.row >= row)


def again(row: int) -> Motion:
    """To a row where one stood in the run before."""
    return Motion("again", lambda log, origin: lambda node: node.row >= row, passes_by=True)


def steps(count: int) -> Motion:
    """Past so many ends of training steps."""

    def begin(log: Log, origin: Origin) -> Test:
        left = count
        seen = log.end

        def test(node: Node) -> bool:
            nonlocal left, seen
            if seen <= node.row:
                kinds = log.column("kind", seen, node.row)
                left -= int((kinds == Kind.STEP).sum())
                seen = node.row
            return left <= 0

        return test

    return Motion("run", begin)


def matching(found: Test, goal: str) -> Motion:
    """To the next node that a test finds."""
    return Motion("run", lambda log, origin: found, goal=goal)


NEXT = Motion("next", _next)
"""The next node of this scope or of one around it; in backward, the rule runs whole."""
FIRST = Motion("step", _first)
"""The first node that a line of the program computes: what makes modules and fills their parameters is passed."""
STEP = Motion("step", _step, into_rules=True)
"""The next node, wherever it is."""
RETURN = Motion("return", _return)
"""The first node behind this scope, rule, or pass."""
STEPS: Final[dict[Granularity, dict[Reach, Motion]]] = {
    "node": {"over": NEXT, "into": STEP, "out": RETURN},
    "line": {
        "over": Motion("next", _over_lines, lines="over"),
        "into": Motion("step", _step, lines="into"),
        "out": Motion("return", _out_of_lines, lines="out"),
    },
}
"""The ways to step. By lines, a call of `backward()` is one that is stepped over or into."""
BEGINNING: Final[dict[Granularity, Motion]] = {"node": FIRST, "line": STEPS["line"]["into"]}
"""To where a program begins."""
CONTINUE = Motion("continue", lambda log, origin: lambda node: False)
"""On, until a breakpoint or a watch stops it."""
