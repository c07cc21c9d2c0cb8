"""Commands that move: forward by letting the program run, backward over what was recorded."""

from __future__ import annotations

from graphscope.debugger import motion
from graphscope.debugger.command_table import command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Message, Resumed, Stop, TableResult
from graphscope.debugger.step_targets import step_targets
from graphscope.errors import CommandError


@command("next", "n", group="stepping", needs="run", dap="next", key="n")
def next_(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the next node of this scope, or of one around it; or, with `granularity line`, to the next line.

    A module or composite op runs whole, and so does a backward rule. `n 3` does it three times.
    """
    return dbg.forward(dbg.way("over"), count)


@command("step", "s", group="stepping", needs="run", dap="stepIn", key="s")
def step(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the next node, wherever it is: into modules, and op by op through a backward rule.

    With `granularity line`, to the next line, wherever it is: into functions, and from `backward()` into the pass.
    """
    return dbg.forward(dbg.way("into"), count)


@command("stepi", "si", group="stepping", needs="run")
def step_instruction(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the next node, wherever it is and whatever a step is otherwise."""
    return dbg.forward(motion.STEP, count)


@command("into", group="stepping", needs="run")
def into(dbg: Debugger, call: int = 0) -> Stop | Resumed | TableResult:
    """Go into one call of the line where the program waits, and over the others; without a number, list them.

    A call of `backward()` leads into the pass. Where no line of the program is in what is called, it ends at the next.
    """
    found = step_targets(dbg)
    if not found:
        raise CommandError("No call is to come in this line", "`into` goes into one of a line that is about to run")
    if not call:
        rows = tuple((number, each.name, each.line) for number, each in enumerate(found, 1))
        return TableResult(("call", "of", "line"), rows)
    if not 1 <= call <= len(found):
        raise CommandError(f"There is no call {call} in this line", f"`into` lists {len(found)}")
    chosen = found[call - 1]
    return dbg.forward(motion.into_call((chosen.end_line, chosen.end_column), chosen.begins_pass))


@command("until", "unt", group="stepping", needs="run", key="u")
def until(dbg: Debugger, line: int = 0) -> Stop | Resumed:
    """Go on to a greater line of this function (so, out of a loop), or to `LINE` or behind it.

    It ends as well where another function or pass begins.
    """
    return dbg.forward(motion.until(line))


@command("return", "r", group="stepping", needs="run", dap="stepOut", key="r")
def return_(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the first node behind this module, composite op or backward rule; outside of them, behind this pass."""
    return dbg.forward(dbg.way("out"), count)


@command("continue", "c", "cont", group="stepping", needs="run", dap="continue", key="c")
def continue_(dbg: Debugger) -> Stop | Resumed:
    """Go on until a breakpoint or a watch stops, or to the end."""
    return dbg.forward(motion.CONTINUE)


@command("rn", "reverse-next", "rnext", group="stepping", dap="stepBack", key="p")
def reverse_next(dbg: Debugger, count: int = 1) -> Stop:
    """Go back to the node before this one, as `next` went forward. The program stays where it is."""
    return dbg.back(dbg.way("over"), count)


@command("rs", "reverse-step", "rstep", group="stepping", key="S")
def reverse_step(dbg: Debugger, count: int = 1) -> Stop:
    """Go back by one node, into modules and rules whose ops were recorded; or, with `granularity line`, by one line."""
    return dbg.back(dbg.way("into"), count)


@command("rsi", "reverse-stepi", "rstepi", group="stepping")
def reverse_step_instruction(dbg: Debugger, count: int = 1) -> Stop:
    """Go back by one node, whatever a step is otherwise."""
    return dbg.back(motion.STEP, count)


@command("rc", "reverse-continue", "rcontinue", group="stepping", dap="reverseContinue", key="C")
def reverse_continue(dbg: Debugger) -> Stop:
    """Go back to the last place where a breakpoint or a watch stops, or to the beginning of the recording."""
    return dbg.back(motion.CONTINUE)


@command("granularity", group="stepping")
def granularity(dbg: Debugger, unit: str = "") -> Message:
    """Say what a step is, or let it be a `line` or a `node`.

    By lines, one stands once at each line and pass, and a breakpoint at a line stops there, whether the line makes a
    node or not; by nodes, at each node that the line makes.
    """
    if unit:
        if unit not in motion.STEPS:
            raise CommandError(f"A step can't be a {unit!r}", " or ".join(motion.STEPS))
        dbg.granularity = unit
    return Message(f"A step is a {dbg.granularity}")
