"""Packages on top of JAX: their frames are no more the program's than those of JAX itself."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Final

_NAMES: Final = ("flax", "optax", "equinox", "chex", "haiku", "orbax", "jaxtyping", "diffrax")


def _package(name: str) -> ModuleType | None:
    """What stands for a package that need not be loaded."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    found = ModuleType(name)
    found.__path__ = list(spec.submodule_search_locations)
    return found


PACKAGES: Final = [package for name in _NAMES if (package := _package(name)) is not None]
"""Those that are installed."""
