"""A state that is carried from one training step to the next with the graph that it was computed by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Severity
from graphscope.diagnose.gradients.carried import chains, has_rule_run, taken_over
from graphscope.diagnose.gradients.failed_passes import TWICE, WRITTEN, failed_passes
from graphscope.diagnose.source.carrying import carrying_line
from graphscope.diagnose.source.places import only_dropped_call
from graphscope.eventlog.names import place_of
from graphscope.graph.callers import callers
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.graph import Graph


class _Carried(NamedTuple):
    user: int
    source: int
    links: int
    has_failed: bool


@check(
    "state not detached",
    reads=("marks", "rows"),
    shows="run",
    sample="""
        import torch

        w = torch.tensor([[0.5, 0.1], [0.2, 0.4]], requires_grad=True)
        state = torch.ones(1, 2)
        for step in range(6):
            state = torch.tanh(state @ w)
            loss = (state * state).sum()
            loss.backward(retain_graph=True)
        """,
    healthy="""
        import torch

        w = torch.tensor([[0.5, 0.1], [0.2, 0.4]], requires_grad=True)
        state = torch.ones(1, 2)
        for step in range(6):
            state = torch.tanh(state.detach() @ w)
            loss = (state * state).sum()
            loss.backward()
        """,
)
def state_not_detached(graph: Graph) -> Iterator[Finding]:
    """A step goes on from a state of the step before with its graph, so that backward runs through old steps again.

    Either that fails, as those graphs are freed, or it takes longer with every step.
    """
    found = next(_states(graph), None)
    if found is None:
        return
    row = found.user
    source, user = graph.node(found.source), graph.node(row)
    name = title(source)
    took = f"{name}{where(source)} goes into {user.op}{where(user)} of the next step together with its graph"
    came = (
        "and backward fails, as it comes to a graph that the pass before has freed"
        if found.has_failed
        else f"and backward runs through the graphs of all steps before: {found.links} by now"
    )
    own = place_of(source.site or user.site)
    file, line = only_dropped_call(graph.log, "detach") or _carrying(graph, row) or own
    severity: Severity = "error" if found.has_failed else "warning"
    evidence = {"steps": found.links}
    verdict, cause = f"{took}, {came}", "carried over"
    yield Finding(
        "state_not_detached", severity, row, found.source, file, line, (name,), cause, verdict, _CURE, evidence
    )


_CURE: Final = "detach it where a step ends: state = state.detach(), of a tuple each part"


def _carrying(graph: Graph, user: int) -> tuple[str, int] | None:
    """The line that carries the state on, as the source says."""
    log, read = graph.log, training(graph.log)
    taking = callers(log, user).lines
    ends: list[Site] = []
    steps = read.rows("step")
    for row in steps[np.searchsorted(steps, user) :][:_ENDS].tolist() or steps[-_ENDS:].tolist():
        ends += callers(log, row).lines
    if not ends:
        begins = read.backward_begins
        roots = read.roots(begins[np.searchsorted(begins, user) :][:_ENDS])
        ends = [site for row in roots[roots >= 0].tolist() for site in callers(log, row).lines]
    return carrying_line(log, taking, ends)


_ENDS: Final = 2
"""So many steps, or losses where there are none, are looked at."""


def _states(graph: Graph) -> Iterator[_Carried]:
    for words in (TWICE, WRITTEN):
        for failed in failed_passes(graph, words):
            found = taken_over(graph, failed.root, failed.before)
            if found is not None:
                yield _Carried(*found, 2, has_failed=True)
                return
    for chain in chains(graph):
        if has_rule_run(graph, chain.source, graph.now + 1, chain.users[-1]):
            yield _Carried(chain.users[-1], chain.source, chain.links, has_failed=False)
            return
