"""TorchScript modules as graphs: traced or scripted, with `if` and `while` on tensors as cond and while nodes."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.eventlog.names import Site
from graphscope.static.graphs.abstract import NeedsValueError
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.importing.aten import Table, dtype_of
from graphscope.static.importing.model import Examples, Model, call, example_of
from graphscope.static.sessions.control_flow import branch, loop
from graphscope.static.sessions.default_graph import Graph
from graphscope.static.sessions.functions import convert_to_tensor, placeholder

_RANGE: Final = re.compile(r"# (.+?):(\d+):(\d+)")
_SCOPE: Final = re.compile(r"::(\w+)")
_PYTHON: Final[dict[str, Any]] = {
    "aten::__getitem__": lambda x, place: x[place],
    "aten::len": len,
    "aten::Int": lambda x: x if isinstance(x, Symbol) else int(x),
    "aten::Float": lambda x: x if isinstance(x, Symbol) else float(x),
    "aten::Bool": lambda x: x if isinstance(x, Symbol) else bool(x),
    "aten::ScalarImplicit": lambda x: x,
    "aten::IntImplicit": lambda x: x,
    "aten::__is__": lambda x, y: x is y,
    "aten::__isnot__": lambda x, y: x is not y,
    "aten::__not__": lambda x: not x,
    "aten::floordiv": lambda x, y: x // y,
    "aten::dim": lambda x: x.ndim,
    "aten::device": lambda x: None,
    "prim::NumToTensor": lambda x: x,
    "prim::device": lambda x: None,
    "prim::dtype": lambda x: x.dtype,
    "prim::unchecked_cast": lambda x: x,
    "prim::TupleIndex": lambda x, place: x[place],
    "prim::min": min,
    "prim::max": max,
    "aten::append": lambda x, y: x.append(y) or x,
    "aten::warn": lambda *_: None,
    "prim::RaiseException": lambda *_: None,
}
"""What is done at once, on Python values."""


def load(file: Path) -> Any:
    """What torch reads."""
    import torch

    with warnings.catch_warnings():
        for kind in (DeprecationWarning, FutureWarning):  # since 2.14 it is the latter
            warnings.simplefilter("ignore", kind)  # that torch will read no such files some day
        read: Any = torch.jit.load
        return read(str(file), map_location="cpu")


def model_of(module: Any, examples: Examples | None = None) -> Model:
    """A TorchScript module, as it evaluates, as a graph.

    Raises:
        StaticError: An op can't be mapped.
    """
    import torch

    traced: Any = module.eval()
    graph = traced.graph.copy()
    torch._C._jit_pass_inline(graph)
    model = Model(Graph("torchscript"))
    reader = _Reader(model, traced)
    own, *inputs = graph.inputs()
    reader.values[own.debugName()] = ("module", traced, "")
    with model.graph.as_default():
        for value in inputs:
            kind = value.type()
            sizes = kind.sizes() if hasattr(kind, "sizes") else None
            dtype = dtype_of(kind.dtype()) if hasattr(kind, "dtype") and kind.dtype() is not None else None
            name = value.debugName().split(".")[0]
            shape, dtype = example_of(examples, name, sizes, dtype or np.dtype("float32"))
            symbol = placeholder(dtype, shape, name=name)
            reader.values[value.debugName()] = symbol
            model.inputs.append(symbol)
        try:
            found = reader.block(graph)
        except NeedsValueError as error:
            names = ", ".join(f"{symbol.name!r}: (1, 3, 224, 224)" for symbol in model.inputs)
            raise StaticError(
                f"the TorchScript module asks for a shape that its file does not hold: {error.message}",
                hint=f"give its inputs: `graphscope open --feed FILE.npz`, or load_model(path, {{{names}}})",
            ) from None
    outputs = found[0] if len(found) == 1 and isinstance(found[0], list | tuple) else found
    model.outputs = list(outputs)
    return model


class _Reader:
    """Goes through the nodes of a TorchScript graph in order; Python values are computed, tensors become nodes."""

    def __init__(self, model: Model, module: Any) -> None:
        self.model = model
        self.values: dict[str, Any] = {}
        self._table = Table()
        self._module = module

    def block(self, block: Any) -> list[Any]:
        """The outputs of a graph or block."""
        for node in block.nodes():
            found = self._node(node)
            outputs = list(node.outputs())
            if len(outputs) == 1:
                found = [found]
            for value, each in zip(outputs, found or (), strict=False):
                self.values[value.debugName()] = each
                self.model.named[value.debugName()] = each
        ends = block.return_node() if hasattr(block, "return_node") else None
        results = ends.inputs() if ends is not None else block.outputs()
        return [self.values[value.debugName()] for value in results]

    def _node(self, node: Any) -> Any:
        kind = node.kind()
        given = [self.values[value.debugName()] for value in node.inputs()]
        if kind in _STRUCTURE:
            return _STRUCTURE[kind](self, node, given)
        of_list = kind in ("aten::__getitem__", "aten::len", "aten::append")
        if kind in _PYTHON and (not _symbols(given) or isinstance(given[0], list | tuple) or not of_list):
            return _PYTHON[kind](*given)
        name = next(iter(node.outputs())).debugName().split(".")[0] if node.outputsSize() else ""
        plain = kind.split("::")[1]
        label = f"{plain}_{name}" if name.isdigit() else name
        with self.model.placed(label, _scope(node), _site(node)):
            return call(f"{name} of the TorchScript graph", self._table, kind, given, {})

    def attribute(self, node: Any, given: list[Any]) -> Any:
        """An attribute of a module: another module, a weight, or a number."""
        _, module, path = given[0]
        name = node.s("name")
        found = getattr(module, name)
        full = f"{path}.{name}" if path else name
        if hasattr(found, "detach"):
            return self.model.parameter(full, found.detach().cpu().numpy().copy())
        if hasattr(found, "named_children") or hasattr(found, "_c"):
            return ("module", found, full)
        return found

    def either(self, node: Any, given: list[Any]) -> Any:
        """`if`: at once where the condition is known, else a cond node."""
        yes, no = node.blocks()
        if not isinstance(given[0], Symbol):
            found = self.block(yes if given[0] else no)
        else:
            found = list(branch(given[0], lambda: self.block(yes), lambda: self.block(no)))
        return found if node.outputsSize() != 1 else found[0]

    def loop(self, node: Any, given: list[Any]) -> Any:
        """`for` and `while`: unrolled where the number of turns is known, else a while node."""
        (body,) = node.blocks()
        most, going, *variables = given
        names = [value.debugName() for value in body.inputs()]

        def turn(number: Any, state: list[Any]) -> list[Any]:
            self.values.update(zip(names, [number, *state], strict=True))
            return self.block(body)

        if not isinstance(going, Symbol) and most < (1 << 31):
            number = 0
            while going and number < most:
                going, *variables = turn(number, variables)
                number += 1
                if isinstance(going, Symbol):
                    raise StaticError(
                        "a loop of the TorchScript graph ends by a tensor and by a count",
                        hint="write it with one of the two",
                    )
        else:
            start = [convert_to_tensor(each) for each in variables]
            begun = going if isinstance(going, Symbol) else convert_to_tensor(np.bool_(going))
            _, _, *variables = loop(
                lambda go, *_: go,
                lambda go, number, *state: [*_first(turn(number, list(state)), number)],
                [begun, np.int64(0), *start],
            )
        return variables if node.outputsSize() != 1 else variables[0]


def _first(found: list[Any], number: Any) -> list[Any]:
    going, *state = found
    return [convert_to_tensor(np.bool_(going)) if isinstance(going, bool) else going, number + 1, *state]


def _constant(reader: _Reader, node: Any, given: list[Any]) -> Any:
    if node.outputsSize() and str(next(iter(node.outputs())).type()) == "NoneType":
        return None
    found = next(iter(node.outputs())).toIValue()
    if hasattr(found, "detach"):
        return convert_to_tensor(found.detach().cpu().numpy())
    return found


_STRUCTURE: Final[dict[str, Any]] = {
    "prim::Constant": _constant,
    "prim::GetAttr": _Reader.attribute,
    "prim::If": _Reader.either,
    "prim::Loop": _Reader.loop,
    "prim::ListConstruct": lambda reader, node, given: list(given),
    "prim::TupleConstruct": lambda reader, node, given: tuple(given),
    "prim::DictConstruct": lambda reader, node, given: dict(zip(given[::2], given[1::2], strict=True)),
    "prim::TupleUnpack": lambda reader, node, given: given[0] if node.outputsSize() != 1 else given[0][0],
    "prim::ListUnpack": lambda reader, node, given: given[0] if node.outputsSize() != 1 else given[0][0],
}
"""Nodes that are no ops."""


def _symbols(given: Any) -> list[Symbol]:
    if isinstance(given, Symbol):
        return [given]
    if isinstance(given, list | tuple):
        return [found for each in given for found in _symbols(each)]
    return []


def _scope(node: Any) -> str:
    names = _SCOPE.findall(node.scopeName())
    return "/".join(name for name in names if name)


def _site(node: Any) -> Site | None:
    found = _RANGE.search(str(node))
    if found is None:
        return None
    line = int(found[2])
    return Site(found[1].strip(), line, int(found[3]), line, int(found[3]), "")
