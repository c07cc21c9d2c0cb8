"""The nodes of TorchScript graphs, run one by one from Python, each at its own line of the program."""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Final, NamedTuple

import torch


class Place(NamedTuple):
    """A line of the program, and the name of the function that it is in."""

    file: str
    line: int
    column: int
    function: str


Enter = Callable[[Any, FrameType], AbstractContextManager[None]]
"""The scope of a module that is called, where a frame is."""


class Step:
    """A node, read once to run often."""

    def __init__(self, node: Any, function: str) -> None:
        self.node = node
        self.kind: str = node.kind()
        self.inputs = _names(node.inputs())
        self.outputs = _names(node.outputs())
        self.blocks = [Block(each, function) for each in node.blocks()]
        self.at = _at(place_of(node, function))
        self.do = _STRUCTURE.get(self.kind) or (_of_list if self.kind in _PYTHON else _op)
        self.name: str = node.s("name") if node.hasAttribute("name") else ""

    @functools.cached_property
    def op(self) -> Callable[..., Any]:
        """The op of ATen, or of another library, that it calls."""
        library, _, name = self.kind.partition("::")
        return getattr(getattr(torch.ops, library), name)  # type: ignore[no-any-return]

    @functools.cached_property
    def by_name(self) -> list[str]:
        """The names of its last inputs, which the op takes by name alone."""
        return [each.name for each in torch._C.parse_schema(self.node.schema()).arguments if each.kwarg_only]

    @functools.cached_property
    def called(self) -> Any:
        """The function that it calls."""
        return _function(self.node)

    @functools.cached_property
    def constant(self) -> Any:
        """What it gives in each run."""
        output = next(self.node.outputs())
        return None if output.type().kind() in ("NoneType", "FunctionType") else output.toIValue()


class Block:
    """A graph, or a body of a node, with its steps in order."""

    def __init__(self, block: Any, function: str) -> None:
        self.graph = block
        self.inputs = _names(block.inputs())
        self.steps = [Step(node, function) for node in block.nodes()]
        end = block.return_node() if hasattr(block, "return_node") else None
        self.outputs = _names(end.inputs() if end is not None else block.outputs())


def _names(values: Any) -> list[str]:
    return [each.debugName() for each in values]


class Blocks:
    """Graphs of functions, each read once."""

    def __init__(self) -> None:
        self._read: dict[int, Block] = {}
        """By the `id` of the graph, which is held by what was read of it."""

    def of(self, graph: Any, function: str) -> Block:
        """A graph of a function, read."""
        found = self._read.get(id(graph))
        if found is None:
            found = self._read[id(graph)] = Block(graph, function)
        return found


class Call:
    """A call of a function or a method: its values so far, by their names in the graph.

    Args:
        blocks: The graphs of functions that it calls.
        enter: Gives the scopes of modules that it calls.
    """

    def __init__(self, blocks: Blocks, enter: Enter) -> None:
        self.blocks, self.enter = blocks, enter
        self.values: dict[str, Any] = {}

    def run(self, block: Block, arguments: Sequence[Any]) -> Any:
        """What a graph gives for these arguments."""
        self.values.update(zip(block.inputs, arguments, strict=True))
        found = self.block(block)
        return found[0] if len(found) == 1 else tuple(found)

    def other(self, graph: Any, arguments: Sequence[Any], name: str) -> Any:
        """What another function gives, which this one calls."""
        return Call(self.blocks, self.enter).run(self.blocks.of(graph, name), arguments)

    def block(self, block: Block) -> list[Any]:
        """What a body gives, in which the values are known that it begins with."""
        values = self.values
        for step in block.steps:
            found = step.at(step.do, self, step, [values[name] for name in step.inputs])
            values.update(zip(step.outputs, [found] if len(step.outputs) == 1 else found or (), strict=True))
        return [values[name] for name in block.outputs]


def _op(call: Call, step: Step, inputs: list[Any]) -> Any:
    operands = inputs[: len(inputs) - len(step.by_name)]
    return step.op(*operands, **dict(zip(step.by_name, inputs[len(operands) :], strict=True)))


def _of_list(call: Call, step: Step, inputs: list[Any]) -> Any:
    is_own = isinstance(inputs[0], list | tuple | dict | str)
    return _PYTHON[step.kind](*inputs) if is_own else _op(call, step, inputs)


def unknown(block: Any) -> Iterator[str]:
    """The kinds of nodes that a graph has and that can't run here."""
    for node in block.nodes():
        kind, schema = node.kind(), node.schema()
        if kind == "prim::TupleConstruct" and not next(node.outputs()).type().annotation_str.startswith("Tuple["):
            yield "a named tuple"
        elif kind not in _STRUCTURE and kind not in _PYTHON:
            if schema == "(no schema)" or _WRITES_LIST.search(schema):
                yield kind
        elif kind == "prim::CallFunction" and _function(node) is not None:
            yield from unknown(_function(node).graph)
        for inner in node.blocks():
            yield from unknown(inner)


_WRITES_LIST: Final = re.compile(r"(?:\]|Dict\([^)]*\))\([a-z]!")
"""An op that writes into a list or a dict, of which it would be given a copy."""
_RANGE: Final = re.compile(r"# ([^#\n]*?):(\d+):(\d+)\s*$")


def place_of(node: Any, function: str) -> Place | None:
    """Where in the program a node is from; None where TorchScript does not say."""
    found = _RANGE.search(str(node).partition("\n")[0])
    return None if found is None else Place(found[1].strip(), int(found[2]), int(found[3]), function)


@functools.lru_cache(1 << 14)
def _at(place: Place | None) -> Callable[..., Any]:
    """A function that calls another at a line of the program, where those who look at frames find it."""
    if place is None:
        return lambda call, *given: call(*given)
    tree = ast.parse("lambda call, *given: call(*given)", mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.arg):
            node.lineno = node.end_lineno = place.line
            node.col_offset = node.end_col_offset = place.column
    made = eval(compile(tree, place.file, "eval"), {"__builtins__": {}})  # noqa: S307 - the text above
    made.__code__ = made.__code__.replace(co_name=place.function, co_qualname=place.function)
    return made  # type: ignore[no-any-return]


# Nodes that are no ops ------------------------------------------------------------------------------------------------


def _function(node: Any) -> Any:
    name = next(node.inputs()).type().annotation_str
    return torch.jit._state._python_cu.find_function(name)


def _call_function(call: Call, step: Step, inputs: list[Any]) -> Any:
    return call.other(step.called.graph, inputs[1:], step.called.name)


def _call_method(call: Call, step: Step, inputs: list[Any]) -> Any:
    graph = inputs[0]._c._get_method(step.name).graph
    if step.name != "forward":
        return call.other(graph, inputs, step.name)
    with call.enter(inputs[0], sys._getframe(1)):
        return call.other(graph, inputs, step.name)


def _either(call: Call, step: Step, inputs: list[Any]) -> Any:
    found = call.block(step.blocks[0 if inputs[0] else 1])
    return found[0] if len(step.outputs) == 1 else found


def _loop(call: Call, step: Step, inputs: list[Any]) -> Any:
    (body,) = step.blocks
    most, going, *state = inputs
    turn = 0
    while going and turn < most:
        call.values.update(zip(body.inputs, [turn, *state], strict=True))
        going, *state = call.block(body)
        turn += 1
    return state[0] if len(step.outputs) == 1 else state


def _raise(call: Call, step: Step, inputs: list[Any]) -> Any:
    raise torch.jit.Error(f"The following operation failed in the TorchScript interpreter.\n{inputs[0]}")


def _unpacked(step: Step, values: Any) -> Any:
    return values[0] if len(step.outputs) == 1 else values


_STRUCTURE: Final[dict[str, Callable[[Call, Step, list[Any]], Any]]] = {
    "prim::Constant": lambda call, step, inputs: step.constant,
    "prim::GetAttr": lambda call, step, inputs: getattr(inputs[0], step.name),
    "prim::SetAttr": lambda call, step, inputs: setattr(inputs[0], step.name, inputs[1]),
    "prim::CallFunction": _call_function,
    "prim::CallMethod": _call_method,
    "prim::If": _either,
    "prim::Loop": _loop,
    "prim::ListConstruct": lambda call, step, inputs: list(inputs),
    "prim::TupleConstruct": lambda call, step, inputs: tuple(inputs),
    "prim::DictConstruct": lambda call, step, inputs: dict(zip(inputs[::2], inputs[1::2], strict=True)),
    "prim::TupleUnpack": lambda call, step, inputs: _unpacked(step, inputs[0]),
    "prim::ListUnpack": lambda call, step, inputs: _unpacked(step, inputs[0]),
    "prim::TupleIndex": lambda call, step, inputs: inputs[0][inputs[1]],
    "prim::unchecked_cast": lambda call, step, inputs: inputs[0],
    "prim::Uninitialized": lambda call, step, inputs: None,
    "prim::RaiseException": _raise,
}

_PYTHON: Final[dict[str, Callable[..., Any]]] = {
    "aten::__getitem__": lambda values, place: values[place],
    "aten::_set_item": lambda values, place, value: values.__setitem__(place, value),
    "aten::__contains__": lambda values, value: value in values,
    "aten::append": lambda values, value: (values.append(value), values)[1],
    "aten::extend": lambda values, others: values.extend(others),
    "aten::insert": lambda values, place, value: values.insert(place, value),
    "aten::pop": lambda values, *place: values.pop(*place),
    "aten::clear": lambda values: values.clear(),
    "aten::reverse": lambda values: values.reverse(),
    "aten::len": len,
    "aten::keys": lambda values: [*values],
    "aten::values": lambda values: [*values.values()],
    "aten::items": lambda values: [*values.items()],
}
"""What is done with a list, a dict or a text itself; TorchScript would be given a copy by Python."""
