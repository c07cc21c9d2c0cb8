"""The debugger: a position in a log and, while a program waits, its live edge. Commands act on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

from graphscope.debugger import expression_names, failure, nodes, recorded_frames, watches
from graphscope.debugger.breakpoint_checks import NODE_MADE, RECORDED
from graphscope.debugger.breakpoints import Breakpoints, Hit
from graphscope.debugger.displays import Displays
from graphscope.debugger.line_visits import begins
from graphscope.debugger.motion import CONTINUE, STEPS, Granularity, Motion, Origin, Plan, Reach
from graphscope.debugger.recorded_locals import RecordedLocals
from graphscope.debugger.results import Cause, Change, Frame, Place, Raised, Resumed, Stop, Where
from graphscope.errors import CommandError
from graphscope.eventlog import record as recording
from graphscope.eventlog.schema import NODES
from graphscope.graph import Graph, Node
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from graphscope.compare import Difference
    from graphscope.debugger.live_edge import Edge
    from graphscope.debugger.log_switch import KeptLog
    from graphscope.debugger.nodes import Pending
    from graphscope.eventlog.reader import Log
    from graphscope.graph.text_search import TextSearch


class Debugger:
    """Stepping through one log, live or recorded, forward and backward in time.

    Args:
        log: The log.
        died: The frames of a program that failed, outermost first, with the lines where they were left.
        can_restart: Whether whoever runs the program can run it again.
    """

    def __init__(self, log: Log, *, died: dict[FrameType, int] | None = None, can_restart: bool = False) -> None:
        self.log = log
        self.breakpoints = Breakpoints()
        self.watches: dict[int, watches.Watch] = {}
        self.watches_made = 0
        self.displays = Displays()
        self.aliases: dict[str, str] = {}
        self.checkpoints: dict[str, int] = {}
        self.can_restart = can_restart
        self.edge: Edge | None = None
        self.plan: Plan | None = None
        self.granularity: Granularity = "node"
        """What a step is, and what a breakpoint at a line stops at: each node, or a line once a pass."""
        self.just_my_code = True
        """Whether steps by lines lead into the program's own files alone, and not into those of libraries."""
        self.stops_when_raised = False
        """Whether exceptions stop the program at the line of its own where they arise, though it may catch them."""
        self.frame_index = 0
        self.listed = 0
        self.followed: tuple[int, int] | None = None  # where `same` came to, and a row of the tensor that it follows
        self.search: tuple[str, int, TextSearch] | None = None
        """The text that was searched for last, up to which row, and the search for it."""
        self._graph = Graph(log)
        self.now = log.first - 1
        self._died = died or {}
        self.failure: failure.Failure | None = None
        """How the program failed, where one stood there."""
        self._blamed: tuple[int, int] | None = None
        """The node where one stands as the one to blame, and a later node where that was seen."""
        self.kept_logs: dict[Path, KeptLog] = {}
        self.difference: Difference | None = None
        """What this run was compared with last."""
        self.compared_rows = 0  # the end of the log when it was
        self.earlier: Path | None = None  # the log of the run before, where the program was run again

    # Where it stands -------------------------------------------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph at `now`."""
        return self._graph

    @property
    def at_edge(self) -> bool:
        """Whether the program waits exactly here."""
        return self.edge is not None and self.now == self.edge.row

    @property
    def node(self) -> Node | Pending | None:
        """The current node; None ahead of the first."""
        if self.edge is not None and self.at_edge and self.edge.pending is not None:
            return self.edge.pending
        if self.line is not None:  # the last one that was made
            row = self._last_node()
            return self._graph.node(row) if row >= self.log.first else None
        if self.now < self.log.first or self.log.event(self.now).kind not in NODES:
            return None
        return self._graph.node(self.now)

    @property
    def node_at_hand(self) -> Node | Pending | None:
        """The node that `value` and `grad` speak of: the current one; None at a line that one stands at instead."""
        by_line = self._raised is not None and not self._raised.by_node
        return None if by_line or self.line is not None else self.node

    @property
    def line(self) -> Place | None:
        """The line that the program is at, where it waits here at none of its nodes."""
        return self.edge.line if self.edge is not None and self.at_edge else None

    def need_node(self) -> Node:
        """The current node.

        Raises:
            CommandError: There is none, or it is not computed yet.
        """
        node = self.node
        if isinstance(node, Node):
            return node
        if node is None:
            raise CommandError("There is no node here yet", "n goes to the next node")
        raise CommandError(f"{node.op} is not computed yet", "n computes it; `inputs` are there")

    def chosen(self, spec: str) -> Node:
        """The node that a name, number or SPEC means; the current one when nothing is said."""
        return expression_names.one(self._graph, spec) if spec.strip() else self.need_node()

    def stand(self, row: int) -> None:
        """Move to a row, without a word."""
        self.now = row
        if self._blamed is not None and not self._blamed[0] <= row < self._blamed[1]:
            self._blamed = None
        self._graph = self._graph.at(row)
        self.frame_index = len(self.stack or self._remote_frames) - 1
        self.listed = 0
        self.followed = None

    def switch_to(self, graph: Graph) -> None:
        """Look at another log from now on; see `debugger.log_switch`, which keeps what belongs to this one."""
        self._graph, self.log = graph, graph.log
        self.search, self._died, self.failure = None, {}, None

    @property
    def other(self) -> Path | None:
        """The log of the run that this one was compared with last; before, that of the run before this one."""
        known = self.difference if self.difference is not None and self.difference.a is self.log else None
        return self.earlier if known is None else known.b.path

    @property
    def last_row(self) -> int:
        """The newest row that can be gone to."""
        return self._end - 1

    def place(self) -> Place | None:
        """The line of the frame that was chosen, or of the node."""
        where = self.where()
        return where.frames[where.current].place if where.frames else None

    def stand_at_failure(self, error: BaseException | None = None, otherwise: str = failure.UNKNOWN) -> Stop:
        """Go to the node that failed, or that came last before the exception, and say so.

        Args:
            error: What failed, where the log does not tell.
            otherwise: What is said where nobody knows of an exception.
        """
        self.failure = failure.failure_of(self._graph.at(self.log.end - 1), self._died, error, otherwise)
        self.stand(self.failure.row)
        return self.stop("exception", raised=self.failure.raised)

    def lookup(self) -> Callable[[str], object]:
        """What names mean here, in the frame that was chosen."""
        frame = self.frame
        recorded = self.recorded_locals(self.where().current if frame is None else None)
        held = self.edge.held() if self.edge is not None and self.at_edge else None
        return expression_names.lookup(self._graph, self.node_at_hand, frame, held, recorded, self.node)

    def recorded_locals(self, place: int | None) -> RecordedLocals | None:
        """What the log knows of the variables of a frame, by its place from the outermost; None: where the node is."""
        if place is None:
            return recorded_frames.locals_of(self._graph, self.node)
        return recorded_frames.locals_in(self._graph, self.where().frames[place : place + 1])

    def origin(self) -> Origin:
        """Where a step from here begins."""
        node = self.node
        if node is None:
            return Origin()
        if self.line is not None:
            return Origin("", "forward", node.event.scope if isinstance(node, Node) else 0)
        scope = node.event.scope if isinstance(node, Node) else node.scope_number
        return Origin(node.kind, node.graph_pass, scope, node.site)

    # Frames ----------------------------------------------------------------------------------------------------------

    @property
    def stack(self) -> list[FrameType]:
        """The Python frames at hand, outermost first; none when the past is looked at."""
        if self.edge is not None:
            return self.edge.stack if self.at_edge else []
        return [] if self._raised is None else list(self._died)

    @property
    def frame(self) -> FrameType | None:
        """The frame that `u` and `d` chose."""
        stack = self.stack
        return stack[self.frame_index] if 0 <= self.frame_index < len(stack) else None

    @property
    def program_frame(self) -> FrameType | None:
        """The frame that `!` speaks to: the chosen one, else (while the past is looked at) the program's innermost."""
        waiting = self.edge.stack if self.edge is not None else list(self._died)
        return self.frame or (waiting[-1] if waiting else None)

    @property
    def _raised(self) -> Raised | None:
        return self.failure.raised if self.failure is not None and self.now == self.failure.row else None

    @property
    def _remote_frames(self) -> tuple[Frame, ...]:
        return self.edge.remote_frames if self.edge is not None and self.at_edge else ()

    def where(self) -> Where:
        """The frames, or the sites that were recorded."""
        stack = self.stack
        if self._remote_frames:
            return Where(self._remote_frames, self.frame_index)
        if stack:
            return Where(recorded_frames.waiting(stack, self._died, self.node), self.frame_index)
        recorded = tuple(recorded_frames.frames(self._graph, self.node, self._raised))
        innermost = len(recorded) - 1
        return Where(recorded, innermost if self.frame_index < 0 else min(self.frame_index, innermost))

    # Moving ----------------------------------------------------------------------------------------------------------

    def way(self, reach: Reach) -> Motion:
        """How to step so far."""
        return STEPS[self.granularity][reach]

    def forward(self, motion: Motion, count: int = 1) -> Stop | Resumed:
        """Move forward: through what is recorded, then by letting the program run."""
        if self.edge is None:
            self.log.refresh()
        began = self.now
        self._take_stock()
        self.plan = Plan(motion, motion.begin(self.log, self.origin()), max(count, 1))
        try:
            for row in self._ahead(began + 1, self._end):
                stop = self.visit(row)
                if stop is not None:
                    return stop
        except KeyboardInterrupt:
            self.stand(began)
            raise
        if self.edge is None:
            self.stand(max(self._last_node(), began))
            return self._at_end()
        if self.edge.is_ahead and not self.at_edge and began < self.edge.row:
            self.stand(self.edge.row)
            return self.stop()
        self.stand(self.edge.row)
        return Resumed()

    def back(self, motion: Motion, count: int = 1) -> Stop:
        """Move back in time; the program, if one waits, goes on waiting."""
        began = self.now
        self._take_stock()
        self.plan = Plan(motion, motion.begin(self.log, self.origin()), max(count, 1))
        try:
            for row in self._behind(began):
                stop = self.visit(row)
                if stop is not None:
                    return stop
        except KeyboardInterrupt:
            self.stand(began)
            raise
        finally:
            self.plan = None
        self.stand(next(nodes.forward(self.log, self.log.first, self._end), began))
        return self.stop("end", remark="the beginning of the recording")

    def visit(self, row: int, edge: Edge | None = None) -> Stop | None:
        """Pass by a node; a Stop if the plan, a breakpoint or a watch ends the move there.

        Args:
            row: The node.
            edge: Where the program waits with it: in conditions, names are those of its innermost frame.
        """
        self.now = row
        self._graph = self._graph.at(row)
        node = self._graph.node(row)

        def lookup() -> Callable[[str], object]:
            frame = edge.stack[-1] if edge is not None and edge.stack else None
            held = edge.held() if edge is not None and edge.row == row else None
            recorded = recorded_frames.locals_of(self._graph, node) if frame is None else None
            return expression_names.lookup(self._graph, node, frame, held, recorded)

        plan = self.plan
        passes_by = plan is not None and plan.motion.passes_by
        is_blamed = self._blamed is not None and row == self._blamed[1]
        moments = RECORDED if edge is None else NODE_MADE
        looks = len(self.breakpoints) and not is_blamed and not passes_by
        fresh = partial(begins, "line", node, edge) if self.granularity == "line" else None
        hit = self.breakpoints.check(node, lookup, moments=moments, begins=fresh) if looks else None
        changed = (watch.changed(self._graph, node, lookup) for watch in self.watches.values())
        changes = tuple(change for change in changed if change is not None and not passes_by)
        met, note = plan.meets(node) if plan is not None else (False, "")
        if plan is not None and met and (plan.motion.lines is None or begins("statement", node, edge)):
            plan.left = 0 if note else plan.left - 1
            if plan.left > 0:
                plan.test = plan.motion.begin(self.log, self.origin())
        if hit is None and not changes and (plan is None or plan.left > 0):
            return None
        self.plan = None
        if hit is None:
            self.stand(row)
            return self.stop("watch" if changes else "step", changes=changes, notes=(note,) if note else ())
        if hit.row < row:
            self._blamed = hit.row, row
            self.edge = self.edge if edge is None else edge.behind(hit.row)
        self.stand(hit.row)
        return self.stop_at(hit, changes)

    def stop_at(self, hit: Hit, changes: tuple[Change, ...] = (), remark: str = "") -> Stop:
        """Say where the debugger stands, at a breakpoint."""
        return self.stop("breakpoint", hit=hit, changes=changes, remark=remark, notes=(hit.note,) if hit.note else ())

    def stop(
        self,
        cause: Cause = "step",
        *,
        hit: Hit | None = None,
        changes: tuple[Change, ...] = (),
        raised: Raised | None = None,
        remark: str = "",
        notes: tuple[str, ...] = (),
    ) -> Stop:
        """Say where the debugger stands."""
        node = self.node
        if cause in ("end", "exception") and self.plan is not None:
            notes, self.plan = (*notes, *self.plan.unmet), None
        if self.edge is not None and self.at_edge and self.edge.stack:
            recording.turn(self.edge.stack[-1], self.now)
        return Stop(
            None if node is None else nodes.describe(node),
            cause,
            self.now,
            live=self.at_edge,
            before=not isinstance(node, Node) and node is not None,
            breakpoint=None if hit is None else hit.breakpoint.info,
            changes=changes,
            raised=raised,
            step=step_numbers(self.log).title(self.now),
            remark=remark,
            notes=(*nodes.rule_around(node), *notes),
            displays=tuple(self.displays.changed(self.lookup())),
            findings=() if hit is None else hit.findings,
            line=self.line,
        )

    # Inside ----------------------------------------------------------------------------------------------------------

    @property
    def _end(self) -> int:
        """The row behind the last that may be stood on: what the program's own expressions add lies beyond the edge."""
        return self.log.end if self.edge is None else self.edge.row + (not self.edge.is_ahead)

    def _ahead(self, start: int, stop: int) -> Iterable[int]:
        rows = self._breakpoint_rows()
        return nodes.forward(self.log, start, stop) if rows is None else [row for row in rows if start <= row < stop]

    def _behind(self, stop: int) -> Iterable[int]:
        rows = self._breakpoint_rows()
        if rows is None:
            return nodes.backward(self.log, self.log.first, stop)
        return [row for row in reversed(rows) if row < stop]

    def _breakpoint_rows(self) -> list[int] | None:
        """The rows where a breakpoint may stop, found in bulk; None when all nodes must be looked at one by one."""
        if self.watches or self.plan is None or self.plan.motion is not CONTINUE:
            return None
        return self.breakpoints.rows(self._graph.at(self.last_row))

    def _take_stock(self) -> None:
        for watch in self.watches.values():
            watch.seen = watches.look(watch.expression, self._graph, watch.row)
            watch.due = True

    def _last_node(self) -> int:
        end = self.log.end if self.edge is None else min(self.edge.row, self.log.end)
        return next(nodes.backward(self.log, self.log.first, end), self.log.first - 1)

    def _at_end(self) -> Stop:
        if self.failure is not None:
            return self.stop("exception", raised=self.failure.raised)
        closed = self.log.closed
        return self.stop("end", remark="the end of the recording" if closed else "the end of what is recorded so far")
