"""The passes that a graph goes through before it is compiled: a table of functions from a graph to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from graphscope.static.graphs.graph import Graph
from graphscope.static.passes.algebra import reassociate, simplify
from graphscope.static.passes.batch import batch, batch_arrays
from graphscope.static.passes.redundancy import fold, merge, prune

# Every pass keeps, in `origins`, from which nodes of the program each node came, so that a graph can be compared with
# what it was before: `str(graph)` shows both.


@dataclass(frozen=True)
class Pass:
    """A pass, and what it does in one sentence."""

    name: str
    run: Callable[[Graph], Graph]

    @property
    def doc(self) -> str:
        """What it does."""
        return (self.run.__doc__ or "").splitlines()[0]


PASSES: Final[dict[str, Pass]] = {
    run.__name__: Pass(run.__name__, run) for run in (prune, fold, simplify, merge, batch, batch_arrays, reassociate)
}
"""Every pass by name."""

ORDER: Final = (
    "prune", "fold", "simplify", "merge", "simplify", "prune", "batch", "simplify", "fold", "reassociate", "merge",
    "prune",
)  # fmt: skip
"""In which order compiling runs them."""

ORDERS: Final = {
    "numpy": ORDER,
    "machine": tuple("batch_arrays" if name == "batch" else name for name in ORDER),
}
"""The same for each back end."""


def optimise(graph: Graph, order: Sequence[str] = ORDER) -> list[tuple[str, Graph]]:
    """Run passes one after the other; what each made of the graph, so that they can be looked at one by one."""
    steps = []
    for name in order:
        graph = PASSES[name].run(graph)
        steps.append((name, graph))
    return steps


def changes(before: Graph, after: Graph) -> str:
    """What a pass did, as lines: `-` a node that is gone, `+` one that is new."""
    old = {line.strip(): None for line in str(before).splitlines()[1:-1]}
    new = {line.strip(): None for line in str(after).splitlines()[1:-1]}
    lines = [f"- {line}" for line in old if line not in new] + [f"+ {line}" for line in new if line not in old]
    return "\n".join(lines) or "nothing changed"


def history(graph: Graph, order: Sequence[str] = ORDER) -> str:
    """What each pass makes of a graph, one after the other, in words: passes that find nothing to do are left out."""
    parts = []
    for name, after in optimise(graph, order):
        told = changes(graph, after)
        if str(after) != str(graph):
            parts.append(f"{name}: {len(graph.nodes)} nodes -> {len(after.nodes)}. {PASSES[name].doc}\n{told}")
        graph = after
    return "\n\n".join(parts) or "nothing changed"
