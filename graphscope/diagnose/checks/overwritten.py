"""In-place damage: a write over a value that the rule of an earlier node still needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.gradient_paths import GradientPaths
from graphscope.eventlog.schema import Flag, Kind

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_WORD = re.compile(r"[A-Za-z_]\w*")

_RULES: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(["mul", "mm", "matmul", "bmm", "linear", "outer", "dot", "mv"], ("g * y", "g * x")),
    **dict.fromkeys(["conv1d", "conv2d", "conv3d"], ("g * y", "g * x")),
    **dict.fromkeys(["exp", "tanh", "sigmoid", "softmax", "log_softmax", "sqrt", "rsqrt", "relu"], ("g * out",)),
    **dict.fromkeys(["log", "sin", "cos", "abs", "square", "pow", "gelu", "silu", "softplus"], ("g * x",)),
    "div": ("g / y", "g * x / y"),
}
"""What the rules of common ops need, for logs of producers that don't write their rules down."""


def writes(log: Log) -> Iterator[int]:
    """The rows that write in place."""
    for first, rows in log.chunks():
        found = (rows["kind"] == Kind.OP) & ((rows["flags"] & int(Flag.IN_PLACE)) != 0)
        yield from (first + np.flatnonzero(found)).tolist()


@check(
    reads=("rows",),
    rows=writes,
    sample="""
        import torch

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x.exp()
        y.mul_(2)
        """,
    healthy="""
        import torch

        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = x + 1
        y.mul_(2)
        y.sum().backward()
        """,
)
def overwritten(graph: Graph, row: int) -> Iterator[Finding]:
    """A write in place over a value that backward still needs.

    A value is damaged if a rule that has not run yet needs it as it was. Which values a rule needs is told by its text.
    """
    write = graph.node(row)
    unseen = graph.log.metadata.get("capture") == "calls"  # whether backward has run is not told
    if not write.flags & Flag.IN_PLACE or not write.inputs or unseen:
        return
    for old in _same_memory(write.inputs[0].source):
        for owner, what in _savers(old):
            if owner.row < row and not _has_run(owner):
                yield _finding(write, owner, old, what)
                return


def _finding(write: Node, owner: Node, old: Node, what: str) -> Finding:
    verdict = f"{owner.op}{where(owner)} had saved {what}, and {write.op}{where(write)} writes over it before backward"
    cure = f"write to a copy, or leave the underscore out: {write.op.rstrip('_')} in place of {write.op}"
    site = write.site
    file, line = ("", 0) if site is None else (site.file, site.line)
    evidence = {"saved by": owner.row, "version": write.version}
    names, cause = (title(old),), "written in place"
    return Finding("overwritten", "error", write.row, write.row, file, line, names, cause, verdict, cure, evidence)


def _has_run(owner: Node) -> bool:
    """Whether the rule of a node has made something, as far as one sees: then it missed nothing."""
    rules = [each for each in owner.backward if each.kind == "grad"]
    return any(each.users or each.backward for each in rules) if rules else bool(owner.backward)


def _same_memory(node: Node) -> Iterator[Node]:
    """A node, and what it is a view of."""
    seen = {node.row}
    yield node
    while node.flags & Flag.VIEW and node.inputs and node.inputs[0].source.row not in seen:
        node = node.inputs[0].source
        seen.add(node.row)
        yield node


def _savers(old: Node) -> Iterator[tuple[Node, str]]:
    """The nodes whose rules need a value, and what it is to them."""
    if _needs(old, "out"):
        yield old, "its output"
    for edge in old.users:
        names = old.graph.log.op(edge.target.event.op).inputs or ("x", "y", "z")
        name = names[edge.argument] if edge.argument < len(names) else ""
        if name and _needs(edge.target, name):
            yield edge.target, f"its input {name}"


def _needs(node: Node, name: str) -> bool:
    """Whether a rule that will run mentions a value."""
    within_rule = node.graph_pass == "backward" and not node.flags & Flag.CREATE_GRAPH
    if node.kind != "op" or within_rule:
        return False
    rules = node.graph.log.op(node.event.op).vjp or _RULES.get(node.op.rstrip("_"), ())
    places = [place for place, rule in enumerate(rules) if name in _WORD.findall(rule)]
    if not places:
        return False
    paths = GradientPaths(node.graph, node.row)
    sources = node.event.inputs
    return node.row in paths.open and any(place < len(sources) and sources[place][0] in paths.open for place in places)
