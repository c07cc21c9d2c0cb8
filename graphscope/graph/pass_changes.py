"""What a pass of a compiler changed in a graph: which nodes went, came, became one, or take other inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.errors import LogError
from graphscope.eventlog import compilations
from graphscope.eventlog.compilations import Compilation, Stage
from graphscope.eventlog.generated import GeneratedGraph, GeneratedNode

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.view import Changed

WORDS: Final[dict[Changed, str]] = {
    "removed": "removed",
    "joined": "made part of another",
    "added": "added",
    "fused": "fused of several",
    "grown": "stands for others too",
    "rewired": "takes other inputs",
    "kept": "as before",
}
"""What can become of a node, and how people say it."""

NOT_TOLD: Final = "record with `graphscope record --passes SCRIPT` (or gs.record(passes=True)), and export that log"


class Key(NamedTuple):
    """What makes a node of two stages the same."""

    block: str
    name: str
    op: str


@dataclass(frozen=True)
class PassChange:
    """A pass, and the graph before and after it."""

    number: int
    """Its place among the passes, from 1; 0 of what was compiled."""
    stage: Stage
    before: GeneratedGraph

    @property
    def after(self) -> GeneratedGraph:
        """The graph that the pass made."""
        return self.stage.graph

    @cached_property
    def old(self) -> dict[Key, GeneratedNode]:
        """The nodes before it."""
        return _by_key(self.before)

    @cached_property
    def new(self) -> dict[Key, GeneratedNode]:
        """The nodes after it."""
        return _by_key(self.after)

    @cached_property
    def members(self) -> dict[Key, list[Key]]:
        """For each node that is fused or has grown those that are gone and of which it was made."""
        gone: dict[tuple[str, str], list[Key]] = {}
        for key, node in self.old.items():
            for origin in origins(node) if key not in self.new else ():
                gone.setdefault((key.block, origin), []).append(key)
        found: dict[Key, list[Key]] = {}
        for key, node in self.new.items():
            before = self.old.get(key)
            of = [each for each in origins(node) if before is None or each not in origins(before)]
            made_of = dict.fromkeys(each for origin in of for each in gone.get((key.block, origin), ()))
            if len(made_of) > (before is None):
                found[key] = [*made_of]
        return _without_preparing(found)

    @cached_property
    def states(self) -> Mapping[Key, Changed]:
        """What became of each node, those first that were there before."""
        if self.before is self.after:
            return dict.fromkeys(self.new, "kept")
        joined = {each for members in self.members.values() for each in members}
        states: dict[Key, Changed] = {}
        for key, node in self.old.items():
            if key in self.new:
                same = _given(self.before, node) == _given(self.after, self.new[key])
                states[key] = "grown" if key in self.members else "kept" if same else "rewired"
            else:
                states[key] = "joined" if key in joined else "removed"
        for key in self.new:
            states.setdefault(key, "fused" if key in self.members else "added")
        return states

    @cached_property
    def counts(self) -> dict[Changed, int]:
        """How many nodes each became of."""
        found = Counter(self.states.values())
        return {state: found[state] for state in WORDS if found[state]}

    @property
    def is_change(self) -> bool:
        """Whether the pass has done something."""
        return any(state != "kept" for state in self.counts)

    def lines(self) -> list[tuple[Changed, str]]:
        """What changed as text: what became of a node, and the node as a call."""
        found: list[tuple[Changed, str]] = []
        for key, state in self.states.items():
            if state != "kept":
                graph, nodes = (self.after, self.new) if key in self.new else (self.before, self.old)
                of = ", ".join(each.name for each in self.members.get(key, ()))
                found.append((state, written(graph, nodes[key]) + (f"  # of {of}" if of else "")))
        return found


def changes(compilation: Compilation) -> list[PassChange]:
    """Each stage beside the one before it; the first is beside itself."""
    before = compilation.stages[0].graph
    found = []
    for number, stage in enumerate(compilation.stages):
        found.append(PassChange(number, stage, before))
        before = stage.graph
    return found


def recorded(log: Log) -> list[Compilation]:
    """The compilations that a log tells of.

    Raises:
        LogError: It tells of none.
    """
    found = [each for each in map(compilations.of_entry, log.table("compilations")) if each is not None]
    if not found:
        if log.metadata.get("passes"):
            raise LogError(
                f"no graph was compiled in {log.path}: nothing that was traced, scripted or compiled ran there",
                "use graphscope.jit.trace, script or compile, a static Session, or torch.jit, and record again",
            )
        raise LogError(f"{log.path} does not tell what passes of a compiler did", NOT_TOLD)
    return found


def origins(node: GeneratedNode) -> tuple[str, ...]:
    """The nodes of what was compiled that a node is made of."""
    return node.origins or (node.name,)


def written(graph: GeneratedGraph, node: GeneratedNode) -> str:
    """A node as a line: `h = tanh(add): float32[2, 3]`."""
    text = graph.text(node)
    dims = "" if node.shape is None else f": {node.dtype}[{', '.join(map(str, node.shape))}]"
    return f"{node.name} = {text}{dims}" if text else f"{node.name}{dims}"


def _without_preparing(members: dict[Key, list[Key]]) -> dict[Key, list[Key]]:
    """Of nodes that were made of the same ones, the node that does what those did; others (stacks, say) prepare it."""
    made: dict[tuple[Key, ...], list[Key]] = {}
    for key, of in members.items():
        made.setdefault(tuple(of), []).append(key)
    found: dict[Key, list[Key]] = {}
    for made_of, keys in made.items():
        doing = [key for key in keys if key.op in {each.op for each in made_of}] or keys[-1:]
        found |= {key: [*made_of] for key in doing}
    return found


def _by_key(graph: GeneratedGraph) -> dict[Key, GeneratedNode]:
    return {Key(node.block, node.name, node.op): node for node in graph.nodes}


def _given(graph: GeneratedGraph, node: GeneratedNode) -> tuple[object, ...]:
    """What a node takes, in words in which two graphs can be compared."""
    return (tuple(graph.nodes[place].name for place in node.inputs), graph.text(node))
