"""What is private to JAX and used here, under one name whatever its version calls it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import jax

api: Final[Any] = import_module("jax._src.api")
core: Final[Any] = import_module("jax._src.core")
pjit: Final[Any] = import_module("jax._src.pjit")
source_info_util: Final[Any] = import_module("jax._src.source_info_util")

JIT: Final[Any] = getattr(pjit, "jit_p", None) or pjit.pjit_p
"""The primitive of a jitted function."""

typeof: Final[Callable[[Any], Any]] = getattr(core, "typeof", None) or core.get_aval
"""The abstract value of anything that JAX computes with."""

LITERAL: Final[Any] = getattr(sys.modules.get("jax._src.literals"), "LiteralArray", ())
"""An array of NumPy's in a jaxpr, as `val`, where it is something else than one of NumPy's itself: JAX 0.7 has that."""

VJP: Final = "_vjp" if hasattr(api, "_vjp") else "vjp"
"""What `grad` and its like call to differentiate backward: it takes a function of arguments, or a wrapped one."""

MAP: Final = "process_shard_map"
"""What a trace runs a `shard_map` with, which `pmap` is as well in newer versions."""

CHECKPOINT: Final[Any] = import_module("jax._src.ad_checkpoint").remat_p
"""The primitive of a function whose values are computed again on the way back."""

_control_flow: Final[Any] = import_module("jax._src.lax.control_flow")
SCAN: Final[Any] = _control_flow.scan_p
WHILE: Final[Any] = _control_flow.while_p
COND: Final[Any] = _control_flow.cond_p


class _Own(threading.local):
    """Whether what is differentiated now is left to JAX."""

    only = False


own: Final = _Own()


def own_vjp(function: Callable[..., Any], *primals: Any) -> Any:
    """`jax.vjp` as JAX has it."""
    before, own.only = own.only, True
    try:
        return jax.vjp(function, *primals)
    finally:
        own.only = before


def is_traced() -> bool:
    """Whether what runs now is traced, or differentiated or mapped, rather than computed."""
    return type(core.trace_ctx.trace).__name__ != "EvalTrace"
