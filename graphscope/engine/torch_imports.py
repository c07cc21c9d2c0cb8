"""`import torch` answered by this engine: PyTorch's modules as far as it has them, and a clear word about the rest."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Any, Final

from graphscope._version import __version__
from graphscope.engine import absent
from graphscope.loading import load
from graphscope.public import ENGINE, home_of

__all__ = ["as_torch"]

ROOT: Final = "torch"

VERSION: Final = f"2.13.0+graphscope.{__version__}"
"""What `torch.__version__` says: whose interface it is, and who answers."""

HIDDEN: Final = frozenset(("absent", "core", "devices", "ops", "serialization", "torch_imports"))
"""What the engine has beside PyTorch's names: a program that imports torch does not find it there."""


class as_torch:  # noqa: N801 - a verb, used like a function
    """From now on `import torch` means this engine, whether PyTorch is installed or not.

    `gs.as_torch()` holds until `close()`; `with gs.as_torch(): import train` holds inside. Modules of PyTorch that were
    imported before are put aside meanwhile. What the engine lacks is named at the line that asks for it.
    """

    def __init__(self) -> None:
        self._finder = _Finder()
        self._aside = _take_out()
        sys.meta_path.insert(0, self._finder)

    def close(self) -> None:
        """Give the names back to PyTorch."""
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
            _take_out()
            sys.modules.update(self._aside)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _take_out() -> dict[str, ModuleType]:
    """Remove PyTorch's modules, or those that stand for them, from `sys.modules`, and return them."""
    names = [name for name in sys.modules if name == ROOT or name.startswith(f"{ROOT}.")]
    return {name: sys.modules.pop(name) for name in names}


class Facade(ModuleType):
    """One of PyTorch's modules: its names are those of our module, and what that lacks is said to be missing."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":  # `from torch.utils.data import *`
            return [each for each in dir(self) if each.isidentifier() and not each.startswith("_")]
        if name.startswith("__") and name not in EXTRAS:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        found = _look_up(self.__name__, name)
        if found is _NOTHING:
            raise absent.missing(self.__name__, self, name, sys._getframe(1))
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        ours = import_module(_ours(self.__name__))
        return sorted({*super().__dir__(), *(name for name in dir(ours) if name not in HIDDEN)})


_NOTHING: Final = object()

EXTRAS: Final[dict[str, object]] = {"__version__": VERSION, "load": load}
"""What the module `torch` says otherwise than the engine does."""


def _look_up(module: str, name: str) -> Any:
    """A name of one of PyTorch's modules, or _NOTHING."""
    if module == ROOT and name in EXTRAS:
        return EXTRAS[name]
    if module == ROOT and name in HIDDEN:
        return _NOTHING
    if _exists(f"{module}.{name}"):
        return import_module(f"{module}.{name}")
    found = getattr(import_module(_ours(module)), name, _NOTHING)
    if isinstance(found, ModuleType) and not _is_ours(found):
        return _NOTHING  # what our module imports for itself
    return found


def _ours(name: str) -> str:
    """Where our module is that answers for one of PyTorch's; a package may hold it under PyTorch's name for it."""
    parent, _, last = name.rpartition(".")
    if not parent:
        return ENGINE
    home = home_of(name.partition(".")[2]) if parent == ROOT else f"{_ours(parent)}.{last}"
    try:
        if find_spec(home) is not None:
            return home
    except (ModuleNotFoundError, ValueError):  # the parent is no package; a module made without a file
        return home
    alias = getattr(import_module(home.rpartition(".")[0]), last, None)
    return alias.__name__ if isinstance(alias, ModuleType) and _is_ours(alias) else home


def _is_ours(module: ModuleType) -> bool:
    return module.__name__.startswith("graphscope.")


def _exists(name: str) -> bool:
    """Whether this is a module of PyTorch's that we have."""
    parts = name.split(".")
    if parts[0] != ROOT or (len(parts) > 1 and parts[1] in HIDDEN):
        return False
    try:
        return find_spec(_ours(name)) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


class _Finder(MetaPathFinder, Loader):
    """Finds PyTorch's modules, ahead of all other finders."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if name != ROOT and not name.startswith(f"{ROOT}."):
            return None
        if not _exists(name):
            error = absent.missing_module(name)
            if error is not None:
                raise error
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Facade(spec.name, import_module(_ours(spec.name)).__doc__)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is run: its names are looked up when they are asked for."""
