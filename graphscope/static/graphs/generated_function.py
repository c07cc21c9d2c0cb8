"""A graph as one Python function of tensors, for graphs that run again and again while no log looks on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any

from graphscope.engine.core.op import OPS
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.op_calls import is_plain

Compute = Callable[[Node, Sequence[Any]], Sequence[Any]]


class GeneratedFunction:
    """A function that calls the op of each node, one a line; gradients and errors are those of the ops.

    Args:
        graph: The graph; what it gives are its outputs.
        nodes: Those that it takes, in order, but for its inputs.
        compute: Runs a node that is no plain call of an op.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node], compute: Compute) -> None:
        self._nodes = nodes
        self._space: dict[str, Any] = {"compute": compute}
        self._names = {value: f"v{place}" for place, value in enumerate(graph.inputs)}
        inputs = self._listed(graph.inputs)
        lines = [f"def run({inputs}):", *(f"    {self._line(node)}" for node in nodes)]
        source = "\n".join([*lines, f"    return [{self._listed(graph.outputs)}]\n"])
        exec(compile(source, f"<graph {graph.name}>", "exec"), self._space)  # noqa: S102 - the text above
        self._run = self._space["run"]
        self._code: CodeType = self._run.__code__

    def __call__(self, tensors: Iterable[Any]) -> list[Any]:
        """Run it: tensors for the inputs, to those of the outputs. An error bears the node that failed."""
        try:
            return self._run(*tensors)  # type: ignore[no-any-return]
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            trace = error.__traceback__
            while trace is not None and not hasattr(error, "node_that_failed"):
                if trace.tb_frame.f_code is self._code and trace.tb_lineno > 1:
                    error.node_that_failed = self._nodes[trace.tb_lineno - 2]  # type: ignore[union-attr]
                trace = trace.tb_next
            raise

    def _line(self, node: Node) -> str:
        given = self._listed(node.inputs)
        for value in node.outputs:
            self._names[value] = f"v{len(self._names)}"
        outs = self._listed(node.outputs)
        if is_plain(node):
            return f"{outs} = {self._named(OPS[node.op].call)}({given})"
        call = f"compute({self._named(node)}, [{given}])"
        return f"{outs}, = {call}" if outs else call

    def _listed(self, values: Iterable[Any]) -> str:
        return ", ".join(map(self._called, values))

    def _called(self, value: Any) -> str:
        if isinstance(value, Value):
            return self._names[value]
        plain = value is None or type(value) in (bool, int) or (type(value) is float and math.isfinite(value))
        return repr(value) if plain else self._named(value)

    def _named(self, what: Any) -> str:
        name = f"k{len(self._space)}"
        self._space[name] = what
        return name
