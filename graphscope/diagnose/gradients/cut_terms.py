"""Terms of a loss that are added to it without a way back, so that they change its value and teach nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.explanation import Explanation, title, where
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.missing_causes import blame, cut_ahead
from graphscope.diagnose.gradients.paths import GradientPaths
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag
from graphscope.graph.series import unscaled
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node

_LEAST: Final = 3
"""So many passes must begin at a line; the first, the last and one between them are looked at."""
_MOST_LINES: Final = 16
_MOST: Final = 64
"""So many ops that put a loss together are looked at."""

_JOINING: Final = frozenset({"add", "sub"})
_LINEAR: Final = frozenset({*_JOINING, "mul", "div", "neg", "mean", "sum", "to", "squeeze", "view", "reshape"})


class CutTerm(NamedTuple):
    """A term that a loss has in all of its passes, and that was made of what it is to teach."""

    row: int
    """Where the last pass begins that was looked at."""
    first: int
    """Where the first one begins."""
    names: tuple[str, ...]
    found: Explanation


def cut_terms(graph: Graph) -> Iterator[CutTerm]:
    """The terms of losses from which no gradient comes, though the parameters they are made of learn by other terms."""
    read = training(graph.log)
    begins = read.backward_begins[read.backward_begins <= graph.now]
    sites = graph.log.pick("site", begins)
    for site in np.unique(sites)[:_MOST_LINES].tolist():
        mine = begins[sites == site]
        if len(mine) < _LEAST or not len(read.step_ends):
            continue
        chosen = mine[[0, len(mine) // 2, len(mine) - 1]].tolist()
        seen = [{each.event.site: each for each in _terms(graph, begin)} for begin in chosen]
        for place in set.intersection(*(set(each) for each in seen)):
            found = _explained(graph, chosen[0], seen[0][place])
            if found is not None:
                yield CutTerm(chosen[-1], chosen[0], (title(seen[0][place]),), found)


def _terms(graph: Graph, begin: int) -> list[Node]:
    """The numbers that are added to a loss, and that no gradient flows to; none of a loss that some are taken from.

    Who takes one away shows another value than is minimised.
    """
    read = training(graph.log)
    (root,) = read.roots(np.array([begin])).tolist()
    if root < graph.log.first:
        return []
    (end,) = read.backward_ends[read.backward_ends > begin][:1].tolist() or [graph.now]
    then = graph.at(min(end, graph.now))  # what a gradient flows to has one by then
    found, waiting = [], [then.node(unscaled(graph, root))]
    for _ in range(_MOST):
        if not waiting:
            break
        node = waiting.pop()
        name = node.op.rstrip("_")
        trained = [edge.source for edge in node.inputs if _is_trained(edge.source)]
        if name not in _LINEAR or node.shape != () or (len(trained) > 1 and name not in _JOINING):
            continue
        waiting += trained
        others = [edge.source for edge in node.inputs if edge.source not in trained]
        if name == "sub" and others:
            return []
        found += [each for each in others if name in _JOINING and each.kind == "op" and each.shape == ()]
    return found


def _is_trained(node: Node) -> bool:
    return bool(node.flags & Flag.REQUIRES_GRAD) or bool(node.backward)


def _explained(graph: Graph, begin: int, term: Node) -> Explanation | None:
    """Where the way back from a loss to a term of it is cut; None of what was not made to teach in this pass."""
    read, log = training(graph.log), graph.log
    before = read.backward_begins[read.backward_begins < begin]
    end = read.backward_ends[read.backward_ends > begin]
    if not len(end):
        return None
    leaves = set(log.pick("tensor", ancestry(log, term.row).leaves).tolist()) & read.optimized
    grown = parameter_rows(log).grown
    taught = set(grown.tensors[(grown.rows > begin) & (grown.rows < end[0])].tolist())
    if not leaves or not leaves <= taught:
        return None
    paths = GradientPaths(graph, term.row)
    cuts = paths.cuts
    (root,) = read.roots(np.array([begin])).tolist()
    if not cuts or (len(before) and cuts[0].row < before[-1]):
        return None  # a number of an earlier pass
    if root in GradientPaths(graph, root, {each.source for each in cuts}).open:
        return None  # what is cut there teaches by another way
    found = cut_ahead(Subject(graph.at(int(end[0])).node(cuts[0].source)))
    if found is None or found.step is None:
        return None
    source = title(graph.node(cuts[0].source))
    added = f"{source} is a part of what is added to the loss{where(graph.node(root))}"
    verdict = f"{added}, and teaches nothing there: {blame(paths, cuts[0])}"
    return replace(found, verdict=verdict)
