"""Modules: their calls are scopes in the log, and they name parameters and buffers."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

import torch

from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.constructions import Constructions
from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.distributed_tensors import is_distributed
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.training_calls import TrainingCalls


class Modules:
    """Follows the calls of modules."""

    def __init__(self, session: Session, constructions: Constructions, training: TrainingCalls) -> None:
        self.session = session
        self._constructions = constructions
        self._training = training
        self._named: dict[int, weakref.ref[torch.nn.Module]] = {}
        """Modules whose tensors have names, by `id`. No Python runs when they go: its exceptions would be lost."""

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`Module.__call__`, with the scope around it."""
        session = self.session
        places = session.places
        writer = session.writer
        if compiled.scoped is not None and writer.capture != "compiled":  # torch's compiler takes no other callable
            scoped = compiled.scoped(original, session, places, writer.append, self._enter)
            scoped.__code__ = original.__code__  # which that compiler looks for, though all that it made runs eagerly
            functools.update_wrapper(scoped, original).__qualname__ = "Module.__call__"  # where `pickle` finds it
            return scoped  # type: ignore[no-any-return]

        def __call__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            place = places.here
            if session.ended or place.busy:
                return original(module, *args, **kwargs)
            outer = place.context
            inner = place.context = self.context_of(module, outer, _getframe(1))
            if inner is not outer and inner.entering is not None:
                writer.append(inner.entering, None, writer.clock())
            try:
                return original(module, *args, **kwargs)
            finally:
                place.context = outer
                if inner is not outer and inner.leaving is not None:
                    writer.append(inner.leaving, None, writer.clock())

        __call__.__name__ = original.__name__  # by that its compiler knows what it may leave to Python
        __call__.__module__, __call__.__qualname__ = original.__module__, "Module.__call__"
        return __call__

    def context_of(self, module: torch.nn.Module, outer: Context, frame: FrameType) -> Context:
        """The context of a module that is called in another context; that one where the module is no scope."""
        inner: Context | None = outer.inner.get(id(module))
        if inner is None or inner.module is None or inner.module() is not module:
            inner = self._enter(outer, module, frame)
        return inner or outer

    @guarded
    def _enter(self, outer: Context, module: torch.nn.Module, frame: FrameType) -> Context | None:
        """The context of a module that is called for the first time from here."""
        name = self._name(outer, module, frame)
        site = self._constructions.site(module)
        path = outer.path.child(name, type(module).__name__, site) if name else outer.path
        inner = Context(path, outer.backward)
        if name:
            inner.marked(self.session.writer)
        outer.keep(module, inner)
        return inner

    def _name(self, outer: Context, module: torch.nn.Module, frame: FrameType) -> str:
        """What the module around it calls a module; one that is in no other names its parameters, and is no scope."""
        around = outer.module() if outer.module is not None else None
        if around is None:
            self._name_parameters(module, frame)
            return ""
        for name, each in list(around._modules.items()):
            if each is module:
                return "" if name == "_orig_mod" else str(name)  # what `torch.compile` wrapped
        for name, each in around.named_modules():
            if each is module:
                return str(name)
        self._name_parameters(module, frame)
        return type(module).__name__

    def _name_parameters(self, module: torch.nn.Module, frame: FrameType) -> None:
        """Note what a module calls its tensors; a layer that stands alone lends them the name of its variable."""
        key = id(module)
        if key in self._named:
            return
        self._named[key] = weakref.ref(module, functools.partial(self._named.pop, key))
        self._training.ran(module)
        leaves = self.session.leaves
        leaves.expect(module.parameters())
        tensors = (*module.named_parameters(), *module.named_buffers())
        held = [(name.replace("_orig_mod.", ""), tensor) for name, tensor in tensors]
        leaves.names.name(module, held, self.session.frames.user(frame), alone=not module._modules)
        if any(is_distributed(tensor.__class__) for _, tensor in held):
            self.session.sharded.note(module)
        for _, tensor in held:
            leaves.rename(tensor)
