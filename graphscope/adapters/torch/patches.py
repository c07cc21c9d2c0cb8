"""What is changed in torch while it is recorded, and how all of it is put back."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import torch

from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.backward import Backward
from graphscope.adapters.torch.checkpoints import Checkpoints
from graphscope.adapters.torch.collectives import Collectives
from graphscope.adapters.torch.compiling import Compiling
from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.functions import Functions
from graphscope.adapters.torch.inner import DeepCalls
from graphscope.adapters.torch.modules import Modules
from graphscope.adapters.torch.optimizers import Optimizers
from graphscope.adapters.torch.session import Session


class Patches:
    """Everything that is patched; `remove` takes it back in the opposite order."""

    def __init__(self, session: Session, calls: Calls) -> None:
        self._session = session
        self._calls = calls
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Begin to see what torch does."""
        session, calls = self._session, self._calls
        collectives = Collectives(session)
        for owner, name, value in (*collectives.entries(), *Checkpoints(session).entries()):
            self.replace(owner, name, value)
        modules = Modules(session)
        if session.writer.capture != "calls":
            backward = Backward(session, collectives)
            for module, name in backward.entries():
                self.replace(module, name, backward.wrapped(getattr(module, name)))
            self.replace(torch.Tensor, "backward", backward.direct(torch.Tensor.backward))
        mixin = torch.autograd.function._HookMixin
        self.replace(mixin, "_register_hook", staticmethod(compiled.light_hooks(compiled.beside(mixin._register_hook))))
        self.replace(torch.nn.Module, "__call__", modules.wrapped(torch.nn.Module.__call__))
        functions = Functions(session)
        self.replace(torch.autograd.Function, "apply", functions.wrapped(torch.autograd.Function.__dict__["apply"]))
        self._undo.append(Optimizers(session).register())
        compiling = Compiling(session)
        self.replace(torch, "compile", compiling.wrapped(torch.compile))
        self._undo.append(compiling.resume)
        if "torch._dynamo" in sys.modules:
            compiling.rest()
        self._patch_threads()
        # It asks whether a mode is active, and would leave the fused kernels of transformers: other numbers.
        self.replace(torch.overrides, "has_torch_function", _by_arguments)
        ops = contextlib.ExitStack()
        ops.enter_context(_seeing_ops(session))
        self._undo.append(ops.close)
        torch._C._push_on_torch_function_stack(calls)
        self._undo.append(lambda: leave(calls))

    def remove(self) -> None:
        """Leave torch as it was."""
        self._session.ended = True
        while self._undo:
            self._undo.pop()()
        self._session.identities.settle()

    def replace(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute; it is put back in the end, unless somebody else has set it meanwhile."""
        before = owner.__dict__[name]
        setattr(owner, name, value)

        def put_back() -> None:
            if owner.__dict__.get(name) is value:
                setattr(owner, name, before)

        self._undo.append(put_back)

    def _patch_threads(self) -> None:
        """Modes belong to a thread: each new one gets ours."""
        if not hasattr(threading.Thread, "_bootstrap_inner"):
            return
        session = self._session
        original = threading.Thread._bootstrap_inner

        def _bootstrap_inner(thread: threading.Thread) -> None:
            if session.ended:
                original(thread)
                return
            with session.make_calls(), _seeing_ops(session):
                original(thread)

        self.replace(threading.Thread, "_bootstrap_inner", _bootstrap_inner)


def _seeing_ops(session: Session) -> contextlib.AbstractContextManager[Any]:
    """With the ops beneath the calls of this thread seen, where they are asked for."""
    calls = session.places.here.calls
    return calls.ops if isinstance(calls, DeepCalls) else contextlib.nullcontext()


def _by_arguments(relevant: Any) -> bool:
    """Whether one of these is of a class with a torch function of its own."""
    with _modes_aside():
        return bool(torch._C._has_torch_function(relevant))


@contextlib.contextmanager
def _modes_aside() -> Any:
    """Without our mode, where it is the only one."""
    count = torch._C._len_torch_function_stack()
    if count != 1:
        yield
        return
    mode = torch._C._pop_torch_function_stack()
    try:
        yield
    finally:
        torch._C._push_on_torch_function_stack(mode)


def leave(calls: Calls) -> None:
    """Take our mode from the stack of this thread, wherever on it it lies."""
    above: list[Any] = []
    while torch._C._len_torch_function_stack():
        mode = torch._C._pop_torch_function_stack()
        if mode is calls:
            break
        above.append(mode)
    for mode in reversed(above):
        torch._C._push_on_torch_function_stack(mode)
