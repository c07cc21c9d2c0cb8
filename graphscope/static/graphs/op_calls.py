"""Calls of the engine's ops on tensors, as nodes of graphs and rows of logs tell of them, and their gradients."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.gradients import grad
from graphscope.engine.core.op import OPS, Op, arity
from graphscope.engine.core.slots import apply_several
from graphscope.engine.core.tensor import Tensor, apply
from graphscope.engine.core.writing import write
from graphscope.eventlog import record
from graphscope.eventlog.names import Site
from graphscope.static.graphs.graph import Node
from graphscope.static.graphs.node_kinds import KINDS


def called(
    op: Op, inputs: Sequence[Any], attrs: dict[str, Any], place: Callable[..., Any] | None = None
) -> tuple[Any, ...]:
    """What an op gives: a tensor for each output.

    Args:
        op: The op.
        inputs: Tensors, numbers, and None for arguments that are left out.
        attrs: The keyword arguments of its forward function.
        place: Calls another function at a place of the program: for the log, the call is there.
    """
    if op.in_place:  # in a graph it makes a new value
        return (write(op, OPS["clone"].call(inputs[0]), inputs[1:], attrs),)
    if attrs.get("_from") is not None:
        attrs = {**attrs, "_from": np.shape(inputs[0].array)}
    # What is left out has a place of its own between others, and where rules name it.
    while len(inputs) > arity(op) and inputs[-1] is None:
        inputs = inputs[:-1]
    call: Callable[..., Any] = apply_several if op.several else apply
    found = call(op, inputs, attrs, 1) if place is None else place(call, op, inputs, attrs)
    return tuple(found) if op.several else (found,)


def is_plain(node: Node) -> bool:
    """Whether a node is a call of an op of one output, with what it takes and nothing else."""
    op = OPS.get(node.op)
    if op is None or node.op in KINDS or op.prepare or op.several or op.in_place:
        return False
    return not node.attributes and not any(each is None for each in node.inputs)


def gradients_of(
    call: Callable[[Sequence[Any]], Sequence[Any]], given: Sequence[Any], wanted: Sequence[int], gs: Sequence[Any]
) -> list[Tensor | None]:
    """The gradients of what a call gives, by a pass of the engine over it, of which no log is told.

    Args:
        call: From tensors, numbers and None to tensors.
        given: What it is given; where some of that requires grad, the gradients do, too.
        wanted: The places of the tensors by which it is differentiated.
        gs: A cotangent for each tensor that it gives.

    Returns:
        For each that is wanted its gradient; None where nothing depends on it.
    """
    given = list(given)
    again = modes.is_grad_enabled() and any(isinstance(each, Tensor) and each.requires_grad for each in (*given, *gs))
    with record.recording_to(None), modes.grad_mode(True):
        for place in wanted:
            tensor = given[place]
            apart = again and tensor.requires_grad
            given[place] = OPS["clone"].call(tensor) if apart else Tensor(tensor.array, requires_grad=True)
        pairs = [(out, g) for out, g in zip(call(given), gs, strict=True) if out.requires_grad]
        if not wanted or not pairs:
            return [None] * len(wanted)
        outs, cotangents = zip(*pairs, strict=True)
        xs = [given[place] for place in wanted]
        return list(grad(outs, xs, list(cotangents), create_graph=again, allow_unused=True))


def zeros_as(tensor: Tensor) -> Tensor:
    """Zeros of the shape and dtype of a tensor."""
    return Tensor(np.zeros_like(np.asarray(tensor.array))[()])


def at(node: Node) -> Callable[..., Any]:
    """A function that calls another, at the node's place of the program: for the log, the call is there."""
    return _at(node.site, node.name)


@functools.lru_cache(1 << 14)
def _at(site: Site | None, name: str) -> Callable[..., Any]:
    """Each node of a place has a function of its own, so that the log can tell the nodes that one line makes apart."""
    if site is None:
        return lambda call, *given: call(*given, 1)
    tree: Any = ast.parse("lambda call, *given: call(*given, 1)", mode="eval")
    nodes: Any = ast.walk(tree)
    for node in nodes:
        if hasattr(node, "lineno"):
            node.lineno, node.end_lineno = site.line, max(site.end_line, site.line)
            node.col_offset, node.end_col_offset = site.column, site.end_column
    code = compile(tree, site.file, "eval")
    return eval(code, {"__builtins__": {}})  # type: ignore[no-any-return]  # noqa: S307 - the text above
