"""`torch.compile`: what it compiled runs eagerly while it is recorded, so that every call in it is seen."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.kit.notices import say
from graphscope.adapters.torch import past_compiler
from graphscope.adapters.torch.aten_ops import Ops
from graphscope.adapters.torch.modes import aside
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.tensor_properties import special_class

if TYPE_CHECKING:
    from graphscope.adapters.torch.patches import TorchPatches


@contextlib.contextmanager
def _disabled() -> Iterator[None]:
    """With no more compiled than is already."""
    config: Any = import_module("torch._dynamo.config")
    before, config.disable = config.disable, True
    try:
        yield
    finally:
        config.disable = before


def _others() -> bool:
    """Whether a dispatch mode of somebody else sees what this thread runs."""
    modes = (torch._C._get_dispatch_stack_at(place) for place in range(torch._C._len_torch_dispatch_stack()))
    return not all(isinstance(mode, Ops) for mode in modes)


class Compiling:
    """Keeps the compiler of torch at rest. It is not loaded for that: only a program that uses it has it in memory."""

    _hint = "capture level `compiled`, of all steps, keeps it"

    def __init__(self, session: Session, patches: TorchPatches) -> None:
        self.session = session
        self._patches = patches
        self._stance: Any = None
        self._told = False
        self._is_asked = False
        if session.writer.capture != "compiled" and "cond" in vars(torch):
            patches.replace(torch, "cond", self._chosen(torch.cond))

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`torch.compile`, which brings the compiler to memory."""

        def compile(*args: Any, **kwargs: Any) -> Any:
            self._is_asked = True
            if not self.session.ended:
                self.rest()
                self.tell()
            elif self.session.suspended:
                past_compiler.pass_over_us()
                self._patches.yield_classes()
            return original(*args, **kwargs)

        compile.__doc__ = original.__doc__
        return compile

    def is_used(self) -> bool:
        """Whether the program compiles something, or has."""
        library: Any = sys.modules.get("torch._dynamo.eval_frame")
        backends = getattr(library, "cached_backends", {})  # None of what is not to be compiled
        return self._is_asked or any(callable(each) for each in backends.values())

    def _chosen(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`torch.cond`: it compiles its branches, and can't go backward at rest; the one that is chosen is called."""

        @functools.wraps(original)
        def cond(pred: Any, true_fn: Any, false_fn: Any, operands: Any = ()) -> Any:
            place = self.session.places.here
            traced = not isinstance(pred, (bool, torch.Tensor)) or special_class([pred]) or _others()
            if self.session.ended or place.busy or traced or not isinstance(operands, (tuple, list)):
                return original(pred, true_fn, false_fn, operands)
            return (true_fn if pred else false_fn)(*operands)

        return cond

    def rest(self) -> None:
        """Let compiled functions run as they are written."""
        if self._stance is None:
            import_module("torch._dynamo")
            past_compiler.pass_over_us()
            # It is made by a class that acts at once, and takes it back on leaving. Before torch 2.6 there is none.
            stance = getattr(torch.compiler, "set_stance", None)
            self._stance = _disabled() if stance is None else stance("force_eager")
            self._stance.__enter__()

    def unseen(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """What runs the program to write it down in a form of its own, as `torch.export.export` does by that compiler.

        Nothing is told of that run, and it meets nothing of ours.
        """

        @functools.wraps(original)
        def export(*args: Any, **kwargs: Any) -> Any:
            if self.session.ended and not self.session.suspended:
                return original(*args, **kwargs)
            place, rested = self.session.places.here, self._stance is not None
            busy, place.busy = place.busy, True
            Compiling.resume(self)
            try:
                with self._patches.aside(), aside(self.session):
                    return original(*args, **kwargs)
            finally:
                place.busy = busy
                if rested:
                    Compiling.rest(self)

        return export

    def tell(self) -> None:
        """Say so, once."""
        if not self._told:
            self._told = True
            what = "what torch.compile compiled runs eagerly while it is recorded: it rounds and draws otherwise"
            say(f"{what} ({self._hint})")

    def resume(self) -> None:
        """Let them run compiled again."""
        if self._stance is not None:
            self._stance.__exit__(None, None, None)
            self._stance = None
