"""`torch.compile` with what it made kept: a compiled region is a node, and what runs between regions is seen as ever.

Its compiler is to see torch as it is written, and none of our mode; its guards expect our mode wherever it was active.
So it makes the regions that it makes without us, and compiles nothing again because of us.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch

from graphscope.adapters.torch import generated_graphs
from graphscope.adapters.torch.compiler_events import CompilerEvents
from graphscope.adapters.torch.compiling import Compiling
from graphscope.adapters.torch.forward import MODES
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.recorder_errors import Evaluation, guarded
from graphscope.adapters.torch.region_rows import Region, RegionRows, region_of


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
    def _appending(self, region: Region, args: Any, frame: FrameType) -> RegionRows:
        user = self.session.frames.user(frame)
        if region.whole and user.f_back is not None and user.f_lineno == user.f_code.co_firstlineno:
            user = self.session.frames.user(user.f_back)  # all that a function computes is told of where it is called
        appending = RegionRows(self.session, region, user)
        appending.before(args)
        return appending

    @guarded
    def region(self, output: Any, graph: Any) -> Region:
        """What is known of a graph that is to be compiled."""
        return region_of(output, graph)

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


def _leave_us_out() -> None:
    """Let the compiler look into no function of graphscope, and take what stands for one of torch's as that."""
    ours, alike = torch.overrides.has_torch_function, torch._C._has_torch_function_unary
    torch.overrides.has_torch_function = torch._C._has_torch_function
    try:
        rules = import_module("torch._dynamo.trace_rules")
        handlers = import_module("torch._dynamo.variables.torch").TorchInGraphFunctionVariable._get_handlers()
        if ours not in handlers:
            rules.add("graphscope")
            for table in (rules.get_torch_obj_rule_map(), handlers):
                table[ours] = table[alike]  # where a recording made it fill the tables, they have what stood there then
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
