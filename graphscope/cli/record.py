"""Run a program and keep everything that its graph does in a log.

With `--json` what the program prints goes to stderr, and the answer alone to stdout.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from graphscope.cli.json_output import add_json, print_json
from graphscope.cli.parser import Parser, add_as_torch, add_kept, new_log, size, torch_as_requested
from graphscope.cli.runner import execute, load
from graphscope.errors import LogError
from graphscope.eventlog.moments import MOMENTS, USUAL


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    # torchrun takes --log for its own, also behind the program that it starts, so there is a short one
    parser.add_argument("-o", "--log", type=Path, metavar="PATH", help="default: the program's name + .gscope")
    add_kept(parser)
    add_as_torch(parser)
    parser.add_argument(
        "--memory", action="store_true", help="of a PyTorch program, tell what holds memory, for `graphscope memory`"
    )
    parser.add_argument(
        "--passes", action="store_true", help="tell what each pass of a compiler does, for `graphscope export --passes`"
    )
    parser.add_argument("--every", type=_steps, default=1, metavar="N", help="record one training step of N")
    parser.add_argument("--keep-last", type=_steps, metavar="N", help="keep the newest N recorded training steps only")
    parser.add_argument(
        "--on", metavar="MOMENTS", help="with --every or --keep-last, what makes the recording hold the "
        f"steps that it keeps, and record the next ones in full: some of {', '.join(MOMENTS)}, joined by | "
        f"(default: {USUAL}); a finding is the doctor's, who judges in a process beside the program",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=size, default=1 << 30, metavar="BYTES", help="bytes of values that the log may hold; with "
        "--every or --keep-last of rows and values together, such as 512M (default: 1G); a value takes a 128th at most",
    )  # fmt: skip
    add_json(parser)
    parser.add_program()


def _steps(text: str) -> int:
    """A number of training steps."""
    steps = int(text) if text.isdecimal() else 0
    if steps < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps: give 1 or more")
    return steps


def run(options: argparse.Namespace) -> int:
    """Run the program; its exit status is ours."""
    from graphscope.eventlog import garbage, siblings, user_signal
    from graphscope.eventlog.interruptions import forgiving
    from graphscope.eventlog.notices import say
    from graphscope.eventlog.record import exception, record

    user_signal.guard()
    loaded = load(options.program)
    path = options.log or new_log(options.program)
    process = os.getpid()
    log, status = None, None
    try:
        with ExitStack() as around:
            try:
                recording = record(
                    path,
                    values=options.values,
                    every=options.every,
                    keep_last=options.keep_last,
                    on=options.on,
                    budget=options.budget,
                    capture=options.capture,
                    memory=options.memory,
                    passes=options.passes,
                )
                with garbage.unsearched():
                    log = around.enter_context(recording)
                siblings.lead(log.path)
            except LogError as error:
                if not isinstance(error.__cause__, OSError):  # a slip of the person's, to be mended first
                    raise
                hint = f" ({error.hint})" if error.hint else ""
                say(f"{error.message}{hint}; the program runs unrecorded")
            around.enter_context(torch_as_requested(options))
            if options.json:
                around.enter_context(_printed_to_stderr())
            garbage.leave_out()
            status = execute(loaded, failed=exception)
        if log is not None and os.getpid() == process:  # of a child that the program forked its parent tells
            log.refresh()
            where = path.with_name(log.path.name)  # as it was given, but for the rank
            with forgiving(
                OSError, ValueError, AttributeError
            ):  # the program's words come first; it may have closed it
                sys.stdout.flush()
            if not options.json and not log.path.exists():
                say(f"{where} is gone: somebody has removed it")
            elif not options.json:
                events = "1 event is" if len(log) == 1 else f"{len(log):,} events are"
                say(f"{events} in {where} (look: graphscope open {shlex.quote(str(where))})")
        if options.json and os.getpid() == process:
            told = (None, 0) if log is None else (path.with_name(log.path.name), len(log))
            print_json({"log": told[0], "events": told[1], "status": status})
    except Exception as error:  # a program may have put others in the place of functions that we call
        if status is None:
            raise
        say(f"the program has ended, and its recording {path} was not closed: {type(error).__name__}: {error}")
    return status


@contextmanager
def _printed_to_stderr() -> Iterator[None]:
    """Let what is printed, by this process or those that it starts, go to stderr for a while."""
    from graphscope.eventlog.interruptions import forgiving

    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        with forgiving(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
