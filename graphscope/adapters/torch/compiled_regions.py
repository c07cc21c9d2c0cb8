"""`torch.compile` with what it made kept: a compiled region is a node, and what runs between regions is seen as ever.

Its compiler is to see torch as it is written, and none of our mode; its guards expect our mode wherever it was active.
So it makes the regions that it makes without us, and compiles nothing again because of us.
"""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from sys import _getframe
from types import FrameType
from typing import Any, Final, cast

import torch

from graphscope.adapters.torch import control, generated_graphs, results, writing
from graphscope.adapters.torch.calls import KEY_SHIFT, Call
from graphscope.adapters.torch.compiler_events import CompilerEvents, function_of_code
from graphscope.adapters.torch.compiling import Compiling
from graphscope.adapters.torch.describing import flattened
from graphscope.adapters.torch.forward import MODES
from graphscope.adapters.torch.generated_graphs import GeneratedGraph
from graphscope.adapters.torch.known_tensors import version_of
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.recorder_errors import Evaluation, guarded
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.writer import Writer

_STEP: Final = re.compile(r"\['([^']*)'\]|\.(\w+)")
_MODULES: Final = frozenset({"self", "fn"})
_HELD: Final = frozenset({"_modules", "_parameters", "_buffers", "_orig_mod"})
"""Where modules hold what is in them, in the compiler's words for where a value is from."""


class Regions(Compiling):
    """Follows the regions that the compiler of torch makes (its names are private)."""

    _hint = "from PyTorch 2.6 on it can be kept"

    def rest(self) -> None:
        """Let the compiler's regions be seen, once it is in memory."""
        if _Here.regions is self or self._stance is not None:
            return
        try:
            with self._patches.aside():
                graph = import_module("torch._dynamo.output_graph").OutputGraph
                state = import_module("torch._dynamo.variables.torch_function").SymbolicTorchFunctionState
                handler = import_module("torch._dynamo.callback").CompilationCallbackHandler
                turn = import_module("torch._C._dynamo.eval_frame").set_eval_frame
                _leave_us_out()
                parted = [*_partitions()]
            makes, begins = graph.__dict__["call_user_compiler"], handler.__dict__["install_callbacks"]
        except (ImportError, AttributeError, KeyError):  # a version whose compiler is another one
            super().rest()
            return
        replace = functools.partial(self._patches.replace, always=True)
        replace(graph, "call_user_compiler", _kept(makes))
        replace(state, "__init__", _without_ours(state.__init__))
        node = torch.autograd.function.BackwardCFunction
        for name in ("apply", "apply_boxed"):
            if name in node.__dict__:
                replace(node, name, self._opaque(node.__dict__[name]))
        replace(handler, "install_callbacks", self._undressed(begins))
        for module, name, value in (*CompilerEvents(self.session).entries(), *parted):
            replace(module, name, value)
        _Here.regions = self
        Evaluation.turn = turn

    def tell(self) -> None:
        """Nothing is other than the program has it."""
        if self._stance is not None:
            super().tell()

    def resume(self) -> None:
        """See no more of them."""
        super().resume()
        if _Here.regions is self:
            _Here.regions = Evaluation.turn = None

    def _undressed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What the compiler enters while it looks at code: with torch as it is written. `torch._dynamo.reset` forgets
        its callbacks, but not this.
        """

        @contextlib.contextmanager
        def install_callbacks(*args: Any, **kwargs: Any) -> Iterator[None]:
            with self._patches.aside(), original(*args, **kwargs):
                yield

        return install_callbacks

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """With nothing recorded of what this thread runs."""
        place = self.session.places.here
        busy, place.busy = place.busy, True
        try:
            with aside(self.session):
                yield
        finally:
            place.busy = busy

    def _opaque(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What runs a backward node of Python's: a compiled one computes what no row tells of."""

        @functools.wraps(original)
        def apply(node: Any, *args: Any) -> Any:
            if not node._forward_cls.__module__.startswith("torch._functorch") or self.session.ended:
                return original(node, *args)
            with self.alone():
                return original(node, *args)

        return apply

    def run(self, region: Region, args: Any, frame: FrameType) -> Any:
        """Run a region, and append its rows."""
        session = self.session
        if session.ended or session.places.here.busy:
            return region.function(*args)
        appending = self._appending(region, args, frame)
        start = session.writer.clock()
        try:
            with self.alone():
                result = region.function(*args)
        except Exception as error:
            if appending is not None:
                appending.failed(error)
            raise
        if appending is not None:
            appending.after(result, start, session.writer.clock())
        return result

    @guarded
    def _appending(self, region: Region, args: Any, frame: FrameType) -> _Appending:
        user = self.session.frames.user(frame)
        if region.whole and user.f_back is not None and user.f_lineno == user.f_code.co_firstlineno:
            user = self.session.frames.user(user.f_back)  # all that a function computes is told of where it is called
        appending = _Appending(self.session, region, user)
        appending.before(args)
        return appending

    @guarded
    def region(self, output: Any, graph: Any) -> Region:
        """What is known of a graph that is to be compiled."""
        broken = getattr(output.compile_subgraph_reason, "graph_break", True)
        sources = [_source(each) for each in graph.graph.nodes if each.op == "placeholder"]
        return Region(_name(output.root_tx), sources, not broken, generated_graphs.read(graph.graph, sources))

    @guarded
    def generated(self, region: Region, graph: Any) -> None:
        """The backend is done with its graph, and may have changed it."""
        with contextlib.suppress(Exception):  # or left nothing of it
            found = generated_graphs.read(graph.graph, region.sources)
            region.forward = found if any(each.op for each in found.calls) else region.forward

    @guarded
    def partitioned(self, region: Region, graph: Any) -> None:
        """Its backward graph is known."""
        region.backward = generated_graphs.read(graph.graph, region.sources)


class _Here:
    """Who follows regions now: those of a recording outlive it."""

    regions: Regions | None = None


class _Making(threading.local):
    """The region that the compiler makes in this thread."""

    region: Region | None = None


_making: Final = _Making()


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


class _Appending:
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


def _leave_us_out() -> None:
    """Let the compiler look into no function of graphscope, and take what stands for one of torch's as that."""
    original, ours = torch._C._has_torch_function, torch.overrides.has_torch_function
    torch.overrides.has_torch_function = original
    try:
        rules = import_module("torch._dynamo.trace_rules")
        handlers = import_module("torch._dynamo.variables.torch").TorchInGraphFunctionVariable._get_handlers()
        if ours not in handlers:
            rules.add("graphscope")
            for table in (rules.get_torch_obj_rule_map(), handlers):
                table[ours] = table[original]
    finally:
        torch.overrides.has_torch_function = ours


def _kept(original: Callable[..., Any]) -> Callable[..., Any]:
    """What hands a graph to the program's backend, with what comes back as a region."""

    @functools.wraps(original)
    def call_user_compiler(output: Any, graph: Any, *args: Any, **kwargs: Any) -> Any:
        maker = _Here.regions
        region = None if maker is None else maker.region(output, graph)
        around, _making.region = _making.region, region
        try:
            function = original(output, graph, *args, **kwargs)
        finally:
            _making.region = around
        if region is None:
            return function
        region.function = function
        if maker is not None:
            maker.generated(region, graph)

        @functools.wraps(function)
        def compiled(*args: Any) -> Any:
            regions = _Here.regions
            return function(*args) if regions is None else regions.run(region, args, _getframe(1))

        vars(compiled).pop("_torchdynamo_orig_callable", None)  # older versions of torch would call that instead
        return compiled

    return call_user_compiler


def _partitions() -> Iterator[tuple[Any, str, Any]]:
    """What parts the graph of both passes in two, in such versions of torch as have it: others tell of the forward
    graph alone.
    """
    try:
        module = import_module("torch._functorch._aot_autograd.graph_compile")
        original = vars(module)["_partition_joint_graph_into_fw_bw"]
    except (ImportError, KeyError):
        return

    @functools.wraps(original)
    def partition(*args: Any, **kwargs: Any) -> Any:
        parts = original(*args, **kwargs)
        maker, region = _Here.regions, _making.region
        if maker is not None and region is not None:
            maker.partitioned(region, parts[1])
        return parts

    yield module, "_partition_joint_graph_into_fw_bw", partition


def _without_ours(original: Callable[..., None]) -> Callable[..., None]:
    """How the compiler takes up the modes that are active: ours computes nothing, and is none of the program's."""

    @functools.wraps(original)
    def init(state: Any, modes: Any, *args: Any, **kwargs: Any) -> None:
        modes = list(modes)
        original(state, modes, *args, **kwargs)
        for index in reversed(range(len(modes))):
            if isinstance(modes[index], MODES):
                del state.mode_stack[index]

    return init


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
