"""Commands about expressions that are looked at again and again: watches, displays, and what last changed one."""

from __future__ import annotations

from collections.abc import Sequence

from graphscope.debugger import watches
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.displays import text_of
from graphscope.debugger.expressions import parse
from graphscope.debugger.results import Display, Message, Stop, TableResult
from graphscope.errors import CommandError
from graphscope.graph import Node


@command("watch", group="breakpoints")
def watch(dbg: Debugger, expression: Rest = "") -> Message | TableResult:
    """Stop wherever the value of an expression changes: `watch W.grad`. Without an argument, list the watches.

    Names are those of tensors in the log; `value` and `grad` speak of the tensor where the watch is set.
    """
    if not expression:
        return watch_table(dbg)
    made = watches.add(dbg, parse(expression))
    unknown = made.seen.text == "undefined"
    hint = 'nothing has these names up to now; a dotted one is nodes["fc1.weight"]' if unknown else ""
    return Message(f"Watch {made.number}: {made.expression.text}, now {made.seen.text}", hint=hint)


@command("unwatch", group="breakpoints")
def unwatch(dbg: Debugger, *numbers: int) -> Message:
    """Remove watches; without a number, all."""
    for number in numbers:
        if number not in dbg.watches:
            raise CommandError(f"There is no watch {number}", "watch lists them")
    chosen = numbers or tuple(dbg.watches)
    for number in chosen:
        dbg.watches.pop(number, None)
    return _removed("watch", chosen)


@command("last", group="stepping")
def last(dbg: Debugger, expression: Rest) -> Stop:
    """Go back to the event that last changed the value of an expression: `last W.grad`, `last value`."""
    parsed = parse(expression)
    node = dbg.node_at_hand
    seen = watches.watch(0, parsed, dbg.graph, node if isinstance(node, Node) else None)
    if seen.seen.text == "undefined":
        raise CommandError(f"{expression!r} has no value here", "names are those of tensors in the log")
    changed = watches.last_change(seen, dbg.graph)
    if changed is None:
        raise CommandError(f"Nothing that was recorded up to here changed {expression!r}")
    dbg.stand(changed)
    return dbg.stop(remark=f"last change of {expression}: it became {seen.seen.text}")


@command("display", group="looking")
def display(dbg: Debugger, expression: Rest = "") -> Display | TableResult:
    """Show an expression at each stop where it has changed; without an argument, list what is shown."""
    if not expression:
        return display_table(dbg)
    return dbg.displays.add(parse(expression), dbg.lookup())


@command("undisplay", group="looking")
def undisplay(dbg: Debugger, expression: Rest = "") -> Message:
    """Stop to show an expression, named by its number or text; without an argument, all."""
    chosen = [number for number, shown in dbg.displays.items() if expression in ("", str(number), shown.text)]
    if not chosen and expression:
        raise CommandError(f"{expression!r} is not displayed", "display lists what is")
    for number in chosen:
        del dbg.displays[number]
    return _removed("display", chosen)


def _removed(what: str, numbers: Sequence[int]) -> Message:
    """That watches or displays of these numbers are gone."""
    return Message(f"Removed {', '.join(f'{what} {number}' for number in numbers) or 'nothing: there is none'}")


def watch_table(dbg: Debugger) -> TableResult:
    """All watches as a table."""
    all_watches = tuple(dbg.watches.values())
    rows = tuple(
        (found.number, found.expression.text, found.hits, watches.look(found.expression, dbg.graph, found.row).text)
        for found in all_watches
    )
    note = "" if rows else "No watches; `watch EXPR` sets one"
    items = tuple(found.info for found in all_watches)
    return TableResult(("number", "expression", "hits", "value"), rows, note=note, items=items)


def display_table(dbg: Debugger) -> TableResult:
    """All displays as a table."""
    rows = tuple((number, shown.text, text_of(shown, dbg.lookup())) for number, shown in dbg.displays.items())
    note = "" if rows else "No displays; `display EXPR` adds one"
    return TableResult(("number", "expression", "value"), rows, note=note)
