"""A gradient that is zero: the rule that multiplied it by zeros, and why those are there."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, replaced, step_of, steps, title, where
from graphscope.diagnose.finding import Finding, Row, alike, finding
from graphscope.diagnose.gradients.flow import Hop, hops, op_of, share_of_zeros
from graphscope.diagnose.gradients.passes import pass_that_ends_with, passes_of
from graphscope.diagnose.gradients.unreached import filled
from graphscope.diagnose.gradients.zero_causes import Evidence, reason
from graphscope.diagnose.gradients.zeroing_hooks import hook_reason, zeroing_hook
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.values.activations import RELUS
from graphscope.diagnose.values.closing import TOLD, closing
from graphscope.eventlog.schema import Kind
from graphscope.graph.gradients import arrivals_of, arrived, made_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_ELEMENTS: Final = 1 << 20
"""So many elements of one gradient are looked through for zeros."""


def explain_vanished(subject: Subject) -> Explanation | None:
    """Why all of a gradient is zero; None when it is not."""
    gradient = subject.gradient
    if gradient is None or gradient.size == 0 or np.count_nonzero(gradient):
        return None
    what = f"{subject.title}.grad is zero"
    put, came = _put_in_place(subject.node), arrived(subject.node)
    if put is not None and put.stands.attrs.get("hook"):
        return _of_hook(put.stands, [subject.node], what)
    if put is not None and put.came.value is not None and np.count_nonzero(put.came.value):
        return _replaced(subject, what, put.came, where(put.stands))
    if came is not None and np.count_nonzero(came):
        return _replaced(subject, what, subject.arrivals[-1], "")
    if _summed_to_more(subject.node):
        return replaced("zero", what, [subject.node])
    for hop in hops(subject.node):
        if share_of_zeros(hop.grad) == 1:
            if _summed_to_more(hop.grad):
                return replaced("zero", what, [subject.node, *hop.trail])
        elif _made_nothing(hop):
            if subject.graph.value_row(hop.row) != hop.row:
                return replaced("zero", what, [subject.node, *hop.trail[:-1]])
            return _explained(subject, hop, what)
    found = list(hops(subject.node))
    if len(found) > 1 and not any(_made_nothing(hop) for hop in found):
        words = f"{what}: its {len(subject.node.contributions)} contributions cancel each other"
        return Explanation("zero", "cancelled", words, steps([subject.node]), "`contributions` lists them")
    roots = [hop for hop in found if not hop.grad.inputs]
    nodes = [subject.node, *(roots[0].trail if roots else ())]
    words = f"{what}: the backward pass began with a gradient of zero at {title(nodes[-1])}"
    return Explanation("zero", "began with zero", words, steps(nodes, {nodes[-1].row: "began with zero"}))


class _Put(NamedTuple):
    """What stands in the place of all that arrived at a node, put there or made in place, and the last of that."""

    stands: Node
    came: Node


def _put_in_place(node: Node) -> _Put | None:
    made, came = made_of(node), arrivals_of(node)
    if len(made) != 1 or made[0].kind not in ("op", "leaf") or not len(came.rows):
        return None
    return _Put(made[0], node.graph.node(came.last))


def _of_hook(hook: Node, nodes: list[Node], what: str) -> Explanation:
    cause, why, cure = hook_reason(hook)
    return Explanation("zero", cause, f"{what}: {why}", steps([*nodes, hook], {hook.row: "makes it zero"}), cure)


def _replaced(subject: Subject, what: str, came: Node, at: str) -> Explanation:
    verdict = f"{what}: it arrived (#{came.row}), and zeros were put in its place{at}"
    steps = (step_of(subject.node, "zeros were put in the place of its gradient"),)
    cure = "look at zero_grad(set_to_none=False), at the hooks (register_hook), and at writes to .grad"
    return Explanation("zero", "replaced", verdict, steps, cure)


def passes_with_zeros(log: Log) -> Iterator[int]:
    """The last node of each backward pass in which zeros were added to a leaf's gradient."""
    added = log.where(lambda rows: rows["kind"] == Kind.ACCUMULATE)
    zero = np.fromiter((_is_zero(log, row) for row in added.tolist()), bool, len(added))
    return passes_of(log, added[zero])


def zero_in_every_pass(graph: Graph) -> Iterator[Finding]:
    """The leaves that are meant to learn and whose gradients are zero in each of several passes, as something is flat.

    What is not picked, masked or weighted with 0 is as the program wants it.
    """
    log = graph.log
    optimized = training(log).optimized
    least = _LEAST_PASSES if optimized else 1
    zero = {
        tensor: rows
        for tensor, rows in filled(log, graph.now + 1).items()
        if len(rows) >= least and (tensor in optimized or not optimized) and _are_zero(log, rows)
    }
    ends = graph.index.marks(Kind.BACKWARD_END)
    found = []
    for rows in list(zero.values())[:_MOST]:
        first = int(rows[0])
        place = int(np.searchsorted(ends, first))
        then = graph.at(int(ends[place])) if place < len(ends) else graph
        subject = Subject(then.node(first))
        answer = explain_vanished(subject)
        if answer is not None and answer.cause not in _INTENDED:
            found.append((subject.title, answer, first, len(rows)))
    for names, answer in alike((name, answer) for name, answer, _, _ in found):
        row = min(row for name, _, row, _ in found if name in names)
        passes = min(count for name, _, _, count in found if name in names)
        yield finding("vanished", "warning", row, answer, names, {"leaves": len(names), "backward passes": passes})


_LEAST_PASSES: Final = 3
_MOST: Final = 200
"""So many passes must have brought zeros alone, and so many leaves are explained."""

_INTENDED: Final = frozenset(
    {"not picked", "masked", "dropped", "weighted with 0", "overwritten", "replaced", "at its minimum", "zeros"}
)
"""Causes that are what the program asked for, or that are not known."""


def _are_zero(log: Log, rows: np.ndarray) -> bool:
    """Whether contributions are zeros; what is not begins with the first ones, or is seen in the last."""
    ends = np.append(rows[:2], rows[-1]).tolist()
    return all(_is_zero(log, row) for row in ends) and all(_is_zero(log, row) for row in rows.tolist())


@check(
    "gradient that is zero",
    reads=("marks", "rows", "values"),
    rows=passes_with_zeros,
    shows="pass",
    explain=explain_vanished,
    of_run=zero_in_every_pass,
    sample="""
        import torch

        x = torch.tensor([-1.0, -2.0], requires_grad=True)
        loss = x.relu().sum()
        loss.backward()
        """,
    healthy="""
        import torch

        x = torch.tensor([-1.0, 2.0], requires_grad=True)
        loss = x.relu().sum()
        loss.backward()
        """,
)
def vanished(graph: Graph, row: int) -> Iterator[Finding]:
    """A backward pass has ended, and has brought a leaf nothing but zeros."""
    ended = pass_that_ends_with(graph, row)
    if ended is None:
        return
    then = graph.at(ended.end)
    zero = (rows for rows in ended.filled.values() if all(_is_zero(graph.log, each) for each in rows))
    subjects = [Subject(then.node(rows[-1])) for rows in zero]
    found = ((each.title, answer) for each in subjects if (answer := explain_vanished(each)) is not None)
    for names, answer in alike(found):
        yield finding(
            "vanished", "warning", row, answer, names, {"leaves": len(names), "backward pass": Row(ended.begin)}
        )


def _is_zero(log: Log, row: int) -> bool:
    value = log.value(row)
    if value is not None:
        return 0 < value.size <= _ELEMENTS and not value.any()
    summary = log.summary(row)
    return summary is not None and 0 < summary.count == summary.zero


def _summed_to_more(node: Node) -> bool:
    """Whether what arrived at a node does not sum up to zero: then something took its place."""
    if node.kind == "leaf":
        return False  # its gradient is that very sum
    if node.kind == "grad" and len(node.event.inputs) < 2:
        return False  # there is nothing to sum
    values = [each.value for each in node.contributions]
    known = [value for value in values if value is not None]
    if len(known) < 2 or len(known) < len(values):
        return False
    with np.errstate(all="ignore"):
        return bool(np.count_nonzero(functools.reduce(np.add, known)))


def _made_nothing(hop: Hop) -> bool:
    return share_of_zeros(hop.grad.graph.node(hop.row)) == 1


def _closed(owner: Node, cause: str) -> Node | None:
    """The closed relu that is behind zeros: the op itself, or what it is multiplied by."""
    if cause == "relu closed":
        return owner
    taken = (edge.source for edge in owner.inputs) if cause == "multiplied by zeros" else ()
    return next((each for each in taken if each.op.rstrip("_") in RELUS and share_of_zeros(each) == 1), None)


def _toward(hop: Hop, owner: Node) -> Node | None:
    """The op ahead of an op on the way from a tensor; None where it took the tensor itself."""
    before = hop.before
    while before is not None and op_of(before.owner).row == owner.row:
        before = before.before
    return None if before is None else op_of(before.owner)


def _explained(subject: Subject, hop: Hop, what: str) -> Explanation:
    hook = zeroing_hook(hop)
    if hook is not None:
        return _of_hook(hook, [subject.node, *hop.trail[:-1]], what)
    owner = op_of(hop.owner)  # its rule may have parts, each a node
    cause, why, cure = reason(Evidence(owner, _toward(hop, owner) or subject.node, hop.grad.value))
    nodes = [subject.node, *hop.trail]
    verdict = f"{what}: {owner.op}{where(owner)} lets nothing through: {why}"
    relu = _closed(owner, cause)
    closed = None if relu is None else closing(relu)
    if closed is not None and closed.set_at is not None:
        words, cure = TOLD[closed.cause]
        verdict = f"{verdict}, as {title(closed.parameter)} {words}"
        return Explanation("zero", cause, verdict, steps([closed.set_at, *nodes], {closed.set_at.row: words}), cure)
    return Explanation("zero", cause, verdict, steps(nodes, {owner.row: "zeros"}), cure)
