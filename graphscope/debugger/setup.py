"""What a person set up, as plain data: so breakpoints, watches and displays reach the process of the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphscope.debugger import watches
from graphscope.debugger.breakpoints import Breakpoint, Breakpoints, read
from graphscope.debugger.expressions import parse

if TYPE_CHECKING:
    from graphscope.debugger.debugger import Debugger


def setup_of(debugger: Debugger) -> dict[str, Any]:
    """All that was set up in a session."""
    return {
        "breakpoints": [_packed(found) for found in debugger.breakpoints],
        "watches": [[found.number, *found.told] for found in debugger.watches.values()],
        "displays": [[number, shown.text] for number, shown in debugger.displays.items()],
    }


def set_up(debugger: Debugger, setup: dict[str, Any]) -> None:
    """Let a session have what was set up in another, and nothing else. Hits that were counted here are kept."""
    old = debugger.breakpoints
    known = {found.number: found for found in old}
    new = Breakpoints(old.say)
    for fields in setup["breakpoints"]:
        made = _unpacked(fields)
        there = known.get(made.number)
        if there is not None and (str(there), there.when) == (str(made), made.when):
            made.hits = there.hits
        new.put(made)
    debugger.breakpoints = new  # at once: the program may be running, and looks at it without a lock
    debugger.watches = {found.number: found for found in _watches(debugger, setup["watches"])}
    debugger.displays = {number: parse(text) for number, text in setup["displays"]}


def counts_of(debugger: Debugger) -> list[list[int]]:
    """Number, hits and hits to pass over of each breakpoint; a temporary one that has stopped is gone."""
    return [[found.number, found.hits, found.ignore] for found in debugger.breakpoints]


def take_counts(debugger: Debugger, counts: list[list[int]]) -> None:
    """Take over what has become of breakpoints in the process that runs the program."""
    told = {number: (hits, ignore) for number, hits, ignore in counts}
    for found in debugger.breakpoints:
        if found.number in told:
            found.hits, found.ignore = told[found.number]
        elif found.temporary:
            debugger.breakpoints.remove(found.number)


def _packed(found: Breakpoint) -> dict[str, Any]:
    condition = found.condition.text if found.condition is not None else ""
    return {
        "number": found.number,
        "spec": found.spec,
        "condition": condition,
        "before": found.before,
        "temporary": found.temporary,
        "enabled": found.enabled,
        "ignore": found.ignore,
        "commands": list(found.commands),
        "when": found.when,
        "message": found.message,
        "graph_pass": found.graph_pass,
    }


def _unpacked(fields: dict[str, Any]) -> Breakpoint:
    spec, selector, _, _ = read(fields["spec"])
    condition = parse(fields["condition"]) if fields["condition"] else None
    rest = {key: fields[key] for key in fields if key not in ("number", "spec", "condition", "commands")}
    return Breakpoint(fields["number"], spec, selector, condition, commands=tuple(fields["commands"]), **rest)


def _watches(debugger: Debugger, told: list[list[Any]]) -> list[watches.Watch]:
    made = []
    for number, text, row, condition, when in told:
        known = debugger.watches.get(number)
        if known is None or known.told != (text, row, condition, when):
            graph = debugger.graph.at(debugger.last_row)
            test = parse(condition) if condition else None
            node = None if row is None else graph.node(row)
            known = watches.watch(number, parse(text), graph, node, test, when)
        made.append(known)
    return made
