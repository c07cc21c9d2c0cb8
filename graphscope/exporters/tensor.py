"""The graph of a tensor that nobody recorded: what its `grad_fn` leads to, in PyTorch or any engine of its manner."""

from __future__ import annotations

import re
from typing import Any, Final, Protocol

from graphscope.errors import ExportError
from graphscope.graph.view import GraphView, ViewEdge, ViewNode

__all__ = ["GradFn", "is_tensor", "tensor_view"]

RULE_NAME: Final = re.compile(r"(?:.*::)?(\w+?)(?:Backward)?\d*$")
WORD: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class GradFn(Protocol):
    """What is asked of a node of the way back. A leaf's node has `variable`, the tensor, besides."""

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The node (or None) and its output number, for each input of the op."""

    def name(self) -> str:
        """`MulBackward0`, `AccumulateGrad`."""


def is_tensor(thing: object) -> bool:
    """Whether a thing knows how it was computed."""
    return hasattr(thing, "grad_fn") and hasattr(thing, "requires_grad")


def tensor_view(tensor: Any) -> GraphView:
    """The forward graph that made a tensor: its ops, and the leaves that gradients flow to.

    Args:
        tensor: Anything with `grad_fn` and `requires_grad`.

    Raises:
        ExportError: Nothing was kept of how it was computed.
    """
    if tensor.grad_fn is None:
        if not tensor.requires_grad:
            cure = "none of its inputs requires grad, or it was made under no_grad or by detach(); record the program"
            raise ExportError("this tensor has no graph: it does not require grad", cure)
        return GraphView(nodes=(leaf_node("n0", tensor),), edges=())
    found = ancestors_first(tensor.grad_fn)
    ids = {function: f"n{number}" for number, function in enumerate(found)}
    shapes: dict[GradFn, tuple[tuple[int, ...], ...]] = {}
    for function in found:  # each comes behind those that it leads to
        shapes[function] = output_shapes(function) or known_shape(function, shapes)
    shapes[tensor.grad_fn] = shapes[tensor.grad_fn] or (tuple(tensor.shape),)
    nodes = tuple(node_of(ids[function], function, shapes[function]) for function in found)
    edges = tuple(
        ViewEdge(ids[source], ids[function], "data", slot, argument, shape_at(shapes[source], slot))
        for function in found
        for argument, (source, slot) in enumerate(function.next_functions)
        if source is not None
    )
    return GraphView(nodes=nodes, edges=edges)


def ancestors_first(root: GradFn) -> list[GradFn]:
    """All nodes that a node leads to, each after those that it leads to; no recursion, graphs are deep."""
    done: dict[GradFn, None] = {}
    pending: list[tuple[GradFn, bool]] = [(root, False)]
    while pending:
        function, complete = pending.pop()
        if complete:
            done[function] = None
        elif function not in done:
            pending.append((function, True))
            sources = [source for source, _ in function.next_functions if source is not None]
            pending += [(source, False) for source in reversed(sources) if source not in done]
    return list(done)


def node_of(identity: str, function: GradFn, shapes: tuple[tuple[int, ...], ...]) -> ViewNode:
    """A box for a node of the way back: the leaf it stands for, or the op whose rule it is."""
    variable = getattr(function, "variable", None)
    if variable is not None:
        return leaf_node(identity, variable)
    op = op_name(function.name())
    return ViewNode(identity, (), "op", op, op=op, shape=shape_at(shapes, 0), requires_grad=True)


def leaf_node(identity: str, variable: Any) -> ViewNode:
    """A box for a leaf."""
    name = variable.name if isinstance(getattr(variable, "name", None), str) else ""
    parameter = bool(getattr(variable, "is_parameter", False)) or type(variable).__name__ == "Parameter"
    return ViewNode(
        identity,
        (),
        "leaf",
        name or ("parameter" if parameter else "leaf"),
        op="leaf",
        name=name,
        shape=tuple(variable.shape),
        dtype=str(variable.dtype).rpartition(".")[2],
        parameter=parameter,
        requires_grad=True,
    )


def op_name(rule: str) -> str:
    """The op of a rule as programs spell it: `LogSoftmaxBackward0` is that of `log_softmax`."""
    named = RULE_NAME.match(rule)
    return WORD.sub("_", named[1]).lower() if named else rule


def output_shapes(function: GradFn) -> tuple[tuple[int, ...], ...]:
    """The shapes of a node's outputs, where the engine tells them (PyTorch does); a leaf's is its own."""
    variable = getattr(function, "variable", None)
    if variable is not None:
        return (tuple(variable.shape),)
    return tuple(tuple(each.shape) for each in getattr(function, "_input_metadata", ()))


def known_shape(function: GradFn, shapes: dict[GradFn, tuple[tuple[int, ...], ...]]) -> tuple[tuple[int, ...], ...]:
    """The shape of a node's output, where the engine finds it from those of its inputs (ours does)."""
    tell = getattr(function, "output_shape", None)
    if tell is None:
        return ()
    sources = [(source, () if source is None else shapes[source][slot:]) for source, slot in function.next_functions]
    if any(source is not None and not known for source, known in sources):
        return ()
    shape = tell([known[0] if known else None for _, known in sources])
    return () if shape is None else (tuple(shape),)


def shape_at(shapes: tuple[tuple[int, ...], ...], slot: int) -> tuple[int, ...] | None:
    """The shape of one output, if it is known."""
    return shapes[slot] if slot < len(shapes) else None
