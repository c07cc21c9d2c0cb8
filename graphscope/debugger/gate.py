"""The gate on a live log: decides at each node whether the program waits, and answers it when it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from graphscope.debugger import frames, nodes
from graphscope.debugger.again import come_again
from graphscope.debugger.breakpoint_checks import PASS_ENDED
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import describe
from graphscope.debugger.line_calls import LineCalls
from graphscope.debugger.line_trace import LineTrace, is_at
from graphscope.debugger.live_edge import Edge
from graphscope.debugger.motion import CONTINUE, FIRST, Motion, Plan, again
from graphscope.debugger.nodes import Pending
from graphscope.debugger.results import Again, Ended, Raised, Stop
from graphscope.debugger.run_judge import RunJudge
from graphscope.eventlog import record as recording
from graphscope.eventlog import sources
from graphscope.eventlog.gate import Answer, StepInto, aside
from graphscope.eventlog.names import Site
from graphscope.eventlog.own_files import is_own
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.debugger.results import Place
    from graphscope.eventlog.places import Line
    from graphscope.eventlog.reader import Event

FrontEnd = Callable[[Debugger, Stop], Ended | None]
"""Talks to a person while the program waits; returns None when it is to run on, else what the person wants instead."""


class Quit(SystemExit):
    """The person left the debugger, or wants a new start: the program ends without a traceback."""


class LiveGate:
    """Stops a program at its nodes, in the thread that made them; other threads wait at their next node.

    Args:
        debugger: The session; it begins to move as `first` says.
        front_end: Called in the stopped thread.
        first: How to go to the first stop: at the next node that computes unless told otherwise.
        floor: The program's frames end above a frame of this code.
    """

    def __init__(
        self, debugger: Debugger, front_end: FrontEnd, *, first: Motion = FIRST, floor: CodeType | None = None
    ) -> None:
        self.debugger = debugger
        self.ended: Ended | None = None
        self._asking: int | None = None
        self._front_end = front_end
        self.floor = floor
        self._turn = threading.RLock()
        self._pause = False
        self._row = -1
        """The node that the program has come to last."""
        self._line_calls = LineCalls()
        self._line_trace = LineTrace(self.at_line, self.at_exception, lambda: debugger.just_my_code)
        self._judge = RunJudge()
        self._again: Again | None = None
        self.go(first)

    @property
    def wants_before(self) -> bool:
        """Whether some breakpoint stops ahead of a node."""
        return self.ended is not None or bool(self.debugger.breakpoints.enabled(before=True))

    @property
    def asking(self) -> bool:
        """Whether a person is at the prompt, in whichever thread."""
        return self._asking is not None

    @property
    def asking_here(self) -> bool:
        """Whether a person is at the prompt in the calling thread."""
        return self._asking == threading.get_ident()

    def go(self, motion: Motion) -> None:
        """Move so from here on."""
        debugger = self.debugger
        debugger.plan = Plan(motion, motion.begin(debugger.log, debugger.origin()), 1)
        self._step_lines(None)

    def go_again(self, wanted: Again) -> None:
        """Go to where a person stood in the run before, whatever would stop the program on the way."""
        self._again = wanted
        self.go(again(wanted.row))

    def pause(self) -> bool:
        """Stop at the next node. False when that was requested already, or nobody is there to stop for."""
        if self.ended is not None:
            return False
        requested, self._pause = self._pause, True
        return not requested

    def before(
        self, op: str, inputs: tuple[int, ...], frame: FrameType, *, called: str = "", line: Line | None = None
    ) -> None:
        """A forward op is about to run."""
        with self._turn:
            if self._asking or self._is_gone:  # an expression of the person computes something
                return
            self._raise_if_ended()
            debugger = self.debugger
            debugger.log.refresh()
            pending = self._pending(op, inputs, frame, called, line)
            edge = Edge(pending.row, frame, pending, floor=self.floor)
            debugger.edge = edge
            debugger.stand(pending.row)
            hit = None if self._again else debugger.breakpoints.check(pending, debugger.lookup, before=True)
            if hit is not None:
                plan, debugger.plan = debugger.plan, None
                self.ask(debugger.stop_at(hit), plan)
            debugger.edge = None

    def after(self, row: int, value: Any, frame: FrameType, *, cuts: bool = False) -> Answer:
        """A node's row was appended; whether and how the program goes on from it."""
        passed, self._row = self._row, row
        if self.idle:
            return None
        with self._line_trace.paused(), self._turn:
            if self._asking:
                return None
            self._raise_if_ended()
            debugger = self.debugger
            debugger.log.refresh()
            debugger.edge = edge = Edge(row, frame, value=value, cuts=cuts, floor=self.floor)
            stop = self._visit(row, frame, passed)
            if stop is not None and self._again is not None:
                wanted, self._again = self._again, None
                stop = come_again(debugger, wanted)
            while stop is not None:
                self.ask(stop, None)
                stop = None
                if (
                    debugger.edge is not edge
                ):  # it was told of at the node to blame, and now comes the one that shows it
                    debugger.edge = edge
                    stop = self._visit(row, frame, passed)
            plan = debugger.plan
            debugger.edge = None
            if edge.answer is None and plan is not None and plan.motion.into_rules and self._is_rule(row):
                return StepInto()
            return edge.answer

    def passed(self, frame: FrameType) -> None:
        """A backward pass has ended; whoever asks what it has left undone can be answered now."""
        if self.debugger.breakpoints.wait_for_ends:
            with self._turn:
                if not self._asking:
                    self._look_at_pass(frame)
        if self._judge.backward_pass():
            self._look_at_run(frame)

    def stepped(self, frame: FrameType) -> None:
        """A training step has ended; seldom enough to cost little, the run so far is judged as a whole."""
        if self._judge.step():
            self._look_at_run(frame)

    def finished(self, frame: FrameType) -> None:
        """The program has ended: what has shown since the run was judged last, or shows only now, is told."""
        self._look_at_run(frame, ended=True)

    def at_line(self, frame: FrameType) -> None:
        """A line of the program is about to run that a breakpoint or a step asks for."""
        with self._turn, aside(recording.active()):
            if self._asking or self._is_gone:
                return
            self._raise_if_ended()
            debugger = self.debugger
            plan = debugger.plan
            row = self._between(frame, frames.describe(frame).place)
            here = partial(is_at, frame)
            hit = None if self._again else debugger.breakpoints.check_line(here, row, debugger.lookup)
            if hit is not None:
                debugger.plan = None
                self.ask(debugger.stop_at(hit))
            elif plan is not None and self._line_trace.is_led_to(frame):
                plan.left -= 1
                if plan.left <= 0:
                    debugger.plan = None
                    self.ask(debugger.stop())
            debugger.edge = None

    def at_exception(self, frame: FrameType, error: BaseException) -> None:
        """An exception is about to leave a line of the program, which may catch it."""
        with self._turn, aside(recording.active()):
            if self._asking or self._is_gone or self._again is not None:
                return
            self._raise_if_ended()
            place = frames.describe(frame).place
            self._between(frame, place)
            self.debugger.plan = None
            kind, _, text = describe(error).partition(": ")
            self.ask(self.debugger.stop("raised", raised=Raised(kind, text, place)))
            self.debugger.edge = None

    def _look_at_pass(self, frame: FrameType) -> None:
        debugger = self.debugger
        if self._again is not None:
            return
        row = self._between(frame)
        if row >= debugger.log.first:
            hit = debugger.breakpoints.check(debugger.graph.node(row), debugger.lookup, moments=PASS_ENDED)
            if hit is not None:
                self.ask(debugger.stop_at(hit))
        debugger.edge = None

    def _look_at_run(self, frame: FrameType, *, ended: bool = False) -> None:
        breakpoints = self.debugger.breakpoints
        checks = breakpoints.of_runs(ended=ended) if len(breakpoints) else []
        if not checks:
            return
        with self._turn:
            if self._asking:
                return
            self._raise_if_ended()
            debugger = self.debugger
            row = self._between(frame)
            found = self._judge.new(debugger.graph.at(debugger.log.end - 1), checks)
            hit = debugger.breakpoints.check_run(row, found, debugger.lookup) if found else None
            if hit is not None:
                plan, debugger.plan = debugger.plan, None
                self.ask(debugger.stop_at(hit, remark="the program has ended" if ended else ""), plan)
            debugger.edge = None

    def _between(self, frame: FrameType, line: Place | None = None) -> int:
        """Stand where the program is: behind the last node, or at a line ahead of the next one; the row of that."""
        debugger = self.debugger
        log = debugger.log
        log.refresh()
        row = log.end if line is not None else next(nodes.backward(log, log.first, log.end), log.first - 1)
        in_library = line is not None and not is_own(line.file)
        debugger.edge = Edge(row, frame, floor=self.floor, passed=True, line=line, libraries=in_library)
        debugger.stand(row)
        return row

    def _visit(self, row: int, frame: FrameType, passed: int) -> Stop | None:
        debugger = self.debugger
        event = debugger.log.event(row)
        if event.kind is Kind.LEAF and event.tensor != row:  # a new segment repeats the leaves that it uses
            return None
        stop = self._visit_parts(event, passed)
        if stop is None:
            breakpoints = debugger.breakpoints
            if debugger.granularity == "node":
                breakpoints.entered = self._line_calls.entered(frame, breakpoints.enabled(before=False))
            stop = debugger.visit(row, debugger.edge)
        if self._pause and stop is None:
            debugger.plan = None
            debugger.stand(row)
            stop = debugger.stop("pause")
        return stop

    def _visit_parts(self, event: Event, passed: int) -> Stop | None:
        """The contributions to a cotangent at which the program did not wait: their rows come right before it."""
        for row, _ in event.inputs if event.kind is Kind.GRAD else ():
            if row > passed and self.debugger.log.event(row).kind is Kind.ACCUMULATE:
                stop = self.debugger.visit(row, self.debugger.edge)
                if stop is not None:
                    return stop
        return None

    def ask(self, stop: Stop, plan: Plan | None = None) -> None:
        """Let the person say how to go on; `plan` is taken up again where nothing else is said."""
        self._pause = False
        self._asking = threading.get_ident()
        try:
            self.ended = self._front_end(self.debugger, stop)
        finally:
            self._asking = None
        if self._is_gone:
            self._let_go()
            return
        if self.debugger.plan is None:
            self.debugger.plan = plan
        self._raise_if_ended()
        frame = None if self.debugger.edge is None else self.debugger.edge.frame
        self._step_lines(frame)
        self.look_out(frame)

    def look_out(self, frame: FrameType | None = None) -> None:
        """Have Python tell of the lines that breakpoints ask for; `frame` is where the program is, if it runs."""
        debugger = self.debugger
        asked = debugger.granularity == "line" and self.ended is None
        lines, exceptions = debugger.breakpoints.lines if asked else (), debugger.stops_when_raised
        self._line_trace.look_out(lines, frame, exceptions=exceptions and self.ended is None)

    def _step_lines(self, frame: FrameType | None) -> None:
        """Have Python tell where a step by lines leads that begins at a frame."""
        plan = self.debugger.plan
        if plan is None:
            self._line_trace.step(None, frame)
        else:
            edge, reach = self.debugger.edge, plan.motion.lines
            if reach == "out" and edge is not None and edge.libraries and self.debugger.just_my_code:
                reach = "over"  # the frame of a library is not stepped in: the next line lies out of it
            self._line_trace.step(reach, frame, plan.motion.call)

    def stop_tracing(self) -> None:
        """Let Python tell of no lines any more."""
        self._line_trace.off()

    def _let_go(self) -> None:
        """Get out of the way of the program: it runs at full speed, and is recorded as before."""
        self.stop_tracing()
        self.debugger.plan = None
        writer = recording.active()
        if writer is not None:
            writer.gate = None

    @property
    def _is_gone(self) -> bool:
        """Whether the program is to go on without anybody who looks."""
        return self.ended is not None and self.ended.goes_on

    def _raise_if_ended(self) -> None:
        if self.ended is not None and not self.ended.goes_on:
            raise Quit(0)

    @property
    def idle(self) -> bool:
        """Whether nothing can stop the program here: asked without a lock, ahead of each node."""
        debugger = self.debugger
        plan = debugger.plan
        return self._is_gone or (
            not self._pause
            and self._asking is None  # else this thread waits until the person has answered
            and self.ended is None
            and not debugger.watches
            and (plan is None or plan.motion is CONTINUE)
            and not debugger.breakpoints.look_at_nodes
        )

    def _is_rule(self, row: int) -> bool:
        return bool(self.debugger.graph.node(row).kind == "grad")

    def _pending(self, op: str, inputs: tuple[int, ...], frame: FrameType, called: str, line: Line | None) -> Pending:
        log = self.debugger.log
        if line is None:
            site, text = _site(frame), frames.source(frame)
        else:
            site, text = _written(line), frames.text_of_file(line.file)
        name = called or sources.variable_at(text, site) or ""
        known = tuple(row for row in inputs if log.first <= row < log.end)  # the others get their rows with this node
        scope = log.event(known[-1]).scope if known else 0
        lines = text.splitlines()
        source_line = lines[site.line - 1].strip() if 0 < site.line <= len(lines) else ""
        return Pending(
            log.end, op, name, site, source_line, log.scope_path(scope), log.scope_title(scope), scope, known
        )


def _site(frame: FrameType) -> Site:
    """The expression that a frame is at."""
    places = list(frame.f_code.co_positions())
    line, end_line, column, end_column = places[frame.f_lasti // 2]
    code = frame.f_code
    return Site(code.co_filename, line or frame.f_lineno, column or 0, end_line or 0, end_column or 0, code.co_qualname)


def _written(line: Line) -> Site:
    """A place of which there is no frame."""
    end_line = line.number if line.end_column else 0
    return Site(line.file, line.number, line.column, end_line, line.end_column, line.function)
