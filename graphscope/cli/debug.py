"""Run a program and step through its graph. It stops at its first node; `help` tells what can be said there."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from graphscope.adapters.kit.notices import say
from graphscope.cli.parser import Parser, add_as_torch, add_kept, new_log, torch_as_requested
from graphscope.cli.runner import execute, load
from graphscope.errors import UsageError


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "-b", dest="breakpoints", action="append", default=[], metavar="SPEC", help="set a breakpoint, as `break SPEC`"
    )
    parser.add_argument(
        "-c", dest="commands", action="append", default=[], metavar="CMD", help="carry out a command at the first stop"
    )
    parser.add_argument("--console", action="store_true", help="at a prompt in this terminal, without a screen")
    parser.add_argument("--gate", metavar="ADDRESS", help=argparse.SUPPRESS)  # where the adapter waits that asks for it
    parser.add_argument("--hold", metavar="FOLDER", help=argparse.SUPPRESS)  # where it waits for an adapter to come
    add_as_torch(parser)
    add_kept(parser)
    parser.add_argument("--log", type=Path, metavar="PATH", help="where to record; default: a temporary folder")
    parser.add_program()


def run(options: argparse.Namespace) -> int:
    """Debug the program; its exit status is ours."""
    wanted = options.program
    from graphscope.tui.screen_entry import is_wanted

    if options.gate is None and options.hold is None and is_wanted(console=options.console):
        return _on_screen(options)
    from graphscope.cli.child_processes import unreached

    load(wanted)  # what can't be run is refused before anything is recorded

    def program(arguments: tuple[str, ...] | None, failed: Callable[[BaseException], None]) -> int:
        again = wanted if arguments is None else replace(wanted, arguments=arguments)
        with torch_as_requested(options), unreached() as child_ran:
            status = execute(load(again), failed)
        if child_ran():
            say("breakpoints don't hold in the processes that the program started")
        return status

    if options.gate is not None or options.hold is not None:
        from graphscope.debugger import held_processes, remote, wire

        if options.hold is None:
            channel = wire.connect(options.gate)
        elif (connection := held_processes.accepted_in(options.hold)) is not None:
            channel = wire.Channel(connection)
        else:
            return program(None, lambda _: None)
        kept = {"values": options.values, "capture": options.capture}
        around = held_processes.as_wished
        return remote.debug_program(partial(program, None), channel, around=around, log=options.log, **kept)
    from graphscope.console.prompt_entry import debug_program

    return debug_program(
        program,
        log=options.log,
        place=new_log(wanted) if sys.stdin.isatty() else None,
        values=options.values,
        capture=options.capture,
        breakpoints=options.breakpoints,
        commands=options.commands,
    )


def _on_screen(options: argparse.Namespace) -> int:
    """The program runs in a process of its own, held by an adapter; the screen is the adapter's client."""
    from graphscope.dap.adapter_thread import adapter
    from graphscope.tui.screen_entry import debug_screen

    program = options.program
    if not program.is_module and not Path(program.name).exists():
        raise UsageError(f"there is no script {program.name!r}", "A module is run with -m.")
    wishes = {
        "module" if program.is_module else "program": program.name,
        "args": list(program.arguments),
        "values": options.values,
        "capture": options.capture,
        "asTorch": options.as_torch,
    }
    if options.log is not None:
        wishes["log"] = str(options.log)
    with adapter() as connection:
        return debug_screen(
            connection,
            program.name if program.is_module else Path(program.name).name,
            wishes,
            breakpoints=options.breakpoints,
            commands=options.commands,
        )
