"""tfdbg's words about the runs of a session: what was fetched and fed, how far it has come, filters, expressions."""

from __future__ import annotations

import re
from typing import Any, Final

from graphscope.debugger import nodes, tensor_filters, value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expression_names import one
from graphscope.debugger.expressions import parse
from graphscope.debugger.results import Cell, Message, TableResult, ValueResult
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Kind

_QUOTED: Final = re.compile(r"`([^`]+)`")
_LEGEND: Final = "P placeholder, H computed, O overridden, D variable written, U can't be fed; --> comes next"


@command("ev", "evaluate", group="tensors", needs="edge")
def ev(dbg: Debugger, expression: Rest) -> ValueResult:
    """As in tfdbg: evaluate Python over tensors, whose names stand in backticks: ev np.log(`softmax/out:0`).max()."""
    text = expression.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and "`" in text:
        text = text[1:-1]
    found = _QUOTED.sub(lambda name: f"nodes[{one(dbg.graph, name[1]).row}]", text)
    return value_results.result(expression, evaluate(dbg, found))


@command("filter", group="tensors")
def filter_(dbg: Debugger, name: str = "", condition: Rest = "") -> Message | TableResult:
    """Register a tensor filter for `-f`: `filter exploding abs(value).max() > 1e3`. Without arguments, list them.

    The condition is Python over value, op, name, shape and dtype; where it can't be evaluated it does not hold.
    """
    if not name:
        rows = tuple((known, getattr(test, "text", "")) for known, test in tensor_filters.FILTERS.items())
        return TableResult(("filter", "condition"), rows)
    if not condition:
        raise CommandError(f"The filter {name!r} needs a condition", "filter exploding abs(value).max() > 1e3")
    tensor_filters.FILTERS[name] = tensor_filters.Condition(parse(condition))
    return Message(f"Filter {name}: lt -f {name} lists what it holds for, run -f {name} stops there")


@command("ri", "run_info", group="tensors")
def run_info(dbg: Debugger) -> TableResult:
    """Tell of the session's run that this node belongs to: its number, what is fetched, what is fed."""
    attrs = _run(dbg)[1]
    facts: list[tuple[str, Cell]] = [("run", int(attrs["run"]))]
    facts += [("fetch", name) for name in attrs.get("fetches", ())]
    facts += [("feed", name) for name in attrs.get("feeds", ())]
    return TableResult(("what", "value"), tuple(facts))


@command("states", "lsn", group="tensors")
def states(dbg: Debugger) -> TableResult:
    """List the nodes of this run of a session in the order in which they run, with the states of tfdbg's stepper."""
    start, attrs = _run(dbg)
    reached, edited = _reached(dbg, start)
    plan: list[Any] = attrs.get("nodes", [])
    last = max((place for place, (name, *_) in enumerate(plan) if name in reached), default=-1)
    rows: list[tuple[Cell, ...]] = []
    for place, (name, op, outputs) in enumerate(plan):
        row = reached.get(name)
        fed = name in attrs.get("feeds", ()) and op not in ("placeholder", "input")
        letters = (
            ("P", op in ("placeholder", "input")),
            ("U", not outputs),
            ("H", row is not None or place < last),
            ("O", fed or (row is not None and row in edited)),
            ("D", op.startswith("assign") and row is not None),
        )
        state = "".join(letter if holds else " " for letter, holds in letters)
        rows.append(("-->" if place == last + 1 else "", state, name, op, "" if row is None else f"#{row}"))
    return TableResult(("", "state", "node", "op", "row"), tuple(rows), title=f"run {attrs['run']}", note=_LEGEND)


def _run(dbg: Debugger) -> tuple[int, dict[str, Any]]:
    """The mark of the run that `now` lies in: its row and what it says."""
    log = dbg.log
    kinds = log.column("kind", log.first, min(dbg.now + 1, log.end))
    for offset in (kinds == Kind.PRINT).nonzero()[0][::-1].tolist():
        attrs = log.attrs(log.event(log.first + offset).attrs)
        if "run" in attrs:
            return log.first + offset, attrs
    raise CommandError(
        "No run of a session is recorded here", "graphscope.static.Session makes them; lt lists all that ran"
    )


def _reached(dbg: Debugger, start: int) -> tuple[dict[str, int], set[int]]:
    """The newest row of each named node since a row, and the rows that were edited."""
    log = dbg.log
    found: dict[str, int] = {}
    for row in nodes.forward(log, start, dbg.now + 1):
        name = log.attrs(log.event(row).attrs).get("name")
        if name:
            found[str(name)] = row
    kinds = log.column("kind", start, log.end)
    marks = [log.event(start + offset) for offset in (kinds == Kind.EDIT).nonzero()[0].tolist()]
    return found, {row for mark in marks for row, _ in mark.inputs}
