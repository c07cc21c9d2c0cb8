"""Graphs of past training steps that something keeps alive, so that memory grows with every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.gradients.carried import LINKS, Chain, chains, has_rule_run, is_freed
from graphscope.diagnose.source.holding import Holder, holder_of
from graphscope.diagnose.source.stored import storing_line
from graphscope.eventlog.names import place_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


@check(
    "graph kept",
    reads=("marks", "rows"),
    shows="run",
    sample="""
        import torch

        w = torch.tensor([1.0, 2.0], requires_grad=True)
        total = torch.zeros(())
        for step in range(6):
            loss = (w * w).sum()
            loss.backward()
            total = total + loss
        """,
    healthy="""
        import torch

        w = torch.tensor([1.0, 2.0], requires_grad=True)
        total = torch.zeros(())
        for step in range(6):
            loss = (w * w).sum()
            loss.backward()
            total = total + loss.detach()
        """,
)
def graph_kept(graph: Graph) -> Iterator[Finding]:
    """What is summed up, or stored, over the steps keeps the graphs of all, though no backward pass needs them."""
    for stored in _held(graph):
        yield _of_held(graph.node(stored.row), stored)
    chain = next(_totals(graph), None)
    if chain is None:
        return
    row = chain.users[-1]
    node = graph.node(row)
    file, line = place_of(node.site)
    verdict = (
        f"{title(node)}{where(node)} goes on from what it was in the step before, and keeps the graph of each of the "
        f"{chain.links} steps so far: memory grows, and no backward pass needs it"
    )
    evidence = {"steps": chain.links}
    yield Finding("graph_kept", "warning", row, row, file, line, (title(node),), "summed up", verdict, _CURE, evidence)


_CURE: Final = "add numbers: total += loss.item(), or loss.detach()"


def _totals(graph: Graph) -> Iterator[Chain]:
    """Chains that no backward pass goes through; of those of one run the first."""
    for chain in chains(graph, _SHORTEST):
        if any(has_rule_run(graph, user, graph.now + 1) for user in chain.users):
            continue
        if chain.links >= LINKS or _has_had_backward(graph, chain):
            yield chain
            return


_SHORTEST: Final = 2
"""So many links are enough where no backward pass is to come."""


def _has_had_backward(graph: Graph, chain: Chain) -> bool:
    """Whether all that was added has had a backward pass of its own, so that none of the sum is to come."""
    carried, stop = {*chain.users, chain.source}, graph.now + 1
    return all(
        any(is_freed(graph, source, stop) for source, _ in graph.log.inputs(user) if source not in carried)
        for user in chain.users
    )


class _Held(NamedTuple):
    """Tensors of one line that the program holds with their graphs, more with each look."""

    row: int
    """The newest of them."""
    held: int
    steps: int
    holder: Holder | None
    """Where memory was recorded: what of the program holds most of them."""


def _held(graph: Graph) -> Iterator[_Held]:
    """By the two newest looks that tell of it, what grows with the steps; of one run the line of most tensors."""
    looks = [call.facts for call in training(graph.log).calls("held") if call.row <= graph.now][-2:]
    if len(looks) < 2:
        return
    before, last = looks
    steps = last["steps"] - before["steps"]
    if last["count"] < _LEAST or last["count"] - before["count"] < steps * _SHARE:
        return
    rows = np.array([each for each in last["tensors"] if graph.log.first <= each < graph.log.end], np.int64)
    sites = graph.log.pick("site", rows)
    if len(rows):
        places, counts = np.unique(sites, return_counts=True)
        stored = [place for place in places.tolist() if storing_line(graph.node(int(rows[sites == place][-1])))]
        chosen = stored[0] if stored else int(places[np.argmax(counts)])
        if (sites == chosen).sum() * 2 >= min(last["steps"], _LEAST):
            yield _Held(
                int(rows[sites == chosen][-1]), int(last["count"]), int(last["steps"]), holder_of(graph.log, last)
            )


_LEAST: Final = 6
"""So many tensors of earlier steps must be held."""

_SHARE: Final = 0.75
"""So many more of them for each step."""


def _of_held(node: Node, found: _Held) -> Finding:
    file, line = place_of(node.site)
    stored = storing_line(node)
    kept = f", kept by line {stored}," if stored and stored != line else ""
    by = f" by {found.holder.words}" if found.holder else ""
    if found.holder is not None and found.holder.line and not stored:
        file, line = found.holder.file, found.holder.line
    verdict = (
        f"{title(node)}{where(node)}{kept} is held{by} with its graph after its step has ended, as are {found.held} "
        f"such tensors after {found.steps} steps: memory grows, and no backward pass needs them"
    )
    evidence = {"held": found.held, "steps": found.steps}
    cure = "store numbers: losses.append(loss.item()), or what is detached: outputs.append(output.detach())"
    names, row = (title(node),), node.row
    return Finding("graph_kept", "warning", row, row, file, stored or line, names, "stored", verdict, cure, evidence)
