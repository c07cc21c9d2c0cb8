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


def _evaluates() -> bool:
    return "process_primitive" in import_module("jax._src.core").EvalTrace.__dict__


def _stack() -> Any:
    return import_module("jax._src.source_info_util").current().name_stack.stack


def _tells_frames() -> bool:
    codes, _ = import_module("jax._src.source_info_util").current().traceback.raw_frames()
    return any(code.co_name == "_tells_frames" for code in codes)


PROBES: Final[dict[str, Callable[[], bool]]] = {
    "jax._src.core.EvalTrace.process_primitive": _evaluates,
    "jax._src.core.Trace": lambda: _has("jax._src.core", "Trace", "Tracer", "full_lower", "check_eval_args"),
    "jax._src.core.set_current_trace": lambda: _has(
        "jax._src.core", "set_current_trace", "take_current_trace", "trace_ctx"
    ),
    "jax._src.core.to_concrete_value": lambda: _has("jax._src.core", "to_concrete_value", "get_referent"),
    "jax._src.core.eval_jaxpr": lambda: _has("jax._src.core", "eval_jaxpr", "Literal", "Primitive", "closed_call_p"),
    "jax._src.core.typeof or get_aval": lambda: _has("jax._src.core", "typeof") or _has("jax._src.core", "get_aval"),
    "jax._src.pjit._pjit_call_impl_python": lambda: _has("jax._src.pjit", "_pjit_call_impl_python"),
    "jax._src.pjit._get_fastpath_data": lambda: _has("jax._src.pjit", "_get_fastpath_data"),
    "jax._src.pjit.jit_p or pjit_p": lambda: _has("jax._src.pjit", "jit_p") or _has("jax._src.pjit", "pjit_p"),
    "jax._src.api.vjp or _vjp": lambda: _has("jax._src.api", "vjp"),
    "jax._src.ad_checkpoint.remat_p": lambda: _has("jax._src.ad_checkpoint", "remat_p"),
    "jax._src.lax.control_flow.scan_p": lambda: _has("jax._src.lax.control_flow", "scan_p", "while_p", "cond_p"),
    "jax._src.source_info_util.extend_name_stack": lambda: (
        _has("jax._src.source_info_util", "extend_name_stack") and isinstance(_stack(), tuple)
    ),
    "Traceback.raw_frames": _tells_frames,
    "jax.interpreters.ad.primitive_jvps": lambda: (
        _has("jax.interpreters.ad", "primitive_jvps")
        and _has("jax.interpreters.batching", "primitive_batchers")
        and _has("jax.interpreters.mlir", "register_lowering")
    ),
}
"""Each private name, and whether it is there and is what it was: they are as they are since JAX 0.4.36."""

VERSIONS: Final = Versions("JAX", jax, oldest=(0, 4, 36), newest=(0, 10), private=PROBES)
"""The versions of JAX that can be recorded; `newest` is the newest that the tests of the adapter have run with."""
