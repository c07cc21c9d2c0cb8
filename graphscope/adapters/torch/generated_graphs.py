"""The graphs that `torch.compile` generates, as a log tells of them: each call with its name and line.

What is read here outlives the graph and holds nothing of the program: names, numbers and lines.
"""

from __future__ import annotations

import linecache
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any, Final, cast

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from graphscope.adapters.torch.calls import Call
from graphscope.adapters.torch.describing import describe
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.supported_versions import unseen
from graphscope.eventlog import arguments
from graphscope.eventlog.places import Line, line_number
from graphscope.eventlog.syntax_trees import module_tree
from graphscope.eventlog.writer import Writer

_FRAME: Final = re.compile(r'File "(.+?)", line (\d+), in (.+)\n    (.*)(?:\n    ( *[~^]+))?')
"""A frame of a traceback: file, line and function; the text of the line, and what is marked of it."""
_TORCH: Final = torch.__path__[0]
with unseen():
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
    line: Line | None
    """The line of the program; None where it is not known."""

    def entry(self, writer: Writer) -> dict[str, Any]:
        """What a log says of it."""
        told: dict[str, Any] = {"name": self.name, **self.given}
        if self.op:
            told |= {"op": self.op, "function": self.function, "of": [*self.inputs]}
        if self.shape is not None:
            told |= {"shape": [*self.shape], "dtype": self.dtype}
        if self.line is not None:
            told["site"] = line_number(writer, self.line)
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
        return GeneratedCall(name, op, "", others, {}, shape, dtype, program_line(node))
    inputs: list[Node] = []
    map_arg((node.args, node.kwargs), inputs.append)
    args, kwargs = map_arg((node.args, node.kwargs), lambda each: _STAND_IN)
    about = Call(function, 0)
    return GeneratedCall(
        name, about.name, about.function, tuple(places[each] for each in inputs),
        arguments.entry(*describe(about, args, kwargs)), shape, dtype, program_line(node),
    )  # fmt: skip


def _function(node: Node) -> Callable[..., Any] | None:
    """The function of a call, as a program would have called it."""
    if node.op == "call_method":
        return getattr(torch.Tensor, str(node.target), None)
    function: Any = node.target
    if node.op != "call_function":
        return None
    name = getattr(function, "__name__", "")
    if getattr(operator, name, None) is function and any(map(_gives_tensor, node.all_input_nodes)):
        function = getattr(torch.Tensor, f"__{name.strip('_')}__", function)
    return cast("Callable[..., Any]", function)


def _gives_tensor(node: Node) -> bool:
    """Whether it is no number: of sizes that the compiler leaves open, Python's own operators compute others."""
    return isinstance(node.meta.get("example_value", node.meta.get("val")), (torch.Tensor, tuple, list))


def program_line(node: Node) -> Line | None:
    """The innermost line of the program that a node is of; None where that is not known."""
    found = _frame_of(node)
    if found is None:
        return None
    file, number, function, text, marks = found
    if not marks and _frame_of(node.next) != found:
        marks = _value_of(text)
    if not marks:
        return Line(file, int(number), function)
    indent = len(linecache.getline(file, int(number)).partition(text)[0].encode())
    start, end = len(marks) - len(marks.lstrip()), len(marks)
    return Line(file, int(number), function, *(indent + len(text[:place].encode()) for place in (start, end)))


def _frame_of(node: Node) -> tuple[str, ...] | None:
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    return next((each for each in reversed(frames) if not each[0].startswith(_TORCH)), None)


def _value_of(text: str) -> str:
    """The value that a line gives a name, marked below it: what the last call of the line makes."""
    try:
        value = getattr(module_tree(text).body[0], "value", None)
    except (SyntaxError, IndexError):
        return ""
    return "" if value is None else (" " * value.col_offset).ljust(value.end_col_offset, "^")


def line_of_frame(frame: FrameType) -> Line | None:
    """The line of the program that a frame of a `GraphModule` is at; None of others."""
    code = frame.f_code
    if not code.co_filename.startswith("<eval_with_key>"):
        return None
    module = frame.f_locals.get("self")
    places = getattr(module, "_lineno_map", None) or {}
    place = places.get(frame.f_lineno - code.co_firstlineno)
    if place is None or not isinstance(module, GraphModule):
        return None
    return program_line(next(islice(module.graph.nodes, place, None)))
