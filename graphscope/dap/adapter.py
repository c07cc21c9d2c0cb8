"""One client's adapter: requests come in, answers and events go out; behind it is one session."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphscope.dap import children
from graphscope.dap.conversation import Conversation, Send
from graphscope.dap.line_breakpoints import unmet
from graphscope.dap.live_session import LiveSession
from graphscope.dap.log_session import changes, needs_of
from graphscope.dap.path_mappings import mappings_of
from graphscope.dap.protocol import Arguments, RequestError
from graphscope.dap.references import References
from graphscope.dap.session_start import launch
from graphscope.dap.sibling_processes import SiblingProcesses
from graphscope.dap.stop_events import stopped_event
from graphscope.dap.transcript import Transcript
from graphscope.debugger.results import Ended, Message, Resumed
from graphscope.debugger.session_file import save
from graphscope.eventlog import siblings

if TYPE_CHECKING:
    from graphscope.dap.client_terminal import ClientTerminal
    from graphscope.dap.log_session import Session
    from graphscope.dap.program import Launch, Process
    from graphscope.dap.request_table import Body, Request
    from graphscope.dap.worker import Progress
    from graphscope.debugger.output_marks import Place
    from graphscope.debugger.results import Again, Result, Stop


@dataclass(frozen=True, slots=True)
class Group:
    """Breakpoints that a client sets as a whole: those of `functions`, of `exceptions`, or of the `lines` of a file."""

    kind: str
    path: str = ""


class Adapter(Conversation):
    """What one client speaks to; its arguments are those of `Conversation`."""

    def __init__(self, send: Send, token: str | None = None) -> None:
        super().__init__(send, token)
        self.session: Session | None = None
        self.process: Process | None = None
        self.before: Process | ClientTerminal | None = None
        """The run before, whose log stays to be compared with."""
        self.client_terminal: ClientTerminal | None = None
        """Where a program that runs in a terminal of the client's came to."""
        self.launched: Launch | None = None
        """How the program was started, to start it again."""
        self.wishes = Arguments("launch", {})
        """The arguments of `launch` or `attach`."""
        self.references = References()
        self.siblings = SiblingProcesses(self)
        self.breakpoints: dict[Group, dict[Hashable, int]] = {}
        """For each group that a client sets as a whole, the number of each of its breakpoints."""
        self.watches: dict[Hashable, int] = {}
        """The number of each of its breakpoints on data."""
        self.filters: set[str] = set()
        """The exception filters that are on."""
        self.faults: dict[str, int] = {}
        """The numbers of the breakpoints that some of them are."""
        self.last_stop: Stop | None = None
        self.transcript: Transcript | None = None
        """Where what the program prints is kept."""
        self.screen: dict[str, Any] | None = None
        """How the client's screen is arranged, in its own words, to be kept with the log."""
        self.finished = asyncio.Event()
        """The client has left, and nothing is to be done any more."""
        self.over = False
        """The client was told that the session is over."""
        self.starting: list[asyncio.Task[None]] = []
        """Sessions that the client is asked to begin with processes that the program started."""
        self.restarting = False
        """A program is ended so that it can run again."""
        self._standing = False
        """The client was told that one stands, and has asked for no move since."""

    async def close(self) -> None:
        """See that nothing is left behind."""
        self.drop()
        for task in self.starting:
            task.cancel()
        if self.process is not None:
            await self.process.end(0.0)
        self.save_setup()
        for place in (self.process, self.client_terminal, self.before):
            if place is not None:
                place.forget()
        if self.session is not None:
            self.session.close()

    def save_setup(self) -> None:
        """Keep what was set up beside the log of a program that was started from here."""
        if self.launched is not None and self.session is not None:
            save(self.session.debugger, self.screen)

    async def perform(self, request: Request, arguments: Arguments) -> Body:
        """Do what a request asks for, as soon as it makes sense; the body of the answer."""
        if request.when != "always":
            self.need_session()
        if request.when in ("settled", "stop"):
            await self.need_session().worker.settled()
        if request.when == "stop" and self.need_session().running:
            raise RequestError("The program runs", "pause it first")
        return await request.function(self, arguments)

    def progressed(self, how: Progress) -> None:
        """Something that takes long has come so far."""
        if not self.client.get("supportsProgressReporting"):
            return
        known = {} if how.part is None else {"percentage": round(min(how.part, 1.0) * 100)}
        if how.first:
            body = {"title": "Going through the recording", "cancellable": True, **known}
            self.event("progressStart", progressId=str(how.number), **body)
        else:
            self.event("progressEnd" if how.last else "progressUpdate", progressId=str(how.number), **known)

    # The session -----------------------------------------------------------------------------------------------------

    def need_session(self) -> Session:
        """The session.

        Raises:
            RequestError: There is none yet.
        """
        if self.session is None:
            raise RequestError("There is no session yet", "launch or attach comes first")
        return self.session

    def at_frame(self, arguments: Arguments) -> tuple[Session, int | None]:
        """The session that a request with a `frameId` speaks to, and which Python frame of it."""
        session = self.need_session()
        if "frameId" not in arguments or session.running:  # which it was where the program stood last
            return session, None
        number = arguments.number("frameId")
        return self.references.session_of(number), self.references.frame_of(number)

    def wish(self, wishes: Arguments) -> None:
        """Take over the arguments of `launch` or `attach`.

        Raises:
            RequestError: They are not understood.
        """
        self.paths, self.wishes = mappings_of(wishes), wishes

    async def begin(self, again: Again | None = None) -> None:
        """Let the session begin as the client wished; a program that was run before, to where one stood then."""
        session, wishes = self.need_session(), self.wishes
        if isinstance(session, LiveSession):
            stop = wishes.flag("stopOnEntry")
            wishes_of_program = {"ends": self.ends_with_client, "failures": "uncaught" in self.filters}
            session.start(stop=stop, again=again, children=children.are_wished(self), **wishes_of_program)
        else:
            session.begin()

    @property
    def ends_with_client(self) -> bool:
        """Whether the program ends with its client, unless the client says otherwise when it leaves."""
        return self.wishes.flag("endWithClient", default=self.launched is not None)

    async def leave(self, end: bool) -> None:
        """Let go of the session."""
        session, self.over = self.session, True
        if session is None:
            return
        await session.leave(end=end)
        if self.process is not None and not end:
            await self.process.wait()  # its terminal is ours, so somebody must stay

    async def move(self, line: str) -> None:
        """Carry out a command that moves; what forbids it is told at the console."""
        session = self.need_session()
        self._standing = False
        if session.at_end and needs_of(line) == "run":
            await session.let_go()
            return
        result = await session.command(line)
        if isinstance(result, Message) and result.error:
            self.event("output", category="stderr", output=f"{result.text}\n")
            self.stopped(session.debugger.stop())

    async def carry_out(self, line: str, block: tuple[str, ...] = (), frame: int | None = None) -> Result:
        """Carry out a line that a person typed."""
        session = self.need_session()
        result = await session.command(line, block, frame)
        if isinstance(result, Resumed):
            self.resumed()
        if session.waits_here and changes(line):
            self.changed()
        if isinstance(result, Ended) and result.restart:
            self.afterwards(partial(self.restart, result.arguments, result.again))
        return result

    def type(self, text: str) -> None:
        """Type into the terminal of the program.

        Raises:
            RequestError: It has none of ours.
        """
        if self.process is None:
            raise RequestError("No program was started from here", "type where it was started")
        self.process.type(text)

    async def restart(self, arguments: tuple[str, ...] | None = None, again: Again | None = None) -> None:
        """Run the program again, or go to the beginning of a recording; what was set up stays, and the log before."""
        session, how = self.need_session(), self.launched
        self.over = self._standing = False
        if how is not None:
            self.restarting = True
            try:
                await session.leave(end=True)
                self.references.clear()
                earlier = self._set_aside(session)
                self.session, self.siblings = None, SiblingProcesses(self)
                await launch(self, how if arguments is None else how.with_arguments(arguments))
            finally:
                self.restarting = False
            self.need_session().take_over(session.debugger, earlier)
        await self.begin(again)

    def _set_aside(self, session: Session) -> Path | None:
        """Let the log of a run stay while the program runs again; where it is then."""
        self.save_setup()
        if self.before is not None:
            self.before.forget()
        self.before = place = self.process or self.client_terminal
        path = session.debugger.log.path
        try:
            return path if place is not None and place.owns_log else siblings.set_aside(path)
        except OSError:
            return None

    def program_ended(self, session: Session, code: int | None) -> None:
        """The program of a session has ended; where it failed, one stays to look at what it did."""
        if self.restarting or self.over or session is not self.session:
            return
        lines = {
            number for group, known in self.breakpoints.items() if group.kind == "lines" for number in known.values()
        }
        # One that was hit stopped beneath a line that makes no node itself.
        missed = [found for found in session.debugger.breakpoints if found.number in lines and not found.hits]
        missed = missed if session.debugger.granularity == "node" else []  # by lines, it did not run
        for number, reason in unmet(session.debugger.log, missed):
            self.event("breakpoint", reason="changed", breakpoint={"id": number, "verified": False, "message": reason})
            self.event("output", category="console", output=f"Breakpoint {number}: {reason}\n")
        failed = code not in (0, None)
        stays = self.wishes.text("stopAtEnd", "failure")
        if stays == "always" or (failed and stays == "failure" and not session.failed):
            if code is not None:
                self.event("exited", exitCode=code)
            session.stand_at_end(code)
        else:
            self.ended(code)

    def stopped(self, stop: Stop) -> None:
        """One stands somewhere else."""
        if self._standing:  # moved at the console: a client that takes this for a second thread would let it run
            self.resumed()
        self.last_stop = stop
        self.references.clear()
        self._standing = True
        self.event("stopped", **stopped_event(self, stop))

    def resumed(self) -> None:
        """The program runs."""
        self._standing = False
        self.references.clear()
        self.event("continued", threadId=self.need_session().thread, allThreadsContinued=True)

    def changed(self) -> None:
        """What was told of variables may be so no longer, though one stands where one stood."""
        if self.client.get("supportsInvalidatedEvent"):

            async def tell() -> None:
                self.event("invalidated", areas=["variables"])

            self.afterwards(tell)

    def said(self, text: str, place: Sequence[Any] | None) -> None:
        """A breakpoint has said something."""
        self.event("output", category="console", output=f"{text}\n", **_source(place))

    def printed(self, text: str, place: Place | None) -> None:
        """The program has printed something."""
        if self.transcript is not None:
            self.transcript.add(text)
        self.event("output", category="stdout", output=text, **_source(place))

    def started(self, name: str, process: int, place: str) -> None:
        """The program has started another process, which waits for a debugger."""
        self.starting.append(asyncio.create_task(children.debug(self, name, process, place)))

    def ended(self, code: int | None) -> None:
        """The program has ended."""
        if self.over:
            return
        self.over = True
        if code is not None:
            self.event("exited", exitCode=code)
        self.event("terminated")


def _source(place: Sequence[Any] | None) -> dict[str, Any]:
    """Where something comes from, as an event tells it."""
    if place is None:
        return {}
    file, line = place
    return {"source": {"name": Path(file).name, "path": str(Path(file).absolute())}, "line": line}
