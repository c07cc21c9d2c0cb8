"""The graphs that a framework's compiler generated for a region, as a log keeps them with the region's op."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphscope.eventlog import arguments
from graphscope.eventlog.arguments import Arguments
from graphscope.eventlog.typed import spelled


@dataclass(frozen=True, slots=True)
class GeneratedNode:
    """One call of a generated graph, or (without an op) what the graph is given."""

    name: str
    """The program's variable where it has one, else what the compiler calls it."""
    op: str
    function: str
    """What the function is found by."""
    inputs: tuple[int, ...]
    """The nodes of the graph that it is given, by their places."""
    arguments: Arguments
    """What it is given; an `Input` stands for the `inputs` in order."""
    shape: tuple[int | str, ...] | None
    """Sizes that the compiler left open by its names for them; None where it gives no tensor."""
    dtype: str
    site: int
    """The line of the program that it is of, as an entry of `sites`; 0 where that is not known."""
    origins: tuple[str, ...] = ()
    """The calls of what was compiled that it was made of, by name; none where that is itself."""
    block: str = ""
    """The body of a loop or a branch that it is in, with those around it: `over/body`; empty outside of all."""


@dataclass(frozen=True, slots=True)
class GeneratedGraph:
    """What a region computes in one pass."""

    nodes: tuple[GeneratedNode, ...]
    outputs: tuple[int, ...]
    """The nodes that it returns, by their places."""

    def text(self, node: GeneratedNode) -> str:
        """A node as a call with names: `linear(x, weight)`; empty for what the graph is given."""
        if not node.op:
            return ""
        given, names = node.arguments, [self.nodes[place].name for place in node.inputs]

        def name(number: int) -> str:
            return names[number] if number < len(names) else "?"

        parts = [spelled(each, name) for each in given.operands or ()]
        parts += [f"{key}={spelled(value, name)}" for key, value in given.attributes.items()]
        return f"{node.op}({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Generated:
    """What was generated for a region."""

    compilation: str
    """By which the compiler tells its work apart: `0/1` is the second compilation of the first function."""
    forward: GeneratedGraph
    backward: GeneratedGraph | None
    """None where the region has no backward pass, or the log does not know it."""


def of_entry(entry: Any) -> Generated | None:
    """What an entry of the table `ops` tells of a region; None where it tells nothing, or is damaged."""
    told = entry.get("generated") if isinstance(entry, dict) else None
    if not isinstance(told, dict):
        return None
    try:
        backward = told.get("backward")
        return Generated(
            str(told.get("compilation", "")),
            graph_of(told["forward"]),
            None if backward is None else graph_of(backward),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def graph_of(told: Mapping[str, Any]) -> GeneratedGraph:
    """A graph as a log has it.

    Raises:
        KeyError, TypeError, ValueError: The entry is damaged.
    """
    nodes = [_node(each, place) for place, each in enumerate(told["nodes"])]
    outputs = tuple(place for place in map(int, told["outputs"]) if 0 <= place < len(nodes))
    return GeneratedGraph(tuple(nodes), outputs)


def _node(told: Mapping[str, Any], place: int) -> GeneratedNode:
    inputs = tuple(map(int, told.get("of", ())))
    if any(not 0 <= each < place for each in inputs):
        raise ValueError("a node is made of a later one")
    shape = told.get("shape")
    return GeneratedNode(
        str(told["name"]),
        str(told.get("op", "")),
        str(told.get("function", "")),
        inputs,
        arguments.of_entry(told, len(inputs), lambda number: 0),
        None if shape is None else tuple(each if isinstance(each, int) else str(each) for each in shape),
        str(told.get("dtype", "")),
        int(told.get("site", 0)),
        tuple(map(str, told.get("origins", ()))),
        str(told.get("block", "")),
    )
