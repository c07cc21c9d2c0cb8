"""Which versions of JAX can be recorded, and what the adapter needs of it beyond its public interface."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import jax

from graphscope.adapters.kit.versions import Versions


def _has(module: str, *names: str) -> bool:
    owner = import_module(module)
    return all(hasattr(owner, name) for name in names)


def _core() -> Any:
    return import_module("jax._src.core")


PROBES: Final[dict[str, Callable[[], bool]]] = {
    "jax._src.core.EvalTrace.process_primitive": lambda: "process_primitive" in _core().EvalTrace.__dict__,
    "jax._src.core.Trace": lambda: _has("jax._src.core", "Trace", "Tracer", "full_lower", "check_eval_args"),
    "jax._src.core.set_current_trace": lambda: _has("jax._src.core", "set_current_trace", "take_current_trace"),
}
"""Each private name, and whether it is there and is what it was."""

VERSIONS: Final = Versions("JAX", jax, oldest=(0, 4), newest=(0, 10), private=PROBES)
"""The versions of JAX that can be recorded; `newest` is the newest that the tests of the adapter have run with."""
