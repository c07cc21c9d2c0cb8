"""`torch.compile`: what it compiled runs eagerly while it is recorded, so that every call in it is seen."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from graphscope.adapters.torch.guarding import say
from graphscope.adapters.torch.session import Session


@contextlib.contextmanager
def _disabled() -> Iterator[None]:
    """With no more compiled than is already."""
    config: Any = import_module("torch._dynamo.config")
    before, config.disable = config.disable, True
    try:
        yield
    finally:
        config.disable = before


class Compiling:
    """Keeps the compiler of torch at rest. It is not loaded for that: only a program that uses it has it in memory."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._stance: Any = None
        self._told = False

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`torch.compile`, which brings the compiler to memory."""

        def compile(*args: Any, **kwargs: Any) -> Any:
            compiled = original(*args, **kwargs)
            if not self._session.ended:
                self.rest()
                self._tell()
            return compiled

        compile.__doc__ = original.__doc__
        return compile

    def rest(self) -> None:
        """Let compiled functions run as they are written."""
        if self._stance is None:
            # It is made by a class that acts at once, and takes it back on leaving. Before torch 2.6 there is none.
            stance = getattr(torch.compiler, "set_stance", None)
            self._stance = _disabled() if stance is None else stance("force_eager")
            self._stance.__enter__()

    def _tell(self) -> None:
        """Say so, once."""
        if not self._told:
            self._told = True
            say("what torch.compile compiled runs eagerly while it is recorded")

    def resume(self) -> None:
        """Let them run compiled again."""
        if self._stance is not None:
            self._stance.__exit__(None, None, None)
            self._stance = None
