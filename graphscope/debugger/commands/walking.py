"""Commands that walk by what belongs together: the same tensor, the other side of a node, the ends of a pass."""

from __future__ import annotations

import numpy as np

from graphscope.debugger import expression_names, nodes
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Stop
from graphscope.errors import CommandError
from graphscope.eventlog.schema import NODES, Kind
from graphscope.graph import Node
from graphscope.graph.text_search import TextSearch

_LAST = 1 << 62
_COUNTED = 1 << 18
"""The matches in a log of more rows are not counted while a person waits for the next one."""


@command("other", "o", group="stepping", key="o")
def other(dbg: Debugger) -> Stop:
    """Go to the other side of this node: from forward to its backward rule, from a rule or gradient to its forward.

    It goes ahead in what is recorded; while a program runs, not past the place where it waits.
    """
    node = dbg.need_node()
    forward = node.forward
    if forward is not None:
        dbg.stand(forward.row)
        return dbg.stop()
    whole = dbg.graph.at(dbg.last_row)
    rows = whole.backward_rows(node.event)
    rows = rows[np.isin(dbg.log.pick("kind", rows), NODES)]
    if not len(rows):
        raise CommandError(f"No gradient reaches #{node.row} {node.label} in what is recorded", f"why #{node.row}")
    dbg.stand(int(next(iter(rows[rows > dbg.now]), rows[-1])))
    return dbg.stop()


@command("same", group="stepping", key="]")
def same(dbg: Debugger) -> Stop:
    """Go to the next event on the same tensor: a version, its backward rule, a contribution, a use."""
    subject = _followed(dbg)
    return _walk(dbg, subject, min((row for row in _events(dbg, subject) if row > dbg.now), default=None), "later")


@command("rsame", group="stepping", key="[")
def reverse_same(dbg: Debugger) -> Stop:
    """Go to the event before this one on the same tensor."""
    subject = _followed(dbg)
    return _walk(dbg, subject, max((row for row in _events(dbg, subject) if row < dbg.now), default=None), "earlier")


@command("passend", group="stepping", key="}")
def pass_end(dbg: Debugger) -> Stop:
    """Go to the last node of this pass; from there, to the last of the next."""
    log = dbg.log
    for row in nodes.forward(log, dbg.now + 1, dbg.last_row + 1):
        following = next(nodes.forward(log, row + 1, dbg.last_row + 1), None)
        if following is None or _parted(dbg, row, following):
            dbg.stand(row)
            return dbg.stop(remark="the end of the pass")
    raise CommandError("This is the last node", "p goes back")


@command("passbegin", group="stepping", key="{")
def pass_begin(dbg: Debugger) -> Stop:
    """Go to the first node of this pass; from there, to the first of the one before."""
    log = dbg.log
    for row in nodes.backward(log, log.first, dbg.now):
        before = next(nodes.backward(log, log.first, row), None)
        if before is None or _parted(dbg, before, row):
            dbg.stand(row)
            return dbg.stop(remark="the beginning of the pass")
    raise CommandError("This is the first node", "n goes on")


@command("find", group="stepping")
def find(dbg: Debugger, text: Rest) -> Stop:
    """Go to the next node that holds a text, or that a SPEC selects; behind the last, round to the first.

    A text is looked for in names, ops, modules, lines of the program and shapes: `find attn`, `find cross_entropy(`,
    `find 8x12`; small letters stand for capitals as well. `find op:tanh backward` is a SPEC.
    """
    return _seek(dbg, text, 1)


@command("rfind", group="stepping")
def reverse_find(dbg: Debugger, text: Rest) -> Stop:
    """Go back to the last node that holds a text, or that a SPEC selects; ahead of the first, round to the last."""
    return _seek(dbg, text, -1)


def _seek(dbg: Debugger, text: str, direction: int) -> Stop:
    dbg.log.refresh()
    search = _search(dbg, text)
    row = search.nearest(dbg.now, direction)
    if row is None:
        raise CommandError(
            f"No node answers to {text!r}", "a text is a part of a name, op, module or line; a SPEC op:mm"
        )
    goes_round = (row - dbg.now) * direction <= 0
    dbg.stand(row)
    remark = f"match{_count(dbg, search)}{', round the end' if goes_round else ''}"
    return dbg.stop(remark=remark)


def _search(dbg: Debugger, text: str) -> TextSearch:
    """The search for a text, the same as long as the log stays as it is: one goes from match to match."""
    if dbg.search is None or dbg.search[:2] != (text, dbg.last_row):
        dbg.search = text, dbg.last_row, TextSearch(dbg.graph.at(dbg.last_row), text)
    return dbg.search[2]


def _count(dbg: Debugger, search: TextSearch) -> str:
    """Which of how many matches one stands at; of a log where that takes long, nothing."""
    if len(dbg.log) > _COUNTED:
        return ""
    rows = search.rows(dbg.log.first, dbg.last_row + 1)
    return f" {int(np.searchsorted(rows, dbg.now)) + 1} of {len(rows)}"


def _followed(dbg: Debugger) -> Node:
    """Whose tensor it is about: the current node's; of a place that `same` came to, that which it has followed."""
    node = dbg.need_node()
    if dbg.followed is not None and dbg.followed[0] == dbg.now:
        return dbg.graph.node(dbg.followed[1])
    owner = expression_names.owner_of(node)
    return node if owner is None else owner


def _events(dbg: Debugger, subject: Node) -> list[int]:
    """The rows that speak of a node's tensor, among all that are recorded."""
    whole = dbg.graph.at(dbg.last_row)
    versions = [row for row in whole.index.versions(subject.tensor, _LAST) if row <= dbg.last_row]
    rows = set(versions or [subject.row])
    for row in tuple(rows):
        each = whole.node(row)
        rows.update(found.row for found in each.backward)
        rows.update(edge.target.row for edge in each.users)
    return sorted(rows)


def _walk(dbg: Debugger, subject: Node, row: int | None, when: str) -> Stop:
    if row is None:
        raise CommandError(f"No {when} event on this tensor is recorded")
    dbg.stand(row)
    dbg.followed = row, subject.row
    return dbg.stop()


def _parted(dbg: Debugger, row: int, following: int) -> bool:
    """Whether two neighbouring nodes lie in different passes."""
    kinds = dbg.log.column("kind", row + 1, following)
    passes = dbg.log.event(row).graph_pass, dbg.log.event(following).graph_pass
    return passes[0] != passes[1] or bool(((kinds == Kind.BACKWARD_END) | (kinds == Kind.STEP)).any())
