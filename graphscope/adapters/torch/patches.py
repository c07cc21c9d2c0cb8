"""What is changed in torch while it is recorded, and how all of it is put back."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

import torch
from torch.nn import functional

from graphscope.adapters.kit.patches import NOTHING, Patches, Replaced
from graphscope.adapters.torch import compiled, remote_values
from graphscope.adapters.torch.aten_ops import DeepCalls
from graphscope.adapters.torch.backward import Backward, entries
from graphscope.adapters.torch.backward_graph import leaf_class
from graphscope.adapters.torch.checkpoints import Checkpoints
from graphscope.adapters.torch.collectives import Collectives
from graphscope.adapters.torch.compiling import Compiling
from graphscope.adapters.torch.constructions import Constructions
from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.functions import Functions
from graphscope.adapters.torch.left_out import Losses
from graphscope.adapters.torch.loading_compiler import LoadingCompiler
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.modules import Modules
from graphscope.adapters.torch.optimizers import Optimizers
from graphscope.adapters.torch.resized_storages import ResizedStorages
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.settings import Settings
from graphscope.adapters.torch.swapped_tensors import Swaps
from graphscope.adapters.torch.tensor_base import ORDINARY
from graphscope.adapters.torch.torchscript import TorchScript
from graphscope.adapters.torch.training_calls import Clearing, TrainingCalls
from graphscope.adapters.torch.warning_lines import Warned
from graphscope.eventlog.places import GENERATORS, Line

# What few programs need is imported when they do: it would take a tenth of the time in which a recording begins.


def _compiling(capture: str) -> type[Compiling]:
    """How what is compiled is recorded."""
    if capture != "compiled":
        return Compiling
    from graphscope.adapters.torch.compiled_regions import Regions

    return Regions


def _line_of_generated(frame: FrameType) -> Line | None:
    """The line of the program that a frame of code which `torch.fx` has made is at; None of others."""
    if not frame.f_code.co_filename.startswith("<eval_with_key>"):
        return None
    from graphscope.adapters.torch.generated_graphs import line_of_frame

    return line_of_frame(frame)


class TorchPatches(Patches):
    """What is patched in torch."""

    def __init__(self, session: Session, calls: Calls) -> None:
        super().__init__("PyTorch")
        self._session = session
        self._calls = calls
        self._losses = Losses(session, entries())

    def install(self) -> None:
        """Begin to see what torch does."""
        session, calls = self._session, self._calls
        self.at_end(remote_values.end)
        self.at_end(self._losses.close)
        collectives = Collectives(session)
        for follower in (
            collectives,
            Checkpoints(session),
            Swaps(session),
            Warned(session),
            session.arrays,
            session.ties,
            ResizedStorages(session.identities.resized),
        ):
            for owner, name, value in follower.entries():
                self.replace(owner, name, value)
        self.at_end(session.ties.register())
        constructions = Constructions(session)
        self.replace(torch.nn.Module, "__init__", constructions.wrapped(torch.nn.Module.__init__))
        training = TrainingCalls(session, constructions)
        session.ties.changed = training.parted
        modules = Modules(session, constructions, training)
        compiled.free_in_turn(leaf_class(), object.__subclasses__())
        if session.follows:
            backward = Backward(session, collectives)
            for module, name in entries():
                entry = backward.wrapped(getattr(module, name))
                self.replace(module, name, entry if session.memory is None else session.memory.passing(entry))
            self.replace(torch.Tensor, "backward", backward.direct(torch.Tensor.backward))
        keep = torch.autograd.Function._register_hook
        self.replace(compiled.hooked, "_register_hook", compiled.light_hooks(keep))
        self.replace(torch.nn.Module, "__call__", modules.wrapped(torch.nn.Module.__call__))
        for owner, name, value in TorchScript(session, modules).entries():
            self.replace(owner, name, value)
        functions = Functions(session)
        self.replace(torch.autograd.Function, "apply", functions.wrapped(torch.autograd.Function.__dict__["apply"]))
        self._optimizers = optimizers = Optimizers(session, training)
        for owner, name, value in optimizers.entries():
            self.replace(owner, name, value)
        self.at_end(optimizers.register())
        if session.memory is not None:
            self.at_end(session.memory.register())
        self.at_end(training.finish)
        self._patch_threads()
        # It asks whether a mode is active, and would leave the fused kernels of transformers: other numbers.
        self.replace(torch.overrides, "has_torch_function", _by_arguments(session), always=True)
        if _HANDLE in functional.__dict__:
            self.replace(functional, _HANDLE, _straight(functional.__dict__[_HANDLE], session))
        for owner, name, value in (
            *training.entries(), *Clearing(training).entries(), *Settings(session).entries(),
        ):  # fmt: skip
            self.replace(owner, name, value)
        GENERATORS.append(_line_of_generated)
        self.at_end(functools.partial(GENERATORS.remove, _line_of_generated))
        self._compiling = compiling = _compiling(session.writer.capture)(session, self)
        self.replace(torch, "compile", compiling.wrapped(torch.compile))
        for owner, name in _WRITING_DOWN:
            self.replace(owner, name, compiling.unseen(getattr(owner, name)))
        self.at_end(compiling.resume)
        loading = LoadingCompiler(self.aside)
        loading.begin()
        self.at_end(loading.end)
        if "torch._dynamo" in sys.modules:
            compiling.rest()
        ops = contextlib.ExitStack()
        ops.enter_context(_seeing_ops(session))
        self.at_end(ops.close)
        calls.__enter__()
        self.at_end(calls.__exit__)

    def suspend(self) -> None:
        """Let torch be as it was until `resume`: ours is off the stack of modes, and what is compiled runs compiled."""
        if self._session.ended:  # by a fault of ours
            return
        self._session.ended = self._session.suspended = True
        self._calls.__exit__()
        self._compiling.resume()
        self._optimizers.suspend()
        super().suspend()
        self._losses.begin()

    def stays(self, replaced: Replaced) -> bool:
        """Whether something is left in its place in a step that is left out, where it does nothing.

        Python forgets what it has looked up in a class that is changed, and from 3.13 on looks nothing up any more in
        one that was changed 1,000 times (`MAX_VERSIONS_PER_CLASS` of its `typeobject.c`). Only the compiler, which
        reads what a program calls, is to find the classes as torch has made them.
        """
        if self._compiling.is_used():
            return False
        return isinstance(replaced.owner, type) or (replaced.owner, replaced.name) in _COMPILING

    def yield_classes(self) -> None:
        """Leave nothing in its place any more, in a step that is left out: the compiler is used."""
        super().suspend()

    def resume(self) -> None:
        """See again what torch does."""
        if not self._session.suspended:  # the recording has ended meanwhile
            return
        self._session.ended = self._session.suspended = False
        self._losses.end()
        super().resume()
        self._optimizers.resume()
        if "torch._dynamo" in sys.modules:
            self._compiling.rest()
        self._calls.enter_below()

    def remove(self) -> None:
        """Leave torch as it was."""
        self._losses.end()
        self._session.ended = True
        self._session.suspended = False
        try:
            super().remove()
        finally:
            self._session.identities.settle()

    def back(self, owner: Any, name: str, before: Any, value: Any) -> None:
        """Put a patch back in its place, while the recording goes on."""
        if self._session.ended and not self._session.suspended:
            return
        now = owner.__dict__.get(name, NOTHING)
        if now is not before and (owner, name) in _WRITING_DOWN:
            # torch's compiler, used for the first time, has wrapped it
            self.replace(owner, name, self._compiling.unseen(now))
        else:
            super().back(owner, name, before, value)

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
    """With the ops inside of the calls of this thread seen, at that capture level, or for their memory."""
    calls = session.places.here.calls
    modes = contextlib.ExitStack()
    if isinstance(calls, DeepCalls):
        modes.enter_context(calls.ops)
    if session.memory is not None:
        modes.enter_context(session.memory.mode())
    return modes


def _straight(original: Callable[..., Any], session: Session) -> Callable[..., Any]:
    """What functions written in Python call for a mode: where ours is the only one that cares, it is asked at once."""
    if compiled.straight is not None:
        count = torch._C._len_torch_function_stack
        pop, push = torch._C._pop_torch_function_stack, torch._C._push_on_torch_function_stack
        return functools.update_wrapper(compiled.straight(original, session, count, pop, push), original)

    def handle_torch_function(function: Any, relevant: Any, *args: Any, **kwargs: Any) -> Any:
        if _ANSWERING.issuperset([each.__class__ for each in relevant]):
            with aside(session) as mode:
                if mode is not None:
                    return mode.__torch_function__(function, None, args, kwargs)
        return original(function, relevant, *args, **kwargs)

    return handle_torch_function


_WRITING_DOWN: Final = (
    (torch.export, "export"), (torch.jit, "trace"), (torch.jit, "trace_module"), (torch.jit, "_get_trace_graph"),
)  # fmt: skip
"""Functions that run a program to write down what it does."""

_COMPILING: Final = ((torch, "compile"), *_WRITING_DOWN)
"""Functions that read, or let be read, what a program calls."""

_HANDLE: Final = "handle_torch_function"
_ANSWERING: Final = frozenset({*ORDINARY, type(None)})
"""Classes of arguments that leave a call to the modes."""


def _by_arguments(session: Session) -> Callable[[Any], bool]:
    """Whether one of some arguments is of a class with a torch function of its own."""

    def has_torch_function(relevant: Any) -> bool:
        with aside(session):
            return bool(torch._C._has_torch_function(relevant))

    return has_torch_function
