"""The compiler of torch, where it is loaded while a program is recorded: it finds torch as it was made.

It remembers some of what it finds (`Module.__call__`), and takes a longer way for what it does not know again. The
first optimizer that a program makes loads it, whether anything is compiled or not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

_COMPILER: Final = "torch._dynamo"

Aside = Callable[[], AbstractContextManager[None]]


class LoadingCompiler:
    """Finds the compiler for Python's imports.

    Args:
        aside: With nothing of torch replaced.
    """

    def __init__(self, aside: Aside) -> None:
        self._aside = aside

    def begin(self) -> None:
        """Be asked, unless the compiler is there."""
        if _COMPILER not in sys.modules:
            sys.meta_path.insert(0, self)  # a finder by what it does

    def end(self) -> None:
        """Be asked no more."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Where the compiler is; None of all else."""
        spec = PathFinder.find_spec(name, path) if name == _COMPILER else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._aside)  # type: ignore[assignment]  # a loader by what it does
        return spec


class _Loader:
    """Loads a module as another loader does, with nothing of torch replaced."""

    def __init__(self, original: Any, aside: Aside) -> None:
        self._original = original
        self._aside = aside

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, or None for one as Python makes it."""
        made: ModuleType | None = self._original.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        module.__loader__ = self._original
        if module.__spec__ is not None:
            module.__spec__.loader = self._original
        with self._aside():
            self._original.exec_module(module)
