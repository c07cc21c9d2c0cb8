"""The command line: finds the sub-command, runs it, and turns every failure into one clear message."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import graphscope

TYPE_CHECKING = False  # as in `typing`, whose import would double the time of `graphscope --version`

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType
    from typing import Final

__all__ = ["COMMANDS", "main"]

COMMANDS: Final[dict[str, str]] = {
    "debug": "run a program and step through its graph",
    "record": "run a program and keep everything that its graph does in a log",
    "open": "look around in a log, finished or growing",
    "doctor": "what is wrong with a run, where it was written, and what to do",
    "diff": "where two runs part first, and why: the line on both sides",
    "summary": "what happened, as tables: passes, ops, time, memory, first non-finite value",
    "memory": "what held a PyTorch program's memory: the peak, and what was saved for backward",
    "dap": "a debug adapter for editors",
    "mcp": "a server of the Model Context Protocol: for programs that debug programs",
    "export": "draw a log, or write it in another form",
    "ranks": "compare the ranks of a run: which parts from the others, or is waited for",
    "runs": "put the runs of a sweep side by side: what differs, and how each went",
    "query": "ask SQL of logs, with DuckDB",
    "pack": "make one file of a log, to send",
}
"""The sub-commands; each is the module of the same name in this package."""

OK: Final = 0
USAGE: Final = 2


class Interrupted(int):
    """The status of what Ctrl-C ended, as shells show it: we end by the signal then, too."""


INTERRUPTED: Final = Interrupted(130)

HELP: Final = "`graphscope --help` lists the commands, `graphscope COMMAND --help` the options of one."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `graphscope ARGUMENTS...`.

    Returns:
        The exit status: 0, 1 (found something; or that of the program that was run), 2 (could not do it).

    Raises:
        KeyboardInterrupt: Ctrl-C ended it, or the program that was run.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words == ["--version"]:  # ahead of all imports: it should cost no more than Python itself
        print(f"graphscope {graphscope.__version__}")
        return OK
    status = _guarded(lambda: _dispatch(words))
    if isinstance(status, Interrupted):
        _show_no_more()
        raise KeyboardInterrupt  # when all else is done, Python ends by the signal
    return status


def _dispatch(words: list[str]) -> int:
    from graphscope.errors import UsageError

    if not words or words[0] in ("-h", "--help", "help"):
        print(_overview())
        return OK if words else USAGE
    name, *rest = words
    if name not in COMMANDS:
        from difflib import get_close_matches

        close = get_close_matches(name, COMMANDS, n=1)
        raise UsageError(f"there is no command {name!r}", f"Did you mean `graphscope {close[0]}`?" if close else HELP)
    from graphscope.eventlog.garbage import unsearched

    with unsearched():
        from graphscope.cli.parser import Parser

        command = import_module(f"graphscope.cli.{name}")
        parser = Parser(name, command.__doc__ or "")
        command.configure(parser)
    status: int = command.run(parser.parse(rest))
    return status


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"    {name:{width}}  {summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            "graphscope: a debugger for computation graphs.",
            "",
            "usage: graphscope COMMAND [OPTIONS] ...",
            "",
            *lines,
            "",
            "`graphscope COMMAND --help` tells the options of one; `graphscope --version` the version.",
        ]
    )


def _guarded(work: Callable[[], int]) -> int:
    """Run `work`; a failure becomes one message and an exit status, never a traceback of ours."""
    from graphscope.errors import GraphscopeError

    try:
        status = work()
        if sys.stdout is not None:  # it was closed before we began
            sys.stdout.flush()
    except GraphscopeError as error:
        return _fail(error.message, error.hint)
    except KeyboardInterrupt:
        _show_no_more()  # nor a second one that comes on the way out
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more: what is still in the buffer must not raise again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(f"{where}{error.strerror or error}", None)
    except Exception as error:
        if sys.flags.dev_mode:
            raise
        what = f"{type(error).__name__}: {error}"
        return _fail(f"internal error: {what}", "This is a bug; `python -X dev -m graphscope ...` shows where.")
    return status


def _show_no_more() -> None:
    """Let the Ctrl-C that ends us be no traceback: what there is to say was said. Other exceptions are shown."""
    before = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            before(kind, error, trace)

    sys.excepthook = show


def _fail(message: str, hint: str | None) -> int:
    # Names in a message may come from a log or a program: they must not steer the terminal.
    lines = [f"graphscope: {message}", *([f"hint: {hint}"] if hint else [])]
    for line in "\n".join(lines).splitlines():
        print("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line), file=sys.stderr)
    return USAGE
