"""Graphs of past training steps that something keeps alive, so that memory grows with every step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.carried import Chain, chains, has_rule_run
from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph


def growing_totals(log: Log) -> Iterator[int]:
    """The rows that add to what has grown over the steps."""
    yield from sorted(chain.users[-1] for chain in _totals(log.graph))


@check(
    "graph kept",
    reads=("marks", "rows"),
    rows=growing_totals,
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
def graph_kept(graph: Graph, row: int) -> Iterator[Finding]:
    """What is summed up over the steps keeps the graph of each of them, though no backward pass goes through it."""
    chain = next((each for each in _totals(graph) if each.users[-1] == row), None)
    if chain is None:
        return
    node = graph.node(row)
    site = node.site
    file, line = ("", 0) if site is None else (site.file, site.line)
    verdict = (
        f"{title(node)}{where(node)} goes on from what it was in the step before, and keeps the graph of each of the "
        f"{chain.links} steps so far: memory grows, and no backward pass needs it"
    )
    evidence = {"steps": chain.links}
    yield Finding("graph_kept", "warning", row, row, file, line, (title(node),), "summed up", verdict, _CURE, evidence)


_CURE: Final = "add numbers: total += loss.item(), or loss.detach()"


def _totals(graph: Graph) -> Iterator[Chain]:
    """Chains that no backward pass goes through; of those of one run the first."""
    for chain in chains(graph):
        if not any(has_rule_run(graph, user, graph.now + 1) for user in chain.users):
            yield chain
            return
