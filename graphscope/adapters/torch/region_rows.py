"""A compiled region: what is known of the graph that it was made of, and the rows of one run of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, cast

import torch

from graphscope.adapters.torch import control, generated_graphs, results, writing
from graphscope.adapters.torch.calls import KEY_SHIFT, Call
from graphscope.adapters.torch.compiler_events import function_of_code
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.generated_graphs import GeneratedGraph
from graphscope.adapters.torch.known_tensors import version_of
from graphscope.adapters.torch.random_states import DRAWING
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.writer import Writer

_STEP: Final = re.compile(r"\['([^']*)'\]|\.(\w+)")
_MODULES: Final = frozenset({"self", "fn"})
_HELD: Final = frozenset({"_modules", "_parameters", "_buffers", "_orig_mod"})
"""Where modules hold what is in them, in the compiler's words for where a value is from."""


class Region:
    """A graph that was compiled.

    Args:
        name: What the program calls the function that it is of.
        sources: Where its arguments come from.
        whole: Whether it is all that the function computes.
        forward: What it computes.
    """

    function: Callable[..., Any]

    def __init__(self, name: str, sources: list[str], whole: bool, forward: GeneratedGraph) -> None:
        self.whole = whole
        self.__name__ = f"compiled_{name}"
        self.__doc__ = f"What torch.compile made of {name}."
        self.compilation = str(torch._guards.CompileContext.current_compile_id() or "")
        self.sources = sources
        self.forward = forward
        self.backward: GeneratedGraph | None = None


class RegionCall(Call):
    """A region as a function that a session knows."""

    __slots__ = ("_region", "_writer")

    def __init__(self, region: Region, number: int, writer: Writer) -> None:
        super().__init__(cast("Callable[..., Any]", region), number)
        self.function = f"torch.compile {number}"
        self.in_place = self.aliasing = self.ignored = self.gradient = False
        self._region = region
        self._writer = writer

    def describe(self, *given: Any) -> dict[str, Any]:
        """Its entry among the ops, with the graphs that were generated."""
        region, writer = self._region, self._writer
        generated: dict[str, Any] = {"compilation": region.compilation, "forward": region.forward.entry(writer)}
        if region.backward is not None:
            generated["backward"] = region.backward.entry(writer)
        return {**super().describe(*given), "generated": generated}


class RegionRows:
    """The rows of one run of a region."""

    def __init__(self, session: Session, region: Region, frame: FrameType) -> None:
        self.session = session
        self._region = region
        self._frame = frame
        self._calls = session.places.here.calls or session.make_calls()
        self._call = session.calls.get(region) or self._new_call()
        self._rows: list[int] = []
        self._constants: list[Any] = []
        self._given: list[tuple[torch.Tensor, int]] = []

    def _new_call(self) -> Call:
        session, region = self.session, self._region
        number = session.new_call(region).key >> KEY_SHIFT
        session.calls[region] = call = RegionCall(region, number, session.writer)
        return call

    @guarded
    def before(self, args: Any) -> None:
        """Find out what it is given."""
        names = self.session.leaves.names
        for value, source in zip(args, self._region.sources, strict=False):
            if isinstance(value, torch.Tensor) and source and names.of(value) is None:
                names.note(value, source)
        for place, value in enumerate(args):
            self._calls.gather(place, value, self._frame, self._rows, self._constants)
        self._given = [(each, version_of(each)) for each in args if isinstance(each, torch.Tensor)]
        if self.session.writer.policy == "full" and any(each.op in DRAWING for each in self._region.forward.calls):
            self.session.random_states.note()
        gate = self.session.writer.gate
        if gate is not None and gate.wants_before:
            control.before(self.session, self._call, self._rows, self._frame)

    @guarded
    def after(self, result: Any, start: int, end: int) -> None:
        """Append the row of what it returned, and one for each tensor that it wrote to."""
        calls, call, rows, constants, frame = self._calls, self._call, self._rows, self._constants, self._frame
        for tensor, version in self._given:
            if version_of(tensor) != version:
                writing.written(calls, call, tensor, (), {"out": tensor}, rows, constants, frame, start, end)
        find = self.session.identities.find
        outputs = [each for each in flattened(result) if isinstance(each, torch.Tensor) and find(each) is None]
        if outputs:
            results.made(calls, call, outputs, (), {}, rows, constants, frame, start, end)

    def failed(self, error: Exception) -> None:
        """It raised."""
        self._calls._failed(self._call, self._frame, self._rows, error)


def region_of(output: Any, graph: Any) -> Region:
    """What is known of a graph that is to be compiled."""
    broken = getattr(output.compile_subgraph_reason, "graph_break", True)
    sources = [_source(each) for each in graph.graph.nodes if each.op == "placeholder"]
    return Region(_name(output.root_tx), sources, not broken, generated_graphs.read(graph.graph, sources))


def _name(translator: Any) -> str:
    """What the program calls the function that a region is of; a module's, by its class."""
    code = translator.f_code
    if code.co_filename.startswith(torch.__path__[0]):
        module = next((each for each in translator.f_locals.values() if isinstance(each, torch.nn.Module)), None)
        return code.co_name if module is None else type(module).__name__
    return function_of_code(code.co_qualname.rpartition("<locals>.")[2]).removesuffix(".forward")


def _source(placeholder: Any) -> str:
    """Where in the program an argument of a region is from, as a dotted path; "" where that is not known."""
    source = getattr(placeholder.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", "")
    steps = [first or second for first, second in _STEP.findall(name() if callable(name) else name)]
    path = [step for step in steps if step not in _HELD]
    if len(path) == 2 and path[0] not in _MODULES:
        return ".".join(path)  # a layer that stands alone lends its name
    return ".".join(path[1:] or [each for each in path if each != "args"])
