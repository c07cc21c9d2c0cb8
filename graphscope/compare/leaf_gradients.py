"""What backward passes leave behind: the gradients of leaves, whole. In how many parts one came does not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.compare.alignment import NONE
from graphscope.compare.anchors import LOOSE, TIGHT
from graphscope.compare.culprits import CUTS
from graphscope.compare.judgement import AGREES, DIFFERS
from graphscope.compare.layouts import in_one_order
from graphscope.compare.operation import root_mean_square
from graphscope.compare.rounding import Allowed, agree, roundoff, statistics_agree
from graphscope.diagnose.values.origins import JOINS, MOVES
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.alignment import Run
    from graphscope.compare.flow import Flow
    from graphscope.compare.judgement import Judgement


def judge_leaf_gradients(judgement: Judgement) -> tuple[list[int], list[int]]:
    """Judge what was added to the gradients of leaves by the sums; the vertices of both sides that were compared."""
    a, b = judgement.runs
    arrived = a.flow.gathered, b.flow.gathered
    compared: tuple[list[int], list[int]] = ([], [])
    for leaf, mate in enumerate(a.mates.tolist()):
        vertices = arrived[0].get(leaf, []), arrived[1].get(mate, []) if mate != NONE else []
        if mate == NONE or not any(vertices):
            continue
        if not all(vertices) and (_is_replaced(a.flow, leaf) or _is_replaced(b.flow, mate)):
            continue
        state = _state(judgement, *vertices)
        if state == DIFFERS and (_is_one_of_many(judgement, leaf, mate) or _is_made_anew(judgement, (leaf, mate))):
            continue
        for which in range(2):
            compared[which].extend(vertices[which])
            judgement.states[which][vertices[which]] = state
    return compared


def _is_replaced(flow: Flow, vertex: int) -> bool:
    """Whether others gather the gradients in its place: those that were made of it, in parts or in another shape."""
    if not flow.reaching[vertex] or _is_made(flow, vertex):
        return True
    border = [vertex]
    while border:
        for user in flow.users[border.pop()]:
            if flow.ops[user].rstrip("_") in (*MOVES, "copy"):
                if user in flow.gathered:
                    return True
                border.append(user)
    return False


def _is_made(flow: Flow, vertex: int) -> bool:
    """Whether it is made of what gathers gradients, as a part of it or as the whole of its parts."""
    border = [vertex]
    while border:
        each = border.pop()
        if flow.ops[each] in (MOVES | JOINS) - CUTS:
            if any(source in flow.gathered for source in flow.inputs[each]):
                return True
            border += flow.inputs[each]
    return False


def _is_made_anew(judgement: Judgement, leaves: tuple[int, int]) -> bool:
    """Whether one run makes the numbers of a leaf anew of that leaf and others, as of a direction and a length: the
    gradient of the leaf of the other run is that of what is made.
    """
    for which, run in enumerate(judgement.runs):
        leaf, flow, other = leaves[which], run.flow, judgement.runs[1 - which]
        gathered = other.flow.gathered.get(leaves[1 - which], [])
        for user in flow.users[leaf]:
            if flow.is_backward[user] or flow.counts[user] != flow.counts[leaf] or len(flow.inputs[user]) < 2:
                continue
            is_same = (
                np.abs(run.prints.features[user] - run.prints.features[leaf]).max() <= TIGHT * run.prints.scales[leaf]
            )
            arriving = [each for each in flow.gradients.get(user, []) if flow.kinds[each] == Kind.GRAD]
            pair = (arriving, gathered) if which == 0 else (gathered, arriving)
            if is_same and arriving and _state(judgement, *pair) == AGREES:
                return True
    return False


def _is_one_of_many(judgement: Judgement, leaf: int, mate: int) -> bool:
    """Whether leaves of other names hold the same numbers, as biases of zeros do, and any may belong to any: nothing
    is made of both that belongs together.
    """
    a, b = judgement.runs
    if a.flow.node(leaf).name == b.flow.node(mate).name or not (_equals(a, leaf) or _equals(b, mate)):
        return False
    mine, its = _made_of(a.flow, leaf), _made_of(b.flow, mate)
    return not any(a.counterpart(each) in its for each in mine) and not any(b.counterpart(each) in mine for each in its)


def _made_of(flow: Flow, leaf: int) -> set[int]:
    """What is computed of a leaf and of other layouts of it, and the other layouts of that."""
    found: set[int] = set()
    border = [(leaf, False)]
    while border:
        vertex, is_computed = border.pop()
        for user in flow.users[vertex]:
            moves = flow.ops[user].rstrip("_") in MOVES
            if user not in found and not flow.is_backward[user] and (moves or not is_computed):
                found.add(user)
                border.append((user, is_computed or not moves))
    return found


def _equals(run: Run, vertex: int) -> bool:
    """Whether another that gathers a gradient holds the same numbers."""
    others = np.array([each for each in run.flow.gathered if each != vertex], np.int64)
    same = run.flow.counts[others] == run.flow.counts[vertex]
    same &= (run.prints.features[others] == run.prints.features[vertex]).all(1)
    return bool(same.any())


def _state(judgement: Judgement, mine: list[int], its: list[int]) -> int:
    if not mine or not its:
        return DIFFERS
    a, b = judgement.runs
    one_by_one = len(mine) == len(its) == 1
    if one_by_one and judgement.states[0][mine[0]] == AGREES and a.mates[mine[0]] == its[0]:
        return AGREES
    noise = max(_noise(run.flow, vertices) for run, vertices in ((a, mine), (b, its)))
    within = Allowed(noise, 64 * roundoff(a.flow.dtype(mine[0]), b.flow.dtype(its[0])))
    totals = [_total(run.flow, vertices) for run, vertices in ((a, mine), (b, its))]
    if totals[0] is None or totals[1] is None:
        told = one_by_one and a.prints.known[mine[0]] and b.prints.known[its[0]]
        is_another = told and statistics_agree(a.prints.summary(mine[0]), b.prints.summary(its[0]), within) is False
        return DIFFERS if is_another else AGREES
    ordered = in_one_order(totals[0], totals[1], LOOSE)
    if ordered is None:
        ordered = (totals[0], totals[1]) if totals[0].shape == totals[1].shape else None
    if ordered is None:
        return DIFFERS
    return AGREES if agree(*ordered, within) else DIFFERS


def _total(flow: Flow, vertices: list[int]) -> np.ndarray | None:
    total: np.ndarray | None = None
    for vertex in vertices:
        value = flow.value(vertex)
        if value is None:
            return None
        total = value.astype(np.float64) if total is None else total + value
    return total


def _noise(flow: Flow, vertices: list[int]) -> float:
    """What rounding leaves of sums whose summands cancel: the summands are products of a cotangent and an input."""
    found = 0.0
    for vertex in vertices:
        for source in flow.inputs[vertex]:
            owner = flow.vertex(int(flow.forward[source]))
            cotangent = flow.value(source)
            if cotangent is None or owner is None:
                continue
            factor = max([1.0, *(_size(flow.value(each)) for each in flow.inputs[owner])])
            summands = max(cotangent.size // max(min(flow.shape(vertex), default=1), 1), 1)
            found += 8 * roundoff(flow.dtype(vertex)) * summands * _size(cotangent) * factor
    return found


def _size(value: np.ndarray | None) -> float:
    """The root of the mean square of what is floating; 0 of anything else."""
    return root_mean_square(value) if value is not None and value.dtype.kind == "f" else 0.0
