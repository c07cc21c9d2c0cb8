"""What names mean in expressions: words for the current node, then the program's names, then names in the log."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.debugger.expressions import PREDICATES
from graphscope.debugger.nodes import Pending
from graphscope.debugger.recorded_tensor import Recorded
from graphscope.errors import CommandError
from graphscope.eventlog.presenting import presented
from graphscope.eventlog.schema import Kind
from graphscope.graph import search

if TYPE_CHECKING:
    from graphscope.debugger.recorded_locals import RecordedLocals
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_BLOCK = 1 << 14
_SLOTTED: Final = re.compile(r"([\w./-]+):(\d+)")
"""A tensor as TensorFlow names it: the node, and which of its outputs."""


def value_of(node: Node | Pending) -> Any:
    """The word `value`: what the node computed; at a backward node, what its forward node computed."""
    owner = owner_of(node)
    return None if owner is None else owner.value


def grad_of(node: Node | Pending) -> Any:
    """The word `grad`: the gradient at `now`; at a backward node, the cotangent (or contribution) that arrived."""
    return node.value if node.kind in ("grad", "accumulate") else node.grad


def inputs_of(graph: Graph, node: Node | Pending) -> list[Any]:
    """The word `inputs`: the values of the inputs of the forward node."""
    log = graph.log
    rows = getattr(node, "input_rows", None)
    if rows is not None:
        sources = [(graph.node(row), 0) for row in rows]
    else:
        owner = owner_of(node)
        sources = [] if owner is None else [(edge.source, edge.slot) for edge in owner.inputs]
    return [presented(log.path, source.output(slot), source.outputs[slot][1]) for source, slot in sources]


def owner_of(node: Node | Pending) -> Any:
    """The forward node that a node is about: itself, unless it is a backward node."""
    return node.forward if node.kind in ("grad", "accumulate") else node  # type: ignore[union-attr]


WORDS: Final[Mapping[str, Callable[[Graph, Any], object]]] = {
    "value": lambda graph, node: presented(graph.log.path, value_of(node), node.dtype),
    "grad": lambda graph, node: presented(graph.log.path, grad_of(node), node.dtype),
    "inputs": inputs_of,
    "op": lambda graph, node: node.op,
    "name": lambda graph, node: node.name,
    "shape": lambda graph, node: node.shape,
    "dtype": lambda graph, node: node.dtype,
    "node": lambda graph, node: node,
}
"""Names that speak of the node where one stands; they win over the program's own."""

_COMPUTED: Final = ("value", "grad", "shape", "dtype")
"""Those that have no meaning ahead of the computation."""


def nothing_at_hand(word: str, last: Node | Pending | None) -> CommandError:
    """Why a word means nothing where one stands at no node."""
    if last is None:
        return CommandError(f"`{word}` speaks of a node, and there is none here", "n goes to the next node")
    meant = f": `{anywhere(last, word)}`" if word in ("value", "grad") else ""
    return CommandError(
        f"`{word}` speaks of the node where one stands, and one stands at a line, at no node",
        f"#{last.row} {last.label} came last{meant}",
    )


def anywhere(node: Node | Pending, word: str) -> str:
    """Python that means anywhere what `value` or `grad` means at a node."""
    owner = owner_of(node)
    if word == "grad":
        return f"#{node.row}.value" if node.kind in ("grad", "accumulate") else f"#{node.row}.grad"
    return f"#{node.row if owner is None else owner.row}.value"


class Nodes:
    """The name `nodes`: `nodes[12]` is node 12, `nodes["name:fc1.weight"]` the newest that a SPEC selects."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def __repr__(self) -> str:
        return "the nodes of the log: nodes[12] is node 12, nodes['name:w'] the newest of that name; `lt` lists them"

    def __getitem__(self, key: int | str) -> Recorded:
        if isinstance(key, int):
            return Recorded(self._graph.node(key))
        return Recorded(one(self._graph, key))


def one(graph: Graph, spec: str) -> Node:
    """The newest node that a name or a SPEC means.

    Raises:
        GraphscopeError: There is none, or the SPEC is not understood.
    """
    text = spec.strip()
    named = newest(graph, text)
    if named is None and (slotted := _SLOTTED.fullmatch(text)) is not None:
        text = slotted[1]
        named = newest(graph, text)
    if named is not None:
        return named
    found = graph.select(text)
    if found:
        return found[-1]
    later = ahead(graph, text)
    if later is not None:
        raise CommandError(f"{text!r} comes later in time", f"goto {later.row} is there")
    raise search.nothing_answers(graph, text)


def slot_of(graph: Graph, spec: str) -> tuple[Node, int]:
    """The node that a name or a SPEC means, and which of its outputs: `split:1` is the second.

    Raises:
        GraphscopeError: As `one`; or the node has no such output.
    """
    node = one(graph, spec)
    slotted = _SLOTTED.fullmatch(spec.strip())
    slot = int(slotted[2]) if slotted is not None and node.name != spec.strip() else 0
    if slot >= len(node.outputs):
        raise CommandError(f"#{node.row} {node.label} has no output {slot}", f"it has {len(node.outputs)}")
    return node, slot


def ahead(graph: Graph, spec: str) -> Node | None:
    """The first node that a name or a SPEC means, among those that are recorded but not yet there at `now`."""
    whole = graph.at(graph.log.end - 1)
    found = [node for node in whole.select(spec) if node.row > graph.now]
    if found:
        return found[0]
    named = newest(whole, spec)
    return named if named is not None and named.row > graph.now else None


def newest(graph: Graph, name: str) -> Node | None:
    """The newest version, at the graph's `now`, of the tensor that the program calls so."""
    log = graph.log
    stop = graph.now + 1
    while stop > log.first:
        start = max(log.first, stop - _BLOCK)
        for row in _candidates(graph, name, start, stop)[::-1].tolist():
            node = graph.node(row)
            if node.name == name:
                return current(node)
        stop = start
    return None


def current(node: Node) -> Node:
    """The newest version of a node's tensor at its graph's `now`."""
    graph = node.graph
    versions = graph.index.versions(node.tensor, graph.now + 1)
    return graph.node(versions[-1]) if versions else node


def _candidates(graph: Graph, name: str, start: int, stop: int) -> np.ndarray:
    """Rows of leaves and ops that may bear a name: each pair of site and attributes is judged once."""
    log: Log = graph.log
    kinds = log.column("kind", start, stop)
    forward = ((kinds == Kind.LEAF) | (kinds == Kind.OP)) & (log.column("graph_pass", start, stop) == 0)
    offsets = np.flatnonzero(forward)
    sites, attrs = log.column("site", start, stop)[offsets], log.column("attrs", start, stop)[offsets]
    pairs, which = np.unique(sites.astype(np.uint64) << np.uint64(32) | attrs, return_inverse=True)
    fits = [_may_be(graph, name, int(pair) >> 32, int(pair) & 0xFFFFFFFF) for pair in pairs.tolist()]
    rows = offsets[np.array(fits, bool)[which]] + start if len(offsets) else offsets
    roots = [row for row, found in graph.names.roots(start, stop).items() if found == name]
    return np.union1d(rows, roots).astype(np.int64)


def _may_be(graph: Graph, name: str, site: int, attrs: int) -> bool:
    given = graph.log.attrs(attrs).get("name") if attrs else None
    return graph.names.variable(site) == name if given is None else given == name


def lookup(
    graph: Graph,
    node: Node | Pending | None,
    frame: FrameType | None = None,
    held: Any = None,
    recorded: RecordedLocals | None = None,
    last: Node | Pending | None = None,
) -> Callable[[str], object]:
    """What a name means at a node.

    Args:
        graph: The graph there.
        node: The node; None where one stands at none: then the words for it are names like all others.
        frame: The program's, where it waits.
        held: The value that it waits with.
        recorded: What the log knows of the variables at the line of the node.
        last: The node that came last.
    """
    held_word = "" if held is None or node is None else "grad" if node.kind in ("grad", "accumulate") else "value"

    def look(name: str) -> object:
        if name == held_word and node is not None:
            return presented(graph.log.path, held, node.dtype)
        if name in WORDS and node is not None:
            if isinstance(node, Pending) and name in _COMPUTED:
                raise CommandError(f"{node.op} is not computed yet, and has no `{name}`", "n computes it")
            return WORDS[name](graph, node)
        if name in PREDICATES:
            return PREDICATES[name]
        if name == "nodes":
            return Nodes(graph)
        if frame is not None:
            if name in (local := frame.f_locals):
                return local[name]
            if name in frame.f_globals:
                return frame.f_globals[name]
        if recorded is not None and name in recorded:
            return Recorded(recorded[name])
        if name in WORDS:
            raise nothing_at_hand(name, last)
        if recorded is not None and frame is None and recorded.owns(name):
            raise KeyError(name)  # what else is called so is a variable of another function
        found = newest(graph, name)
        if found is None:
            raise KeyError(name)
        return Recorded(found)

    return look


def lookup_in(recorded: RecordedLocals) -> Callable[[str], object]:
    """What a name means to a function whose variables were recorded, and to nobody else."""

    def look(name: str) -> object:
        return PREDICATES[name] if name == "np" else Recorded(recorded[name])

    return look
