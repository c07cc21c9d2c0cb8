"""Commands about breakpoints."""

from __future__ import annotations

from difflib import get_close_matches

from graphscope.debugger.breakpoints import Breakpoint
from graphscope.debugger.command_table import Block, Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import parse
from graphscope.debugger.results import Message, TableResult
from graphscope.errors import CommandError


@command("break", "b", group="breakpoints")
def break_(dbg: Debugger, spec: Rest = "") -> Message | TableResult:
    """Stop at nodes: `b SPEC[, CONDITION]`, or `b SPEC if CONDITION`. Without an argument, list the breakpoints.

    SPEC: `#12` (node number), `mul` (op or name), `op:mul`, `name:fc1.*`, `scope:encoder.*`, `line:model.py:31`, joined
    with `and`, and `forward` or `backward` to name the pass; as in pdb, `31` and `model.py:31` are lines. `b nan` stops
    where the first non-finite value is born, `b overwritten` at a write in place over what backward still needs,
    `b missing` where a backward pass leaves a leaf without a gradient, `b finding` where any check finds something: at
    a node, behind a backward pass, or (of the run so far) at the end of a training step or of the program;
    `b finding:nan|zero_grad` stops for these kinds, `b SPEC before` ahead of the computation.
    CONDITION: Python over value, grad, inputs, op, name, shape, dtype, node, isnan, isinf:
    `b op:tanh backward, abs(grad).max() > 1e3`.
    """
    return _add(dbg, spec, temporary=False) if spec else breakpoint_table(dbg)


@command("tbreak", group="breakpoints")
def tbreak(dbg: Debugger, spec: Rest) -> Message:
    """As `break`, but for one stop."""
    return _add(dbg, spec, temporary=True)


@command("clear", "cl", group="breakpoints")
def clear(dbg: Debugger, *numbers: int) -> Message:
    """Remove the breakpoints of these numbers; without one, all."""
    chosen = [dbg.breakpoints.get(number) for number in numbers] or list(dbg.breakpoints)
    for found in chosen:
        dbg.breakpoints.remove(found.number)
    return Message(_listed("Removed", chosen))


@command("enable", group="breakpoints")
def enable(dbg: Debugger, *numbers: int) -> Message:
    """Let breakpoints stop again; without a number, all."""
    return Message(_listed("Enabled", _switch(dbg, numbers, enabled=True)))


@command("disable", group="breakpoints")
def disable(dbg: Debugger, *numbers: int) -> Message:
    """Keep breakpoints, but let them stop nothing; without a number, all."""
    return Message(_listed("Disabled", _switch(dbg, numbers, enabled=False)))


@command("ignore", group="breakpoints")
def ignore(dbg: Debugger, number: int, count: int = 0) -> Message:
    """Pass over the next COUNT hits of a breakpoint."""
    found = dbg.breakpoints.get(number)
    found.ignore = max(count, 0)
    return Message(f"Breakpoint {number} passes over its next {found.ignore} hits")


@command("condition", group="breakpoints")
def condition(dbg: Debugger, number: int, expression: Rest = "") -> Message:
    """Let a breakpoint stop only where an expression is true; without one, always."""
    found = dbg.breakpoints.get(number)
    found.condition = parse(expression) if expression else None
    return Message(f"Breakpoint {number} stops {f'where {expression}' if expression else 'always'}")


@command("commands", group="breakpoints")
def commands(dbg: Debugger, number: int = 0, lines: Block = ()) -> Message:
    """Carry out commands whenever a breakpoint (the newest, if none is named) stops: one a line, then `end`.

    A command that moves ends the list. `silent` among them leaves the stop unannounced.
    """
    chosen = number or dbg.breakpoints.last
    if chosen is None:
        raise CommandError("There is no breakpoint to attach commands to", "b SPEC sets one")
    found = dbg.breakpoints.get(chosen)
    found.commands = tuple(line.strip() for line in lines if line.strip())
    return Message(f"Breakpoint {chosen} carries out {len(found.commands)} commands")


def breakpoint_table(dbg: Debugger) -> TableResult:
    """All breakpoints as a table."""
    rows = tuple(
        (
            found.number,
            "temporary" if found.temporary else "keep",
            "yes" if found.enabled else "no",
            found.hits,
            found.ignore,
            "; ".join(found.commands),
            str(found),
        )
        for found in dbg.breakpoints
    )
    return TableResult(
        ("number", "kind", "enabled", "hits", "ignore", "commands", "where"),
        rows,
        note="" if rows else "No breakpoints; `b SPEC` sets one",
        items=tuple(found.info for found in dbg.breakpoints),
    )


def _add(dbg: Debugger, text: str, *, temporary: bool) -> Message:
    place = dbg.place()
    made = dbg.breakpoints.add(text, temporary=temporary, file=None if place is None else place.file)
    kind = "Temporary breakpoint" if temporary else "Breakpoint"
    return Message(f"{kind} {made.number} at {made}", hint=_doubt(dbg, made) or _moments(made))


def _moments(made: Breakpoint) -> str:
    """When what shows at no node is looked for."""
    shown = {check.shows for check in made.checks}
    last = [check.name for check in made.checks if check.shows == "end"]
    found = []
    if "run" in shown:
        found.append("what shows in the run as a whole stops at ends of training steps, or when the program has ended")
    if last:
        found.append(f"{', '.join(last)} can be told only when the program has ended")
    return "; ".join(found)


def _doubt(dbg: Debugger, made: Breakpoint) -> str:
    """What to say of a single word that no op and no node bears so far: it may be misspelt."""
    word = made.spec.split(" ")[0].removeprefix("op:")
    if not word.isidentifier() or made.selector is None or dbg.graph.at(dbg.last_row).select(made.spec):
        return ""
    known = {str(entry.get("name", "")) for entry in dbg.log.table("ops") if isinstance(entry, dict)}
    close = get_close_matches(word, known - {word}, n=1)
    if close:
        return f"nothing so far matches; did you mean {close[0]!r}?"
    return "" if dbg.edge is not None else "nothing matches"


def _switch(dbg: Debugger, numbers: tuple[int, ...], *, enabled: bool) -> list[Breakpoint]:
    chosen = [dbg.breakpoints.get(number) for number in numbers] or list(dbg.breakpoints)
    for found in chosen:
        found.enabled = enabled
    return chosen


def _listed(verb: str, chosen: list[Breakpoint]) -> str:
    if not chosen:
        return "There are no breakpoints"
    return f"{verb} " + ", ".join(f"breakpoint {found.number} at {found}" for found in chosen)
