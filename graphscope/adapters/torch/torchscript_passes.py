"""Tells a log what the passes of TorchScript make of a graph, where it was asked for: `graphscope record --passes`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import torch

from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.torchscript_nodes import place_of
from graphscope.eventlog import arguments, compilations
from graphscope.eventlog.places import Line, line_number
from graphscope.eventlog.writer import Writer

PASSES: Final[dict[str, str]] = {
    "inline": "Put what functions and methods compute in the place of their calls.",
    "dce": "Leave out nodes that no output needs.",
    "cse": "Keep one of several nodes that compute the same of the same.",
    "peephole": "Replace a few nodes by fewer that give the same.",
    "constant_propagation": "Compute at once what needs constants alone.",
    "constant_pooling": "Keep one of several constants that are the same.",
    "loop_unrolling": "Write out eight turns of a loop, one after the other.",
    "lower_all_tuples": "Hand on the parts of tuples in place of the tuples.",
    "batch_mm": "Make one product of several products of matrices.",
    "create_autodiff_subgraphs": "Gather nodes into groups that TorchScript differentiates itself.",
}
"""Passes of TorchScript by their names there, and what each does."""

ORDER: Final = (
    "inline", "dce", "cse", "peephole", "constant_propagation", "constant_pooling", "loop_unrolling", "peephole",
    "constant_propagation", "cse", "lower_all_tuples", "batch_mm", "create_autodiff_subgraphs",
)  # fmt: skip
"""About the order in which its executor runs them."""


def tell(writer: Writer, graph: Any, name: str) -> None:
    """Let the log have what each pass makes of the graph of a function."""
    copy = graph.copy()
    stages = [("before", "The graph as it was traced or scripted.", _Told(writer, copy).entry())]
    for each in ORDER:
        run = getattr(torch._C, f"_jit_pass_{each}", None)
        if run is not None:  # another version of torch may not have it
            run(copy)
            told = _Told(writer, copy)
            told.gather(stages[-1][2])
            stages.append((each, PASSES[each], told.entry()))
    number = len(writer.tables["compilations"].keys())
    writer.intern("compilations", number, compilations.entry(name, "TorchScript", stages))


class _Told:
    """The nodes of a graph as data, those of bodies ahead of the node that runs them."""

    def __init__(self, writer: Writer, graph: Any) -> None:
        self.writer = writer
        self.nodes: list[dict[str, Any]] = []
        self.groups: list[tuple[dict[str, Any], list[tuple[str, Any]]]] = []
        """Nodes with a graph inside, and the kind and place of each node in it."""
        self.places: dict[str, int] = {}
        self._given(graph.inputs(), [], "")
        self._add(graph, "")
        self.outputs = [self.places[each.debugName()] for each in graph.outputs() if each.debugName() in self.places]

    def entry(self) -> dict[str, Any]:
        """The graph as a log has it."""
        return {"nodes": self.nodes, "outputs": self.outputs}

    def gather(self, before: dict[str, Any]) -> None:
        """Say of the nodes with a graph inside of which nodes of the stage before they were made: of the first of the
        same kind and line that are gone.
        """
        names = {each["name"] for each in self.nodes}
        gone = [each for each in before["nodes"] if each["name"] not in names and each.get("op")]
        for node, inside in self.groups:
            made_of = []
            for kind, site in inside:
                found = next((each for each in gone if (each["op"], each.get("site")) == (kind, site)), None)
                if found is not None:
                    gone.remove(found)
                    made_of.append(found["name"])
            if made_of:
                node["origins"] = made_of

    def _given(self, values: Any, sources: Sequence[Any], block: str) -> None:
        """What a graph or a body is given."""
        for place, value in enumerate(values):
            of = self._known(sources[place : place + 1])
            self._append({"name": value.debugName(), "of": of, "block": block, **_type(value)}, [value])

    def _add(self, graph: Any, block: str) -> None:
        for node in graph.nodes():
            outputs = list(node.outputs())
            name = outputs[0].debugName() if outputs else f"{_plain(node)}_{len(self.nodes)}"
            given = list(node.inputs())
            of = self._known(given)
            for number, inner in enumerate(node.blocks()):
                inside = f"{block}/{name}" if block else name
                frame = f"{inside}/{'turn' if node.kind() == 'prim::Loop' else ('yes', 'no')[number]}"
                carried = [None, *given[2:]] if node.kind() == "prim::Loop" else []
                self._given(inner.inputs(), carried, frame)
                self._add(inner, frame)
                of += self._known(inner.outputs())
            told: dict[str, Any] = {"name": name, "op": _plain(node), "of": of, "block": block}
            told |= _type(outputs[0]) if outputs else {}
            if node.kind() == "prim::Constant":
                told |= arguments.entry([], {"value": _constant(node)})
            if site := self._site(node):
                told["site"] = site
            if node.hasAttribute("Subgraph"):
                inside = [(_plain(each), self._site(each)) for each in node.g("Subgraph").nodes()]
                self.groups.append((told, inside))
            self._append(told, outputs)

    def _append(self, told: dict[str, Any], values: Sequence[Any]) -> None:
        self.nodes.append(told)
        self.places |= {each.debugName(): len(self.nodes) - 1 for each in values}

    def _known(self, values: Any) -> list[int]:
        names = [each.debugName() for each in values if each is not None]
        return [self.places[name] for name in names if name in self.places]

    def _site(self, node: Any) -> int | None:
        place = place_of(node, "")
        return None if place is None else line_number(self.writer, Line(place.file, place.line, place.function))


def _plain(node: Any) -> str:
    return str(node.kind().partition("::")[2])


def _constant(node: Any) -> Any:
    output = next(node.outputs())
    if output.type().kind() in ("NoneType", "FunctionType"):
        return node.s("name") if node.hasAttribute("name") else None
    found = output.toIValue()
    return found.tolist() if isinstance(found, torch.Tensor) and found.numel() < 9 else found


def _type(value: Any) -> dict[str, Any]:
    """Shape and dtype of a value, where TorchScript knows them."""
    kind = value.type()
    if kind.kind() != "TensorType" or kind.sizes() is None or kind.dtype() is None:
        return {}
    return {"shape": list(kind.sizes()), "dtype": log_dtype(kind.dtype()).name}
