"""Modules: their calls are scopes in the log, and they name parameters and buffers."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from graphscope.adapters.torch.context import Context
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.schema import Kind, Pass


class Modules:
    """Follows the calls of modules."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._named: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`Module.__call__`, with the scope around it."""
        session = self._session
        places = session.places
        writer = session.writer

        def __call__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            place = places.here
            if session.ended or place.busy:
                return original(module, *args, **kwargs)
            outer = place.context
            inner = outer.inner.get(id(module))
            if inner is None or inner.module is None or inner.module() is not module:
                inner = self._enter(outer, module)
            place.context = inner
            if inner.entering is not None:
                writer.append(inner.entering, None, writer.clock())
            try:
                return original(module, *args, **kwargs)
            finally:
                place.context = outer
                if inner.leaving is not None:
                    writer.append(inner.leaving, None, writer.clock())

        return __call__

    def _enter(self, outer: Context, module: torch.nn.Module) -> Context:
        """The context of a module that is called for the first time from here."""
        name = self._name(outer, module)
        path = outer.path.child(name, type(module).__name__) if name else outer.path
        inner = outer.inner[id(module)] = Context(path, outer.backward)
        inner.module = weakref.ref(module)
        if name:
            writer = self._session.writer
            number = path.number(writer)
            graph_pass = Pass.BACKWARD if outer.backward else Pass.FORWARD
            inner.entering = writer.template(Kind.SCOPE_ENTER, scope=number, graph_pass=graph_pass)
            inner.leaving = writer.template(Kind.SCOPE_EXIT, scope=number, graph_pass=graph_pass)
        return inner

    def _name(self, outer: Context, module: torch.nn.Module) -> str:
        """What the module around it calls a module; one that is in no other names its parameters, and is no scope."""
        around = outer.module() if outer.module is not None else None
        if around is None:
            self._name_parameters(module)
            return ""
        for name, each in around._modules.items():
            if each is module:
                return "" if name == "_orig_mod" else name  # what `torch.compile` wrapped
        for name, each in around.named_modules():
            if each is module:
                return name
        self._name_parameters(module)
        return type(module).__name__

    def _name_parameters(self, module: torch.nn.Module) -> None:
        if module in self._named:
            return
        self._named.add(module)
        names = self._session.leaves.names
        for named in (module.named_parameters(), module.named_buffers()):
            for name, tensor in named:
                names[id(tensor)] = (weakref.ref(tensor), name.replace("_orig_mod.", ""))
