"""A session with a program in another process: it moves and evaluates, all else is answered from its log."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, Final

from graphscope.dap.log_session import READING, Listener, Session, needs_of, variable_of
from graphscope.dap.program import PATIENCE, Process, Program
from graphscope.debugger.expressions import PREDICATES, parse
from graphscope.debugger.inspection import Entry
from graphscope.debugger.json_data import from_json, to_json
from graphscope.debugger.live_edge import Edge
from graphscope.debugger.results import Again, Message, Result, Resumed, Stop
from graphscope.debugger.setup import Setup, setup_of, take_counts
from graphscope.debugger.source_blocks import MODULE
from graphscope.debugger.step_targets import Target
from graphscope.errors import CommandError
from graphscope.eventlog.reader import load

HALTING: Final = 0.3
"""Seconds until a program that is to pause is stopped between two nodes."""


class LiveSession(Session):
    """A program that waits or runs, and its log.

    Args:
        program: The line to it.
        path: Where it records.
        listener: Hears of what happens.
        process: Its process, if we started it.
    """

    def __init__(self, program: Program, path: str, listener: Listener, process: Process | None) -> None:
        self.program = program
        self.process = process
        self._running = True
        self._sent: Setup | None = None
        self._thread = 1
        self._enters = False
        super().__init__(load(path), listener)
        self.debugger.can_restart = process is not None

    @property
    def running(self) -> bool:
        return self._running and self.program.connected

    @property
    def grows(self) -> bool:
        return self.program.connected

    @property
    def waits(self) -> bool:
        """Whether the program waits, wherever one stands."""
        return self.program.connected and not self._running

    @property
    def waits_here(self) -> bool:
        return self.waits and self.debugger.at_edge

    @property
    def thread(self) -> int:
        return self._thread if self.waits_here else super().thread

    def start(self, *, stop: bool, again: Again | None = None, **wishes: bool) -> None:
        """Let the program begin, with what was set up.

        Args:
            stop: Whether it stops at its first node.
            again: Where it stops first instead, if it was run before.
            wishes: Whether it `ends` when nobody holds it any more, waits for `failures` where an exception left it,
                and lets the `children` that it starts wait for a debugger.
        """
        self._enters = stop
        self.changed_setup()
        self.program.tell("begin", stop=stop, again=to_json(again), **wishes)

    # Commands --------------------------------------------------------------------------------------------------------

    async def _carried_out(self, line: str, block: tuple[str, ...], frame: int | None) -> Result:
        needs = needs_of(line)
        if self.running:
            self.debugger.log.refresh()
            if needs == "run":
                return Message("The program runs", "pause it first", error=True)
        elif self.waits and needs in ("run", "edge"):
            return await self._by_program(line, block, frame)
        result = await super()._carried_out(line, block, frame)
        self.changed_setup()
        return result

    async def _by_program(self, line: str, block: tuple[str, ...], frame: int | None) -> Result:
        frame = self.debugger.frame_index if frame is None else frame
        runs = needs_of(line) == "run"
        if runs:
            self._running = True  # at once: it may stop again before its answer is read
        answered = asyncio.ensure_future(self._answered(line, block, frame, runs))
        try:
            return await asyncio.shield(answered)
        except asyncio.CancelledError:  # what has become of the program must be heard nevertheless
            self.program.interrupt()
            answered.add_done_callback(lambda done: self._moved_late(done.result()))
            raise

    async def _answered(self, line: str, block: tuple[str, ...], frame: int, runs: bool) -> Result:
        try:
            body, _ = await self.program.ask("command", line=line, block=block, now=self.debugger.now, frame=frame)
        except CommandError as error:
            self._running = self._running and not runs
            return Message(error.message, error.hint or "", error=True)
        result: Result = from_json(body["result"])
        if isinstance(result, Resumed):
            if not self._running:  # it has stopped again already, and has told newer counts
                return result
            take_counts(self.debugger, from_json(body["counts"]))
            return result
        self._running = self._running and not runs  # another command may let it run
        self._follow(body)
        return result

    def _follow(self, body: dict[str, Any]) -> None:
        """Stand where the program's end of the debugger stands."""
        debugger = self.debugger
        debugger.log.refresh()
        take_counts(debugger, from_json(body["counts"]))
        if body["now"] != debugger.now:
            debugger.stand(body["now"])

    def _moved_late(self, result: Result) -> None:
        if isinstance(result, Stop):
            self.moved(result)

    def changed_setup(self) -> None:
        setup = setup_of(self.debugger).uncounted
        if setup != self._sent and self.program.connected:
            self._sent = setup
            self.program.tell("setup", setup=to_json(setup), running=self._running)

    # What the program tells ------------------------------------------------------------------------------------------

    def message_received(self, message: dict[str, Any]) -> None:
        """An event of the program."""
        match message["event"]:
            case "stopped" if self.worker.busy:  # somebody looks at the past of a program that runs
                self.worker.interrupt()
                self._settling = asyncio.create_task(self._stopped_later(message))
            case "stopped":
                self._stopped(message)
            case "said":
                self.listener.said(message["text"], message["place"])
            case "child":
                self.listener.started(message["name"], message["pid"], message["place"])

    async def _stopped_later(self, message: dict[str, Any]) -> None:
        await self.worker.settled()
        self._stopped(message)

    def _stopped(self, message: dict[str, Any]) -> None:
        debugger = self.debugger
        debugger.log.refresh()
        self._running = False
        take_counts(debugger, from_json(message["counts"]))
        stop: Stop = from_json(message["stop"])
        pending, remote_frames = from_json(message["pending"]), from_json(message["frames"])
        debugger.edge = Edge(
            message["edge"], None, pending, remote_frames=remote_frames, passed=message["passed"], line=stop.line
        )
        debugger.stand(stop.row)
        self.failed = stop.cause == "exception"
        self._thread = self._number_of(message["thread"]) or super().thread
        if self._enters and stop.cause == "step":
            stop = replace(stop, cause="entry")
        self._enters = False
        self.moved(stop)

    def _number_of(self, ident: int) -> int:
        threads = self.debugger.log.table("threads")
        found = [number for number, entry in enumerate(threads, 1) if entry and entry.get("ident") == ident]
        return found[-1] if found else 0

    # Values ----------------------------------------------------------------------------------------------------------

    async def look(self, expression: str, frame: int | None = None) -> Entry:
        if not self.waits or (expression in ("value", "grad") and not self._asks_for(expression)):
            return await super().look(expression, frame)
        return await self._of_live_frame("look", expression=expression, frame=frame)

    def _asks_for(self, word: str) -> bool:
        """Whether what the program waits with must be asked for, because the log does not have it."""
        node = self.debugger.node_at_hand
        if not self.waits_here:
            return False
        return node is None or node.value is None or self.raised is not None

    def live_frame(self, frame: int | None) -> int | None:
        remote_frames = self.debugger.edge.remote_frames if self.waits_here and self.debugger.edge is not None else ()
        if frame is not None:
            return frame if frame < len(remote_frames) else None
        node = self.debugger.node
        site = None if node is None else node.site
        if node is None or site is None:
            return None
        same = [
            place
            for place, each in enumerate(remote_frames)
            if (each.place.file, each.place.function) == (site.file, site.function)
        ]
        if node.graph_pass == "backward":  # the call that made it is over, but for a module, which runs once
            return same[-1] if same and site.function == MODULE else None
        return same[-1] if same and same[-1] == len(remote_frames) - 1 else None

    async def hover(self, expression: str, frame: int | None) -> Entry:
        live = self.live_frame(frame)
        if live is None:
            return await super().hover(expression, frame)
        return await self._of_live_frame("hover", expression=expression, frame=live)

    def is_recalled(self, expression: str, frame: int | None) -> bool:
        recorded = self.recorded_locals(frame) if self.waits_here and self.live_frame(frame) is None else None
        if recorded is None:
            return False
        try:
            names = parse(expression).names - PREDICATES.keys()
        except CommandError:
            return False
        return bool(names) and all(name in recorded and name not in ("value", "grad") for name in names)

    async def tensor(self, path: str, frame: int | None) -> int | str | None:
        live = self.live_frame(frame)
        if live is None and (known := await super().tensor(path, frame)) is not None:
            return known
        if not self.waits_here:
            return None
        where = {"now": self.debugger.now, "frame": self.debugger.frame_index if live is None else live}
        body, _ = await self.program.ask("tensor", patience=READING, path=path, **where)
        found: int | str | None = body["result"]
        return found

    async def variables(self, frame: int | None, which: str) -> list[Entry]:
        live = self.live_frame(frame)
        if live is None:
            return await super().variables(frame, which)
        body, _ = await self.program.ask("variables", patience=READING, now=self.debugger.now, frame=live, which=which)
        return [of_program(entry) for entry in from_json(body["result"])]

    async def children(self, handle: int, kind: str, start: int, count: int) -> list[Entry]:
        if handle > 0:
            return await super().children(handle, kind, start, count)
        body, _ = await self.program.ask(
            "children", patience=READING, handle=-handle, kind=kind, start=start, count=count
        )
        return [of_program(entry) for entry in from_json(body["result"])]

    async def is_of_program(self, line: str, frame: int | None) -> bool:
        name = variable_of(line)
        if name and self.waits:
            body, _ = await self.program.ask("defines", patience=READING, name=name, frame=self.live_frame(frame))
            if body["result"] or self.waits_here:
                return bool(body["result"])
        return await super().is_of_program(line, frame)

    async def memory(self, handle: int, offset: int, count: int) -> tuple[int, bytes]:
        if handle > 0:
            return await super().memory(handle, offset, count)
        body, blob = await self.program.ask("memory", patience=READING, handle=-handle, offset=offset, count=count)
        return body["result"], blob

    async def assign(self, target: str, expression: str, frame: int | None = None) -> Entry:
        if not self.waits_here:
            return await super().assign(target, expression, frame)
        return await self._of_live_frame("assign", target=target, expression=expression, frame=frame)

    async def complete(self, line: str, word: str, frame: int | None = None) -> list[str]:
        if not self.waits_here:
            return await super().complete(line, word, frame)
        live = self.live_frame(frame)
        chosen = {"frame": self.debugger.frame_index if live is None else live, "recorded": live is None}
        where = {"now": self.debugger.now, **chosen}
        body, _ = await self.program.ask("complete", patience=READING, line=line, word=word, **where)
        return list(body["result"])

    async def step_targets(self, frame: int | None) -> list[Target]:
        live = self.live_frame(frame)
        if live is None or self.debugger.edge is None or live != len(self.debugger.edge.remote_frames) - 1:
            return []  # what lies around goes on with what it has called
        body, _ = await self.program.ask("targets", patience=READING)
        return list(from_json(body["result"]))

    async def _of_live_frame(self, ask: str, **what: Any) -> Entry:
        if what.get("frame") is None:
            what["frame"] = self.debugger.frame_index
        body, _ = await self.program.ask(ask, patience=READING, now=self.debugger.now, **what)
        self._follow(body)
        return of_program(from_json(body["result"]))

    # The program's life ----------------------------------------------------------------------------------------------

    async def pause(self) -> None:
        await super().pause()
        if not self.running:
            self.program.interrupt()  # what it computes for us
            return
        self.program.tell("pause", running=True)
        await asyncio.sleep(HALTING)
        if self.running:
            self.program.tell("halt", running=True)

    async def let_go(self) -> None:
        if self.waits:
            self.program.tell("leave")  # it ends by itself, and that is told then
        else:
            await super().let_go()

    async def leave(self, *, end: bool) -> None:
        self.program.tell("end" if end else "leave", running=self._running)
        if end and self.process is not None:
            await self.process.end(0 if not self.program.connected else PATIENCE)
        elif end:
            await self.program.wait(PATIENCE)  # it ends its log, and whoever started it sees to the rest

    def close(self) -> None:
        super().close()
        self.program.hang_up()

    def lost(self) -> None:
        """The program has ended, or was lost: what it did is answered from its log."""
        debugger = self.debugger
        debugger.log.refresh()
        self._running = False
        debugger.edge = None


def of_program(entry: Entry) -> Entry:
    """An entry that the program told: its handle is below zero here."""
    return replace(entry, handle=-entry.handle)
