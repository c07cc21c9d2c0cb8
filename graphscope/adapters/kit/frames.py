"""Whose a frame is: the program's, or one of the framework's and our own, which are passed over."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType, ModuleType

from graphscope.eventlog import record as recording


class Frames:
    """Tells the program's frames from those of a framework and of graphscope.

    Args:
        packages: The framework's packages; what lies in their folders is the framework's.
    """

    def __init__(self, packages: Iterable[ModuleType]) -> None:
        self.inside: dict[int, bool] = {}
        """By the address of a code: whether it is the framework's or ours."""
        self._codes: list[CodeType] = []  # alive, so that an address stays that of its code
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

    def ours(self, frame: FrameType) -> bool:
        """Whether a frame is one of graphscope's own."""
        return recording.is_internal(frame.f_code.co_filename)

    def _learn(self, code: CodeType) -> bool:
        file = code.co_filename
        found = file.startswith(self._folders) or recording.is_internal(file)
        self._codes.append(code)
        self.inside[id(code)] = found
        return found


def _folders(package: ModuleType) -> list[str]:
    """The folders of a package; of a single module, its file."""
    if getattr(package, "__path__", None):
        return [f"{Path(folder)}{os.sep}" for folder in package.__path__]
    return [str(package.__file__)]
