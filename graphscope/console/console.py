"""The prompt: reads commands, has the debugger carry them out, and prints what it answers."""

from __future__ import annotations

import code
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TextIO

from graphscope import exporting as exporting  # its command enters the table
from graphscope.console.line_reader import Complete, Reader
from graphscope.console.terminal_output import Output
from graphscope.debugger import interpreter
from graphscope.debugger.command_line import expand
from graphscope.debugger.commands.python import namespace
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.result_lines import Line, lines_of
from graphscope.debugger.results import Ended, Interact, Message, Result, Resumed, Stop
from graphscope.debugger.terminal_text import escape
from graphscope.errors import GraphscopeError

PROMPT: Final = "(gs) "
PAST_PROMPT: Final = "(gs PAST #{now} of #{edge}) "
BLOCK_PROMPT: Final = "(com) "
RC: Final = ".graphscoperc"

_LEAVING: Final = "The program has not ended: y stops it, g lets it go on, Enter stays: "


class Console:
    """The front end of one session, over all its stops.

    Args:
        commands: Carried out before anything is read.
        stdin: Where commands are read from.
        stdout: Where everything is written to.
        width: Columns of the terminal; None asks it.
        folders: Where `.graphscoperc` is looked for, in this order; the first also holds the history.
    """

    def __init__(
        self,
        commands: Sequence[str] = (),
        *,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        width: int | None = None,
        folders: Sequence[Path] | None = None,
    ) -> None:
        self._stdin = stdin or sys.stdin
        self._output = Output(stdout or sys.stdout, width)
        self._folders = _default_folders() if folders is None else list(folders)
        home = self._folders[0] if self._folders else None
        self._reader = Reader(self._stdin, stdout or sys.stdout, commands, home)
        self._ready: deque[str] = deque()
        self._attached: deque[str] = deque()
        self._repeat = ""
        self._begun = False

    def __call__(self, debugger: Debugger, stop: Stop) -> Ended | None:
        """Talk to the person from a stop on, until the program is to run on (None) or something else is wanted."""
        try:
            return self._talk(debugger, stop)
        except BrokenPipeError:
            self._output.abandon()
            return Ended()

    def _talk(self, debugger: Debugger, stop: Stop) -> Ended | None:
        self.show(stop)
        if not self._begun:
            self._begun = True
            self._attached.extend(self._rc_lines())
        while True:
            try:
                line = self._next(debugger)
            except EOFError:
                self._output.write([Line("")])
                return Ended()
            except KeyboardInterrupt:
                self._interrupted()
                continue
            try:
                result = self._carry_out(debugger, line)
            except KeyboardInterrupt:
                self._interrupted()
                continue
            if isinstance(result, Resumed):
                self._attached.clear()
                return None
            if isinstance(result, Ended):
                left = self._left(debugger, result)
                if left is not None:
                    return left
                continue
            self.show(result)
            if isinstance(result, Interact):
                self._interact(debugger)

    def _left(self, debugger: Debugger, wanted: Ended) -> Ended | None:
        """How the person leaves: who ends a program that waits is asked, where somebody can be; None stays."""
        if wanted.restart or debugger.edge is None or not self._stdin.isatty():
            return wanted
        try:
            answer = self._reader.read(_LEAVING, lambda line, word: []).strip().lower()
        except EOFError:
            return wanted
        except KeyboardInterrupt:
            self._interrupted()
            return None
        return wanted if answer in ("y", "yes") else Ended(goes_on=True) if answer in ("g", "go") else None

    def show(self, result: Result) -> None:
        """Print a result; what is attached to a breakpoint that was reached is carried out next."""
        if isinstance(result, Stop):
            self._attached = deque(result.commands)
        self._output.write(lines_of(result, self._output.width))

    def say(self, text: str) -> None:
        """Print a line of our own."""
        self._output.write([Line(escape(text))])

    def _next(self, debugger: Debugger) -> str:
        """The next command: attached to a breakpoint, left over from the last line, or read."""
        while True:
            waiting = self._attached or self._ready
            if not waiting:
                complete = partial(interpreter.complete, debugger)
                typed = self._reader.read(_prompt(debugger), complete)
                self._repeat = typed if typed.strip() else self._repeat
                waiting = self._ready
                waiting.append(self._repeat)
            try:
                first, *rest = expand(waiting.popleft(), debugger.aliases)
            except GraphscopeError as error:
                self.show(Message(error.message, error.hint or "", error=True))
                continue
            waiting.extendleft(reversed(rest))
            if first:
                return first

    def _line(self, prompt: str, complete: Complete) -> str:
        """A line that is attached to a breakpoint, else one that is read."""
        return self._attached.popleft() if self._attached else self._reader.read(prompt, complete)

    def _carry_out(self, debugger: Debugger, line: str) -> Result:
        block = self._read_block() if interpreter.wants_block(line) else ()
        return interpreter.answer(debugger, line, block)

    def _read_block(self) -> list[str]:
        lines: list[str] = []
        while True:
            try:
                line = self._line(BLOCK_PROMPT, lambda line, word: []).strip()
            except EOFError:
                return lines
            if line == "end":
                return lines
            lines.append(line)

    def _rc_lines(self) -> Iterator[str]:
        """The commands of the `.graphscoperc` files."""
        for folder in self._folders:
            try:
                text = (folder / RC).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            yield from (line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))

    def _interrupted(self) -> None:
        self._ready.clear()
        self._attached.clear()
        self._reader.drop_queued()
        self._output.write([Line("")])

    def _interact(self, debugger: Debugger) -> None:
        console = code.InteractiveConsole(namespace(debugger), filename="<interact>")
        if not self._stdin.isatty() or self._stdin is not sys.stdin:
            console.raw_input = lambda prompt="": self._reader.read(prompt, lambda line, word: [])  # type: ignore[method-assign]
        try:
            console.interact("(an end of file, or exit(), comes back to the debugger)", "")
        except SystemExit:
            return


def _prompt(debugger: Debugger) -> str:
    """The prompt, which tells where one stands in the past of a program that waits."""
    edge = debugger.edge
    return PROMPT if edge is None or debugger.at_edge else PAST_PROMPT.format(now=debugger.now, edge=edge.row)


def _default_folders() -> list[Path]:
    """Home, then the current folder."""
    try:
        home = [Path.home()]
    except RuntimeError:
        home = []
    return [*home, *([Path.cwd()] if Path.cwd() not in home else [])]
