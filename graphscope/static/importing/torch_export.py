"""Programs of `torch.export` as graphs: each ATen call at the line of the module that made it."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.eventlog.names import Site
from graphscope.static.importing.aten import Table, dtype_of
from graphscope.static.importing.model import Examples, Model, call
from graphscope.static.sessions.default_graph import Graph
from graphscope.static.sessions.functions import placeholder

_FRAME: Final = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


def load(file: Path) -> Any:
    """What torch reads."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what some versions of torch say of their own reading
        return torch.export.load(str(file))


def model_of(program: Any, examples: Examples | None = None) -> Model:
    """A `torch.export.ExportedProgram` as a graph.

    Raises:
        StaticError: An op can't be mapped.
    """
    graph = Graph("exported")
    model = Model(graph)
    found: dict[Any, Any] = {}
    table = Table()
    specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
    with graph.as_default():
        for node in program.graph.nodes:
            if node.op == "placeholder":
                found[node] = _input(model, program, node, specs[node.name])
            elif node.op == "call_function":
                where = f"{node.name} of the program"
                with model.placed(node.name, _scope(node), _site(node)):
                    if getattr(node.target, "__name__", "") == "getitem":
                        found[node] = found[node.args[0]][node.args[1]]
                    else:
                        args, kwargs = _given(node.args, found), _given(node.kwargs, found)
                        name = node.target.__name__ if not hasattr(node.target, "_schema") else node.target._schema.name
                        found[node] = call(where, table, name, args, kwargs)
            elif node.op == "get_attr":
                found[node] = model.parameter(node.target, _array(_attribute(program.graph_module, node.target)))
            elif node.op == "output":
                wanted = {spec.arg.name for spec in program.graph_signature.output_specs if "USER" in spec.kind.name}
                model.outputs = [found[each] for each in node.args[0] if getattr(each, "name", "") in wanted]
            model.named[node.name] = found.get(node)
    return model


def _input(model: Model, program: Any, node: Any, spec: Any) -> Any:
    value = node.meta.get("val")
    if spec.kind.name == "USER_INPUT":
        if not hasattr(value, "shape"):
            return value
        shape = [size if isinstance(size, int) else None for size in value.shape]
        symbol = placeholder(dtype_of(value.dtype), shape, name=node.name)
        model.inputs.append(symbol)
        return symbol
    held = program.state_dict.get(spec.target)
    held = program.constants.get(spec.target) if held is None else held
    return model.parameter(spec.target, _array(held))


def _given(thing: Any, found: dict[Any, Any]) -> Any:
    if isinstance(thing, dict):
        return {key: _given(value, found) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_given(each, found) for each in thing]
    return found[thing] if type(thing).__name__ == "Node" else thing


def _array(tensor: Any) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().numpy()
    return array.copy()


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def _scope(node: Any) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    path = str(stack[-1][0]) if stack else ""
    return re.sub(r"^L\['self'\]\.?", "", path).replace(".", "/")


def _site(node: Any) -> Site | None:
    frames = _FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if "/torch/" not in frame[0].replace("\\", "/")] or frames
    if not own:
        return None
    file, line, function = own[-1]
    return Site(file, int(line), 0, int(line), 0, function)
