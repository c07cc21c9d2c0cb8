"""Which node of a function that runs as a plan gives the first NaN or Inf: it is run once more, node by node."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from graphscope.diagnose.explain import explain
from graphscope.diagnose.explanation import Explanation
from graphscope.engine.core import modes
from graphscope.engine.core.gradients import backward_of
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph
from graphscope.static.graphs.trees import flatten, unflatten
from graphscope.static.script import Scripted
from graphscope.static.tracing.compiled import ValueAndGrad
from graphscope.static.tracing.trace import Traced


def blame(function: Any, *args: Any) -> Explanation | None:
    """Why a compiled, traced or scripted function gives NaN or Inf, or its gradients are such: the op and its line.

    A plan tells nobody what it does. So the nodes of the program are run on the arguments, recorded, and differentiated
    where one of them (or a tensor that the function uses) requires grad. No `.grad` is changed.

    Args:
        function: What `compile`, `value_and_grad`, `trace` or `script` made.
        *args: Its arguments, as it was called with them.

    Returns:
        What `explain` says of the first result, else of the first gradient, that is not finite; None where all are.

    Raises:
        StaticError: It is none of these functions.
    """
    if not isinstance(function, ValueAndGrad | Traced | Scripted):
        raise StaticError(
            f"blame takes what jit made of a function, not {type(function).__name__}",
            hint="record what runs without jit, and ask gs.explain(tensor)",
        )
    leaves, form = flatten(args)
    copies = [_copy(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
    tensors = [leaf for leaf in copies if isinstance(leaf, Tensor)]
    graph = _graph(function, args)
    for tensor, value in zip(tensors, graph.inputs, strict=False):
        tensor.name = tensor.name or value.name
    with record.record() if record.writer is None else nullcontext(), modes.grad_mode(True), np.errstate(all="ignore"):
        if isinstance(function, ValueAndGrad):
            for place in function.argnums:
                tensors[place].requires_grad_()
            results: Sequence[Any] = interpreter.run(graph, tensors)
        else:
            results = [leaf for leaf in flatten(function(*unflatten(form, copies)))[0] if isinstance(leaf, Tensor)]
        return _of_values(results) or _of_gradients(results, [*tensors, *_variables(graph)])


def _copy(tensor: Tensor) -> Tensor:
    made = Tensor(tensor.array, requires_grad=tensor.requires_grad)
    made.name = tensor.name
    return made


def _graph(function: ValueAndGrad | Traced | Scripted, args: Sequence[Any]) -> Graph:
    """What the function runs, of the program as it was written."""
    if isinstance(function, ValueAndGrad):
        return function.forward
    return function.graph_for(*args) if isinstance(function, Scripted) else function.graph


def _variables(graph: Graph) -> list[Tensor]:
    return [node.attributes["tensor"] for node in graph.nodes if node.op == "variable"]


def _of_values(results: Sequence[Tensor]) -> Explanation | None:
    return next((explain(tensor) for tensor in results if not np.isfinite(tensor.array).all()), None)


def _of_gradients(results: Sequence[Tensor], leaves: Sequence[Tensor]) -> Explanation | None:
    ys = [tensor for tensor in results if tensor.requires_grad]
    xs = [tensor for tensor in leaves if tensor.requires_grad and tensor.node is None]
    if not ys or not xs:
        return None
    kept = [tensor.gradient for tensor in xs]
    for tensor in xs:
        tensor.gradient = None
    try:
        backward_of(ys, [Tensor(np.ones_like(tensor.array)) for tensor in ys], inputs=xs)
        found = (x for x in xs if x.grad is not None and not np.isfinite(x.grad.array).all())
        return next((explain(x) for x in found), None)
    finally:
        for tensor, gradient in zip(xs, kept, strict=True):
            tensor.gradient = gradient
