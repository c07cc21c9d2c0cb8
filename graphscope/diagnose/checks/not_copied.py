"""A copy of weights that is none: what is copied, or averaged, into them are they themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.written_to_itself import Written, written_to_themselves
from graphscope.eventlog.names import place_of
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph


@check(
    "copy that is none",
    reads=("marks", "training", "rows", "values"),
    shows="run",
    sample="""
        import torch

        net = torch.nn.Linear(3, 1)
        target = net
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            x = torch.randn(8, 3)
            with torch.no_grad():
                wanted = 0.9 * target(x) + 1
            optimizer.zero_grad()
            (net(x) - wanted).square().mean().backward()
            optimizer.step()
            target.load_state_dict(net.state_dict())
        """,
    healthy="""
        import copy
        import torch

        net = torch.nn.Linear(3, 1)
        target = copy.deepcopy(net)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            x = torch.randn(8, 3)
            with torch.no_grad():
                wanted = 0.9 * target(x) + 1
            optimizer.zero_grad()
            (net(x) - wanted).square().mean().backward()
            optimizer.step()
            target.load_state_dict(net.state_dict())
        """,
)
def not_copied(graph: Graph) -> Iterator[Finding]:
    """What was meant as a copy of weights are these themselves, and what is written back changes nothing."""
    for found in written_to_themselves(graph.log):
        yield _of_state(graph, found) if found.alias is None else _of_alias(graph, found)


def _of_alias(graph: Graph, found: Written) -> Finding:
    alias, node = found.alias, graph.node(found.row)
    assert alias is not None
    verdict = (
        f"{alias.name} is no copy of {alias.of}, but {alias.of} itself: {node.op}{where(node)} writes {found.writes} "
        "parameters into themselves, and changes nothing"
    )
    cure = f"make a copy: {alias.name} = copy.deepcopy({alias.of})"
    names, evidence = (alias.name, alias.of), {"parameters": found.writes}
    is_of_library = node.site is not None and node.site.caller  # there nobody is to change how it came about
    place = (node.site.file, node.site.line) if node.site is not None and is_of_library else (alias.file, alias.line)
    return Finding("not_copied", "warning", found.row, found.row, *place, names, "alias", verdict, cure, evidence)


def _of_state(graph: Graph, found: Written) -> Finding:
    node, kept = graph.node(found.row), graph.node(found.kept)
    place = place_of(kept.site)
    name = training(graph.log).name(found.tensor) or "a parameter"
    verdict = (
        f"what is kept of {name}{where(kept)} is no copy of it: training goes on to change it, and what "
        f"{node.op}{where(node)} brings back are the newest weights"
    )
    cure = "keep a copy: copy.deepcopy(net.state_dict())"
    evidence = {"parameters": found.writes}
    return Finding("not_copied", "warning", found.row, kept.row, *place, (name,), "state", verdict, cure, evidence)
