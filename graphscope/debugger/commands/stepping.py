"""Commands that move: forward by letting the program run, backward over what was recorded."""

from __future__ import annotations

from graphscope.debugger import motion
from graphscope.debugger.command_table import command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Resumed, Stop


@command("next", "n", group="stepping", needs="run", dap="next", key="n")
def next_(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the next node of this scope, or of one around it.

    A module or composite op runs whole, and so does a backward rule. `n 3` does it three times.
    """
    return dbg.forward(motion.NEXT, count)


@command("step", "s", group="stepping", needs="run", dap="stepIn", key="s")
def step(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the next node, wherever it is: into modules, and op by op through a backward rule."""
    return dbg.forward(motion.STEP, count)


@command("until", "unt", group="stepping", needs="run", key="u")
def until(dbg: Debugger, line: int = 0) -> Stop | Resumed:
    """Go on to a greater line of this function (so, out of a loop), or to `LINE` or behind it.

    It ends as well where another function or pass begins.
    """
    return dbg.forward(motion.until(line))


@command("return", "r", group="stepping", needs="run", dap="stepOut", key="r")
def return_(dbg: Debugger, count: int = 1) -> Stop | Resumed:
    """Go to the first node behind this module, composite op or backward rule; outside of them, behind this pass."""
    return dbg.forward(motion.RETURN, count)


@command("continue", "c", "cont", group="stepping", needs="run", dap="continue", key="c")
def continue_(dbg: Debugger) -> Stop | Resumed:
    """Go on until a breakpoint or a watch stops, or to the end."""
    return dbg.forward(motion.CONTINUE)


@command("rn", "reverse-next", "rnext", group="stepping", dap="stepBack", key="p")
def reverse_next(dbg: Debugger, count: int = 1) -> Stop:
    """Go back to the node before this one, as `next` went forward. The program stays where it is."""
    return dbg.back(motion.NEXT, count)


@command("rs", "reverse-step", "rstep", group="stepping", key="S")
def reverse_step(dbg: Debugger, count: int = 1) -> Stop:
    """Go back by one node, into modules and rules whose ops were recorded."""
    return dbg.back(motion.STEP, count)


@command("rc", "reverse-continue", "rcontinue", group="stepping", dap="reverseContinue", key="C")
def reverse_continue(dbg: Debugger) -> Stop:
    """Go back to the last place where a breakpoint or a watch stops, or to the beginning of the recording."""
    return dbg.back(motion.CONTINUE)
