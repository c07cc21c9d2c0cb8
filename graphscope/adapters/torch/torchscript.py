"""TorchScript programs: while they are recorded, their graphs run node by node, each at its own line of the program."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import FrameType
from typing import Any

import torch

from graphscope.adapters.kit.call_scopes import within
from graphscope.adapters.kit.notices import say
from graphscope.adapters.torch.modules import Modules
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.torchscript_nodes import Block, Blocks, Call, unknown

# TorchScript's own interpreter calls no Python, so that neither its ops nor their lines can be seen. What runs instead
# calls the same ops of ATen in the same order: the numbers are the same.


class TorchScript:
    """Runs what `torch.jit` traced and scripted."""

    def __init__(self, session: Session, modules: Modules) -> None:
        self.session, self._modules = session, modules
        self._blocks = Blocks()
        self._known: dict[int, tuple[Any, Block | None]] = {}
        """Graphs that were asked for, by `id`, and each as it was read; None where it can't run node by node."""

    def entries(self) -> Iterator[tuple[Any, str, Any]]:
        """What is to be replaced: the owner, the name, and what takes the place."""
        if self.session.writer.capture == "compiled":
            return
        yield torch._C.ScriptFunction, "__call__", self._of_function(torch._C.ScriptFunction.__call__)
        yield torch._C.ScriptMethod, "__call__", self._of_method(torch._C.ScriptMethod.__call__)

    def _of_function(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def __call__(function: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            block = self._read(function)
            arguments = None if block is None else given(function.schema, args, kwargs)
            if block is None or arguments is None:
                return original(function, *args, **kwargs)
            return Call(self._blocks, self._enter).run(block, arguments)

        return __call__

    def _of_method(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def __call__(method: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            module = self._module(method)
            block = None if module is None else self._read(method)
            arguments = None if block is None else given(method.schema, args, kwargs)
            if block is None or arguments is None:
                return original(method, *args, **kwargs)
            return Call(self._blocks, self._enter).run(block, [module, *arguments])

        return __call__

    def _module(self, method: Any) -> Any:
        """The module of a method, where it is the one that Python has called; else None."""
        context = self.session.places.here.context
        module: Any = context.module() if context.module is not None else None
        known = getattr(module, "_c", None)
        if known is None or not known._has_method(method.name):
            return None
        return module if known._get_method(method.name).graph is method.graph else None

    def _enter(self, module: Any, frame: FrameType) -> AbstractContextManager[None]:
        """The scope of a module that TorchScript calls, without the hooks that are Python's."""
        place = self.session.places.here
        inner = self._modules.context_of(module, place.context, frame)
        return nullcontext() if inner is place.context else within(place, inner, self.session.writer)

    def _read(self, function: Any) -> Block | None:
        """A function as it can run here; None where what runs now is not seen, or it can't."""
        session = self.session
        if session.ended or session.places.here.busy or torch._C._get_tracing_state() is not None:
            return None
        graph = function.graph
        if id(graph) not in self._known:
            self._known[id(graph)] = graph, self._learn(graph, function.name)
        return self._known[id(graph)][1]

    def _learn(self, graph: Any, name: str) -> Block | None:
        if self.session.writer.passes:
            self._tell_passes(graph, name)
        try:
            why = next(unknown(graph), "")
            if not why:
                return self._blocks.of(graph, name)
        except (RuntimeError, TypeError, AttributeError, ValueError) as error:  # another version of torch
            why = f"what can't be read here ({error})"
        say(f"the ops of {name!r}, compiled by torch.jit, are not seen: it uses {why}")
        return None

    @guarded
    def _tell_passes(self, graph: Any, name: str) -> None:
        from graphscope.adapters.torch import torchscript_passes  # few ask for passes

        torchscript_passes.tell(self.session.writer, graph, name)


def given(schema: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any] | None:
    """What a function is given, in the order of its parameters but for `self`; None where it does not take that."""
    parameters = [each for each in schema.arguments if each.name != "self"]
    known = {**dict(zip((each.name for each in parameters), args, strict=False)), **kwargs}
    defaults = {each.name: each.default_value for each in parameters if each.has_default_value()}
    complete = {**defaults, **known}
    if len(known) != len(args) + len(kwargs) or complete.keys() != {each.name for each in parameters}:
        return None
    return [complete[each.name] for each in parameters]
