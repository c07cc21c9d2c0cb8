"""Whose a frame is: the program's, or one of the framework's and our own, which are passed over."""

from __future__ import annotations

import functools
import os
import weakref
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType, ModuleType

from graphscope.eventlog import record as recording

_LEAST = 512


class Frames:
    """Tells the program's frames from those of a framework and of graphscope.

    Args:
        packages: The framework's packages; what lies in their folders is the framework's.
    """

    def __init__(self, packages: Iterable[ModuleType]) -> None:
        self.inside: dict[int, bool] = {}
        """By the address of a code: whether it is the framework's or ours. It goes with the code."""
        self._codes: dict[int, weakref.ref[CodeType]] = {}
        self._folders = ("<frozen", *(folder for package in packages for folder in _folders(package)))

    def user(self, frame: FrameType) -> FrameType:
        """The innermost frame of the program, from a frame outward; the outermost one where none is the program's."""
        inside = self.inside
        while True:
            code = frame.f_code
            found = inside.get(id(code))
            if found is None:
                found = self._learn(code)
            if not found:
                return frame
            outer = frame.f_back
            if outer is None:
                return frame
            frame = outer

    def is_program(self, code: CodeType) -> bool:
        """Whether a code is the program's own."""
        found = self.inside.get(id(code))
        return not (self._learn(code) if found is None else found)

    def is_graphscope(self, frame: FrameType) -> bool:
        """Whether a frame is one of graphscope's own."""
        return recording.is_internal(frame.f_code.co_filename)

    def _learn(self, code: CodeType) -> bool:
        file = code.co_filename
        found = file.startswith(self._folders) or recording.is_internal(file)
        key = id(code)
        self.inside[key] = found
        # No Python runs when a code goes: its exceptions would be lost.
        self._codes[key] = weakref.ref(code, functools.partial(self.inside.pop, key))
        if len(self._codes) > 2 * len(self.inside) + _LEAST:
            for each in list(self._codes):
                if each not in self.inside:
                    self._codes.pop(each, None)
        return found


def _folders(package: ModuleType) -> list[str]:
    """The folders of a package; of a single module, its file."""
    if getattr(package, "__path__", None):
        return [f"{Path(folder)}{os.sep}" for folder in package.__path__]
    return [str(package.__file__)]
