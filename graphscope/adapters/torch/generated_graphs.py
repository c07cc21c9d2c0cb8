"""The graphs that `torch.compile` generates, as a log tells of them: each call with its name and line.

What is read here outlives the graph and holds nothing of the program: names, numbers and lines.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import torch
from torch.fx import Graph, Node
from torch.fx.node import map_arg

from graphscope.adapters.torch.aten_ops import described_op
from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.describing import describe
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.eventlog import arguments
from graphscope.eventlog.places import line_number
from graphscope.eventlog.writer import Writer

_FRAME: Final = re.compile(r'File "(.+?)", line (\d+), in (.+)')
_TORCH: Final = torch.__path__[0]
_STAND_IN: Final = torch.empty(0)
"""Stands for a node of a graph among the arguments of a call."""
_PRIMAL: Final = re.compile(r"primals_(\d+)")


@dataclass(frozen=True, slots=True)
class GeneratedCall:
    """One node of a generated graph: a call, or (without an op) what the graph is given."""

    name: str
    op: str
    function: str
    inputs: tuple[int, ...]
    """The nodes of the graph that it is given, by their places."""
    given: dict[str, Any]
    """Operands and attributes, as the table `attrs` has them."""
    shape: tuple[int | str, ...] | None
    """Sizes that the compiler leaves open by its names for them; None where it gives no tensor."""
    dtype: str
    place: tuple[str, int, str]
    """File, line and function of the program; empty where no line is known."""

    def entry(self, writer: Writer) -> dict[str, Any]:
        """What a log says of it."""
        told: dict[str, Any] = {"name": self.name, **self.given}
        if self.op:
            told |= {"op": self.op, "function": self.function, "of": [*self.inputs]}
        if self.shape is not None:
            told |= {"shape": [*self.shape], "dtype": self.dtype}
        if self.place[0]:
            told["site"] = line_number(writer, *self.place)
        return told


@dataclass(frozen=True, slots=True)
class GeneratedGraph:
    """A graph that the compiler generated."""

    calls: tuple[GeneratedCall, ...]
    outputs: tuple[int, ...]
    """The nodes that it returns, by their places."""

    def entry(self, writer: Writer) -> dict[str, Any]:
        """What a log says of it."""
        return {"nodes": [each.entry(writer) for each in self.calls], "outputs": [*self.outputs]}


def read(graph: Graph, sources: Sequence[str] = ()) -> GeneratedGraph:
    """What a graph computes.

    Args:
        graph: The graph.
        sources: Where in the program the arguments of the region are from.
    """
    places: dict[Node, int] = {}
    calls: list[GeneratedCall] = []
    outputs: list[int] = []
    for node in graph.nodes:
        if node.op == "output":
            outputs = [places[each] for each in node.all_input_nodes]
            continue
        given = len(calls) if node.op == "placeholder" else None
        places[node] = len(calls)
        calls.append(_call(node, places, _name(node, given, sources)))
    return GeneratedGraph(tuple(calls), tuple(outputs))


def _name(node: Node, given: int | None, sources: Sequence[str]) -> str:
    """What the program calls a node; a backward graph has the arguments of the forward one by numbers."""
    primal = _PRIMAL.fullmatch(node.name)
    place = int(primal[1]) - 1 if primal else given if node.name[:2] in ("l_", "L_") else None
    known = place is not None and place < len(sources) and sources[place]
    return known or node.name


def _call(node: Node, places: dict[Node, int], name: str) -> GeneratedCall:
    value = node.meta.get("example_value", node.meta.get("val"))
    shape, dtype = None, ""
    if isinstance(value, torch.Tensor):
        shape = tuple(each if each.__class__ is int else str(each) for each in value.shape)
        dtype = str(log_dtype(value.dtype).name)
    function = _function(node)
    if function is None:
        op = "" if node.op in ("placeholder", "get_attr") else str(node.target)
        others = tuple(places[each] for each in node.all_input_nodes)
        return GeneratedCall(name, op, "", others, {}, shape, dtype, _place(node))
    inputs: list[Node] = []
    map_arg((node.args, node.kwargs), inputs.append)
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: _STAND_IN)
    about = Call(function, 0)
    if isinstance(function, torch._ops.OpOverload):
        described_op(about, function)
    return GeneratedCall(
        name, about.name, about.function, tuple(places[each] for each in inputs),
        arguments.entry(*describe(about, args, kwargs)), shape, dtype, _place(node),
    )  # fmt: skip


def _function(node: Node) -> Callable[..., Any] | None:
    """The function of a call, as a program would have called it."""
    if node.op == "call_method":
        return getattr(torch.Tensor, str(node.target), None)
    function: Any = node.target
    if node.op != "call_function":
        return None
    name = getattr(function, "__name__", "")
    if getattr(operator, name, None) is function:
        function = getattr(torch.Tensor, f"__{name.strip('_')}__", function)
    return cast("Callable[..., Any]", function)


def _place(node: Node) -> tuple[str, int, str]:
    """The innermost line of the program that a node is of."""
    for file, line, function in reversed(_FRAME.findall(node.meta.get("stack_trace") or "")):
        if not file.startswith(_TORCH):
            return file, int(line), function
    return "", 0, ""
