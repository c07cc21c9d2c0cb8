"""A graph as one Python function of tensors, for graphs that run again and again while no log looks on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from types import CodeType
from typing import Any, Final

import numpy as np

from graphscope.engine.core.op import OPS, arity
from graphscope.engine.core.slots import apply_several
from graphscope.engine.core.tensor import Tensor, apply
from graphscope.static.graphs.graph import Graph, Node, Value
from graphscope.static.graphs.node_kinds import KINDS

Compute = Callable[[Node, Sequence[Any]], Sequence[Any]]

_COUNTING: Final = {"add": "+", "sub": "-", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
"""What loops do with their counters, which need none of the rules for dtypes and gradients."""


def _counts(value: Any) -> bool:
    return value.shape == () and value.dtype == np.int64 if isinstance(value, Value) else type(value) is int


class GeneratedFunction:
    """A function that calls the op of each node, one a line; gradients and errors are those of the ops.

    Args:
        graph: The graph; what it gives are its outputs.
        nodes: Those that it takes, in order, but for its inputs.
        compute: Runs a node that is no plain call of an op.
    """

    def __init__(self, graph: Graph, nodes: Sequence[Node], compute: Compute) -> None:
        self._nodes = nodes
        self._space: dict[str, Any] = {
            "apply": apply, "apply_several": apply_several, "compute": compute, "Tensor": Tensor, "shape": np.shape
        }  # fmt: skip
        self._numbers = itertools.count()
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
        op = OPS.get(node.op)
        several, attrs = True, node.attributes
        if node.op in _COUNTING and all(map(_counts, node.inputs)):
            one, other = (f"{self._called(v)}.array" if isinstance(v, Value) else repr(v) for v in node.inputs)
            several, call = False, f"Tensor({one} {_COUNTING[node.op]} {other})"
        elif node.op == "constant":
            several, call = False, f"Tensor({self._named(attrs['value'])})"
        elif node.op == "variable":
            several, call = False, self._named(attrs["tensor"])
        elif node.op in KINDS or op is None or op.in_place:
            call = f"compute({self._named(node)}, [{self._listed(node.inputs)}])"
        elif attrs or op.prepare or op.several or any(each is None for each in node.inputs):
            inputs = list(node.inputs)
            while len(inputs) > arity(op) and inputs[-1] is None:
                inputs.pop()
            several = op.several
            words = self._named(attrs)
            if attrs.get("_from") is not None:
                words = f'{{**{words}, "_from": shape({self._called(inputs[0])}.array)}}'
            function = "apply_several" if several else "apply"
            call = f"{function}({self._named(op)}, [{self._listed(inputs)}], {words}, 1)"
        else:
            several = False
            call = f"{self._named(op.call)}({self._listed(node.inputs)})"
        for value in node.outputs:
            self._names[value] = f"v{len(self._names)}"
        outs = self._listed(node.outputs) + ("," if several else "")
        return f"{outs} = {call}" if node.outputs else call

    def _listed(self, values: Iterable[Any]) -> str:
        return ", ".join(map(self._called, values))

    def _called(self, value: Any) -> str:
        if isinstance(value, Value):
            return self._names[value]
        plain = value is None or type(value) in (bool, int) or (type(value) is float and math.isfinite(value))
        return repr(value) if plain else self._named(value)

    def _named(self, what: Any) -> str:
        name = f"k{next(self._numbers)}"
        self._space[name] = what
        return name
