"""Where the program makes its modules: the line is told with their scopes."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from sys import _getframe
from types import FrameType
from typing import Any

import torch

from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.frame_variables import local_variable
from graphscope.eventlog.places import site_number


class Constructions:
    """Follows the making of modules."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._sites: dict[int, tuple[weakref.ref[torch.nn.Module], int]] = {}
        """By the `id` of a module. No Python runs when one goes: its exceptions would be lost."""

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """`Module.__init__`, which notes where the program called for the module."""
        session = self.session

        @functools.wraps(original)
        def __init__(module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it stands in its place
            original(module, *args, **kwargs)
            if not session.ended and not session.places.here.busy:
                self._note(module, _getframe(1))

        return __init__

    def site(self, module: torch.nn.Module) -> int:
        """The number of the place where a module was made; 0 where that was not seen."""
        reference, number = self._sites.get(id(module), (None, 0))
        return number if reference is not None and reference() is module else 0

    @guarded
    def _note(self, module: torch.nn.Module, frame: FrameType) -> None:
        key = id(module)
        outer: FrameType | None = frame
        while outer is not None and _initialises(outer, module):
            outer = outer.f_back
        if outer is not None:
            number = site_number(self.session.writer, self.session.frames.user(outer))
            self._sites[key] = weakref.ref(module, functools.partial(self._sites.pop, key)), number


def _initialises(frame: FrameType, module: torch.nn.Module) -> bool:
    """Whether a frame is the `__init__` of the module's own class or one of its bases."""
    code = frame.f_code
    return code.co_name == "__init__" and code.co_argcount > 0 and local_variable(frame, code.co_varnames[0]) is module
