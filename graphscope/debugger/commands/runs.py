"""tfdbg's words about the runs of a session: what was fetched and fed, how far it has come, filters, expressions."""

from __future__ import annotations

import re
from typing import Final

from graphscope.debugger import expression_names, tensor_filters, value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import parse
from graphscope.debugger.results import Cell, Message, TableResult, ValueResult
from graphscope.debugger.session_runs import reached, run_at
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Kind

_QUOTED: Final = re.compile(r"`([^`]+)`")
_LEGEND: Final = "P placeholder, H computed, O overridden, D variable written, U can't be fed; --> comes next"
_FED: Final = ("placeholder", "input", "Placeholder")
_WRITES: Final = ("assign", "Assign", "Apply", "ResourceApply", "Scatter", "ResourceScatter")


@command("ev", "evaluate", "eval", group="tensors", needs="edge", to_file=True)
def ev(dbg: Debugger, expression: Rest) -> ValueResult:
    """As in tfdbg: evaluate Python over tensors, whose names stand in backticks: eval np.log(`softmax/out:0`).max()."""
    text = expression.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and "`" in text:
        text = text[1:-1]

    def meant(quoted: re.Match[str]) -> str:
        node, slot = expression_names.slot_of(dbg.graph, quoted[1])
        return f"nodes[{node.row}].output({slot})" if slot else f"nodes[{node.row}]"

    return value_results.result(expression, evaluate(dbg, _QUOTED.sub(meant, text)))


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


@command("ri", "run_info", group="tensors", to_file=True)
def run_info(dbg: Debugger) -> TableResult:
    """Tell of the session's run that this node belongs to: its number, what is fetched, what is fed."""
    run = run_at(dbg.log, dbg.now)
    facts: list[tuple[str, Cell]] = [("run", run.number)]
    facts += [("fetch", name) for name in run.fetches]
    facts += [("feed", name) for name in run.feeds]
    return TableResult(("what", "value"), tuple(facts))


@command("states", "lsn", group="tensors", to_file=True)
def states(dbg: Debugger) -> TableResult:
    """List the nodes of this run of a session in the order in which they run, with the states of tfdbg's stepper."""
    run = run_at(dbg.log, dbg.now)
    come_to = reached(dbg.graph, run, dbg.now)
    edited = _edited(dbg, run.row)
    last = max((place for place, each in enumerate(run.plan) if each.name in come_to), default=-1)
    rows: list[tuple[Cell, ...]] = []
    for place, each in enumerate(run.plan):
        node = come_to.get(each.name)
        fed = {each.name, f"{each.name}:0"} & {*run.feeds} and each.type not in _FED
        letters = (
            ("P", each.type in _FED),
            ("U", not each.feedable),
            ("H", node is not None or place < last),
            ("O", fed or (node is not None and node.row in edited)),
            ("D", each.type.startswith(_WRITES) and node is not None),
        )
        state = "".join(letter if holds else " " for letter, holds in letters)
        row = "" if node is None else f"#{node.row}"
        rows.append(("-->" if place == last + 1 else "", state, each.name, each.type, row))
    return TableResult(("", "state", "node", "op", "row"), tuple(rows), title=f"run {run.number}", note=_LEGEND)


def _edited(dbg: Debugger, start: int) -> set[int]:
    """The rows since one that were edited."""
    log = dbg.log
    kinds = log.column("kind", start, log.end)
    marks = [log.event(start + offset) for offset in (kinds == Kind.EDIT).nonzero()[0].tolist()]
    return {row for mark in marks for row, _ in mark.inputs}
