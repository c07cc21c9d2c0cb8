"""The one representation of a graph that runs later: nodes, the values between them, and graphs of both."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog.names import Site
from graphscope.static.graphs import node_kinds

Shape = tuple[int | None, ...] | None
Input = Any
"""What a node takes: a Value, a Python number, or None where an argument is left out."""


class Value:
    """One output of a node: what edges carry.

    Its dtype is None where it is told when the graph runs; so is a dim of its shape, and a shape of which not even the
    number of dims is known.
    """

    __slots__ = ("dtype", "node", "shape", "slot")

    def __init__(self, node: Node, slot: int, shape: Shape, dtype: np.dtype | None) -> None:
        self.node = node
        self.slot = slot
        self.shape = shape
        self.dtype = dtype

    @property
    def name(self) -> str:
        """As TensorFlow writes it: the node's name, and the slot where it is not the first."""
        return self.node.name if self.slot == 0 else f"{self.node.name}:{self.slot}"

    @property
    def flows(self) -> bool:
        """Whether gradients can go through it: it holds floating numbers, or nobody knows."""
        return self.dtype is None or self.dtype.kind in "fc"

    def __repr__(self) -> str:
        return f"<{self.name}: {spelled(self.shape, self.dtype)}>"


class Node:
    """One call of an op.

    Attributes:
        op: Its name, in OPS or KINDS.
        inputs: Values, numbers, None.
        attributes: The keyword arguments of the op's forward function.
        name: Unique in its graph.
        site: The place in the program that asked for it.
        scope: The names of the scopes around it, joined by `/`.
        outputs: Its values; the hidden last one of an op with `residuals` is not among them.
        bodies: The graphs that a control-flow node runs.
        after: Nodes that must have run before it, though it takes nothing from them.
        origins: The nodes of the program that a pass made it of, by name; itself where no pass has been.
        rule: Of a node that computes gradients, the node whose rule it is part of: a log shows it in that rule.
    """

    __slots__ = (
        "__weakref__",
        "after",
        "attributes",
        "bodies",
        "inputs",
        "name",
        "op",
        "origins",
        "outputs",
        "rule",
        "scope",
        "site",
    )

    def __init__(self, op: str, inputs: Sequence[Input], attributes: Mapping[str, Any], name: str) -> None:
        self.op = op
        self.inputs = tuple(inputs)
        self.attributes = dict(attributes)
        self.name = name
        self.site: Site | None = None
        self.scope = ""
        self.outputs: tuple[Value, ...] = ()
        self.bodies: tuple[Graph, ...] = ()
        self.after: tuple[Node, ...] = ()
        self.origins: tuple[str, ...] = (name,)
        self.rule: Node | None = None

    @property
    def values(self) -> Iterator[Value]:
        """Its inputs that are values."""
        return (value for value in self.inputs if isinstance(value, Value))

    @property
    def before(self) -> Iterator[Node]:
        """The nodes that must have run before it."""
        yield from (value.node for value in self.values)
        yield from self.after

    @property
    def where(self) -> str:
        """How messages name it: op, name and source line."""
        line = f" ({self.site.file}:{self.site.line})" if self.site is not None else ""
        return f"{self.op} node {self.name!r}{line}"

    def __repr__(self) -> str:
        return f"<{self.name} = {self.op}({', '.join(map(_written, self.inputs))})>"


Sources = tuple[tuple["Node", int], ...]
"""Nodes whose rules gave a gradient or parts of it, and of which of their inputs."""


class Arrival(NamedTuple):
    """Whose gradient a value is, and which rules gave it."""

    of: Value
    sources: Sources = ()
    """None of a seed."""


class Graph:
    """Nodes in an order in which they can run.

    Attributes:
        name: What it is called in messages.
        inputs: The values that a run is given: of `input` nodes, or of nodes of another graph, which ran before.
        outputs: The values that a run gives.
        nodes: All of them; one that is used stands before those that use it.
        cotangents: For each gradient that `gradients` made, of which values it is the gradient.
        sums: For each node that adds up what arrived for a value, the sources of both parts.
        types: What another framework calls the kind of a node, where a call of one of its functions made it.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.outputs: list[Value] = []
        self.nodes: list[Node] = []
        self.cotangents: dict[Value, list[Arrival]] = {}
        self.sums: dict[Node, tuple[Sources, Sources]] = {}
        self.types: dict[Node, str] = {}
        self._names: dict[str, int] = {}

    # Building --------------------------------------------------------------------------------------------------------

    def input(self, name: str, shape: Shape = None, dtype: Any = None, site: Site | None = None) -> Value:
        """Another value that a run is given."""
        dtype = None if dtype is None else np.dtype(dtype)
        value = self.append("input", (), {"shape": shape, "dtype": dtype}, name=name, site=site).outputs[0]
        self.inputs.append(value)
        return value

    def add(
        self, op: str, inputs: Sequence[Input] = (), attributes: Mapping[str, Any] | None = None, **more: Any
    ) -> Any:
        """Add a node; gives its value, or the tuple of its values where the op has several outputs.

        Args:
            op: Its name, in OPS or KINDS.
            inputs: Values of this graph, numbers, None.
            attributes: Keyword arguments of its forward function.
            **more: Fields of `Node` (name, site, scope, bodies, after, origins); and `types`, a list of
                (shape, dtype), where they are known better than the op's rule tells.

        Raises:
            StaticError: There is no such op, or the shapes of the inputs contradict its rule.
        """
        node = self.append(op, inputs, attributes, **more)
        return node.outputs if node_kinds.is_several(op) else node.outputs[0]

    def append(
        self, op: str, inputs: Sequence[Input] = (), attributes: Mapping[str, Any] | None = None, **more: Any
    ) -> Node:
        """As `add`; gives the node."""
        node = Node(op, inputs, attributes or {}, self.unique(more.pop("name", None) or op))
        types = more.pop("types", None)
        for field, value in more.items():
            setattr(node, field, value)
        if types is None:
            types = node_kinds.infer(node)
        node.outputs = tuple(Value(node, slot, shape, dtype) for slot, (shape, dtype) in enumerate(types))
        self.nodes.append(node)
        return node

    def unique(self, name: str) -> str:
        """The name, with a number behind it where it is taken."""
        found = self.free(name)
        self._names[self._key(name)] = self._names.get(self._key(name), 0) + 1
        if found != name:
            self._names[self._key(found)] = 1
        return found

    def free(self, name: str) -> str:
        """What `unique` will give for a name."""
        count = self._names.get(self._key(name), 0)
        found = name
        while self._key(found) in self._names:
            found, count = f"{name}_{count}", count + 1
        return found

    def _key(self, name: str) -> str:
        """What is the same for names of which there may be one."""
        return name

    # Looking ---------------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        like = difflib.get_close_matches(name, [node.name for node in self.nodes], 3)
        raise StaticError(
            f"graph {self.name!r} has no node {name!r}",
            hint=f"did you mean {' or '.join(like)}?" if like else f"it has {_some(self.nodes)}",
        )

    def users(self) -> dict[Value, list[Node]]:
        """For each value the nodes that take it, once for each time."""
        found: dict[Value, list[Node]] = {value: [] for node in self.nodes for value in node.outputs}
        for node in self.nodes:
            for value in node.values:
                found.setdefault(value, []).append(node)
        return found

    def __str__(self) -> str:
        lines = [f"{self.name}({', '.join(f'{v.name}: {spelled(v.shape, v.dtype)}' for v in self.inputs)})"]
        lines += _lines(self, "    ")
        return "\n".join([*lines, f"    return {', '.join(value.name for value in self.outputs)}"])

    # Checking --------------------------------------------------------------------------------------------------------

    def validate(self) -> None:
        """See that it can run, bodies included.

        Raises:
            StaticError: An unknown op, a value of another graph or of a later node, a name that is given twice, a
                cycle, or shapes that contradict the rule of an op; the message names the node, its line and the cure.
        """
        names: set[str] = set()
        here = {id(node) for node in self.nodes}
        known = {id(value.node) for value in self.inputs} - here
        for node in self.nodes:
            if node.name in names:
                raise StaticError(f"two nodes are called {node.name!r} ({node.where})", hint="rename one of them")
            names.add(node.name)
            for source in node.before:
                if id(source) not in known:
                    raise _misplaced(self, node, source, here)
            node_kinds.infer(node)
            known.add(id(node))
            for body in node.bodies:
                body.validate()
        for value in self.outputs:
            if id(value.node) not in known:
                raise StaticError(
                    f"{value.name!r} is no value of graph {self.name!r}", hint=f"it has {_some(self.nodes)}"
                )


# Walking --------------------------------------------------------------------------------------------------------------


def walk(values: Iterable[Value], stop: Collection[Value] = ()) -> list[Node]:
    """The nodes that are needed for some values, in an order in which they can run; without recursion.

    Args:
        values: What is wanted.
        stop: Values that are there already (fed, say): what leads to them is not needed for them.

    Raises:
        StaticError: There is a cycle.
    """
    given = set(stop)
    return ordered([value.node for value in values if value not in given], given)


def ordered(nodes: Sequence[Node], given: Collection[Value] = ()) -> list[Node]:
    """Nodes and all that they need but for what is given, in an order in which they can run.

    Raises:
        StaticError: There is a cycle.
    """
    order: list[Node] = []
    done: dict[Node, bool] = {}  # False while what it needs is being looked at
    pending: list[tuple[Node, bool]] = [(node, False) for node in nodes][::-1]
    while pending:
        node, ready = pending.pop()
        if ready:
            done[node] = True
            order.append(node)
            continue
        if node in done:
            continue
        done[node] = False
        pending.append((node, True))
        needed = [value.node for value in node.values if value not in given] + list(node.after)
        for source in reversed(needed):
            if done.get(source) is False:
                raise _cycle(node, source)
            if source not in done:
                pending.append((source, False))
    return order


def needed(graph: Graph) -> list[Node]:
    """The nodes that a whole run needs: for the outputs, and those that do something by themselves; in order."""
    wanted = {value.node for value in graph.outputs}
    wanted.update(node for node in graph.nodes if node_kinds.has_effects(node))
    for node in reversed(graph.nodes):
        if node in wanted:
            wanted.update(node.before)
    return [node for node in graph.nodes if node in wanted]


def by_input(node: Node, places: Iterable[int], values: Iterable[Value]) -> list[Value | None]:
    """For each input of a node a value: these, at these places, and None elsewhere."""
    known = dict(zip(places, values, strict=True))
    return [known.get(place) for place in range(len(node.inputs))]


def fits(shape: Shape, wanted: Shape) -> bool:
    """Whether a shape may be the one wanted; what is not known of them, may be."""
    if shape == wanted or shape is None or wanted is None:
        return True
    return len(shape) == len(wanted) and all(None in (a, b) or a == b for a, b in zip(shape, wanted, strict=True))


def common(one: Shape, other: Shape) -> Shape:
    """What two shapes have in common; a dim in which they differ is not known."""
    if one is None or other is None or len(one) != len(other):
        return None
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def spelled(shape: Shape, dtype: np.dtype | None) -> str:
    """A type as people write it: `float32[?, 3]`."""
    dims = "..." if shape is None else ", ".join("?" if size is None else str(size) for size in shape)
    return f"{'?' if dtype is None else dtype.name}[{dims}]"


_MANY: Final = 12


def _some(nodes: Sequence[Node]) -> str:
    names = [node.name for node in nodes[:_MANY]]
    return ", ".join(names) + (f" and {len(nodes) - _MANY} more" if len(nodes) > _MANY else "")


def _written(value: Input) -> str:
    return value.name if isinstance(value, Value) else repr(value)


def _lines(graph: Graph, indent: str) -> Iterator[str]:
    for node in graph.nodes:
        if node.op == "input":
            continue
        shown = [*map(_written, node.inputs), *(f"{k}={_short(v)}" for k, v in node.attributes.items() if k[0] != "_")]
        types = ", ".join(spelled(value.shape, value.dtype) for value in node.outputs)
        origins = "" if node.origins == (node.name,) else f"  # of {', '.join(node.origins)}"
        yield f"{indent}{node.name} = {node.op}({', '.join(shown)}): {types}{origins}"
        for body in node.bodies:
            yield f"{indent}  {body.name}({', '.join(value.name for value in body.inputs)}):"
            yield from _lines(body, indent + "    ")
            yield f"{indent}    return {', '.join(value.name for value in body.outputs)}"


def _short(value: Any) -> str:
    array = getattr(value, "array", value)
    if isinstance(array, np.ndarray) and array.size > 4:
        return f"<{spelled(array.shape, array.dtype)}>"
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list) else repr(value)


def _misplaced(graph: Graph, node: Node, source: Node, here: Collection[int]) -> StaticError:
    if id(source) not in here:
        return StaticError(
            f"{node.where} takes {source.name!r}, which is no node of graph {graph.name!r}",
            hint="build both in one graph, or make the value an input of this one",
        )
    try:
        walk(node.outputs)
    except StaticError as error:
        return error
    return StaticError(
        f"{node.where} stands before {source.name!r}, which it takes",
        hint="put the nodes in an order in which they can run: graph.nodes = walk(graph.outputs)",
    )


def _cycle(node: Node, source: Node) -> StaticError:
    return StaticError(
        f"{node.where} takes {source.name!r}, which is made of it: a cycle",
        hint="carry the value through a while_loop variable instead",
    )
