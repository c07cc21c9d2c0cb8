"""Commands about positions in time: where am I, go there, remember this, begin again."""

from __future__ import annotations

import re
import shlex
from typing import Annotated

import numpy as np

from graphscope.debugger import expression_names, motion, nodes, tensor_filters
from graphscope.debugger.command_table import Flag, Rest, command
from graphscope.debugger.commands.training_steps import step_words, to_step
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.failure import failure_at
from graphscope.debugger.results import Ended, Message, Resumed, Stop, TableResult
from graphscope.debugger.session_runs import has_runs
from graphscope.errors import CommandError
from graphscope.eventlog.schema import Kind
from graphscope.graph.step_numbers import step_numbers

_NUMBER = re.compile(r"#?(\d+)")


@command("goto", group="stepping", needs="run")
def goto(dbg: Debugger, where: Rest) -> Stop | Resumed:
    """Go to a row (`goto 12`), a training step, a checkpoint, or the newest node of a SPEC, either way in time.

    Steps bear the numbers of the program's own loops: `goto step 30`, `goto epoch 2 batch 3`.
    """
    dbg.log.refresh()
    if wanted := step_words(where):
        return to_step(dbg, wanted)
    number = _NUMBER.fullmatch(where)
    row = int(number[1]) if number else dbg.checkpoints.get(where)
    if row is None:
        row = expression_names.one(dbg.graph.at(dbg.last_row), where).row
    if row < dbg.log.first:
        raise CommandError(f"Row #{row} is not kept", f"the rows that are kept begin at #{dbg.log.first}")
    if row > dbg.last_row:
        if dbg.edge is not None:
            return dbg.forward(motion.goto(row))
        raise CommandError(f"There is no row #{row}", f"the last one is #{dbg.last_row}")
    return _stand_by(dbg, row)


def _stand_by(dbg: Debugger, row: int) -> Stop:
    """Stand at a node; of a mark at the nearest, and say so."""
    node = nodes.nearest(dbg.log, row)
    if node is None:
        raise CommandError(f"There is no node at or before row #{row}")
    dbg.stand(node)
    if node == row:
        return dbg.stop()
    event = dbg.log.event(row)
    if event.kind == Kind.EXCEPTION:
        return dbg.stop("raised", raised=failure_at(dbg.graph.at(dbg.last_row), row).raised)
    kind = event.kind.name.lower().replace("_", " ")
    is_of_node = node in [source for source, _ in event.inputs]
    return dbg.stop(
        remark=f"#{row} ({kind}) is of this node" if is_of_node else f"the last node before #{row} ({kind})"
    )


@command("when", group="looking")
def when(dbg: Debugger) -> TableResult:
    """Say where in time this is: the row, the step, the time since the recording began, the live edge."""
    log = dbg.log
    rows: list[tuple[str, str | int]] = [("row", dbg.now)]
    if log.first <= dbg.now < log.end:
        kinds = log.column("kind", log.first, dbg.now + 1)
        event, first = log.event(dbg.now), log.event(log.first)
        rows += [
            ("training step", step_numbers(log).title(dbg.now) or "none"),
            ("backward passes begun", int(np.count_nonzero(kinds == Kind.BACKWARD_BEGIN))),
            ("seconds since the first row", f"{(event.time - first.time) / 1e9:.6f}"),
            ("thread", str(log.thread(event.thread).get("name", event.thread))),
        ]
    rows.append(("rows kept", f"#{log.first} to #{log.end - 1}"))
    if dbg.edge is not None:
        rows.append(("the program waits at", f"#{dbg.edge.row}{' (here)' if dbg.at_edge else ''}"))
    return TableResult(("what", "value"), tuple(rows))


@command("checkpoint", group="stepping")
def checkpoint(dbg: Debugger, name: str = "") -> Message:
    """Remember this position under a name (c1, c2, ... if none is given); `goto NAME` comes back to it."""
    number = 1
    while not name:
        if f"c{number}" not in dbg.checkpoints:
            name = f"c{number}"
        number += 1
    dbg.checkpoints[name] = dbg.now
    return Message(f"Checkpoint {name} is #{dbg.now}")


@command("restart", group="stepping")
def restart(dbg: Debugger, arguments: Rest = "") -> Ended | Stop:
    """Run the program again from its beginning, with other arguments if some are given. Breakpoints stay."""
    return _again(dbg, arguments)


@command("run", group="stepping", needs="run")
def run(
    dbg: Debugger,
    arguments: Rest = "",
    *,
    filter: Annotated[str, Flag("-f", "--till_filter_pass")] = "",
    times: Annotated[int, Flag("-t")] = 0,
    no_debug: Annotated[bool, Flag("-n")] = False,
    node_name_filter: Annotated[str, Flag("-nn")] = "",
    op_type_filter: Annotated[str, Flag("-ot")] = "",
    excluded: Annotated[str, Flag("-fenn", "--filter_exclude_node_names")] = "",
) -> Ended | Stop | Resumed:
    """Without flags, as `restart`, or on to the next run of a session that is debugged. With flags, as in tfdbg.

    `-f has_inf_or_nan` stops at the first tensor that holds one, `-t N` behind N training steps, `-n` at the end.
    `-nn` and `-ot` take regular expressions and stop at the first node whose name or op begins so; names that `-fenn`
    matches are left out of a filter.
    A filter that raises stops the program there, and it is told what it raised.
    """
    if no_debug:
        for found in dbg.breakpoints:
            found.enabled = False
        return dbg.forward(motion.CONTINUE)
    if times:
        return dbg.forward(motion.steps(times))
    if not (filter or node_name_filter or op_type_filter or excluded):
        goes_on = not (dbg.can_restart or arguments or dbg.edge is None) and has_runs(dbg.log, dbg.now)
        return dbg.forward(motion.steps(1)) if goes_on else _again(dbg, arguments)
    wanted = tensor_filters.wanted(filter, node_name_filter, op_type_filter, excluded)
    asked = (("-f", filter), ("-nn", node_name_filter), ("-ot", op_type_filter), ("-fenn", excluded))
    return dbg.forward(motion.matching(wanted, " ".join(f"{flag} {text}" for flag, text in asked if text)))


def _again(dbg: Debugger, arguments: str) -> Ended | Stop:
    if dbg.can_restart:
        return Ended(restart=True, arguments=tuple(shlex.split(arguments)) if arguments else None)
    if dbg.edge is not None:
        raise CommandError(
            "This program can't be restarted from here: it was not started by graphscope",
            "leave with q and run it again, or start it with `graphscope debug`",
        )
    row = nodes.entry(dbg.log)
    if row is None:
        raise CommandError("The recording holds no nodes")
    dbg.stand(row)
    return dbg.stop("entry", remark="the beginning of the recording")
