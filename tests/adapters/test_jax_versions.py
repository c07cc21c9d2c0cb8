"""Versions of JAX: each private name has a probe, and one that lacks a name or that nobody knows is told of."""

from __future__ import annotations

from importlib import import_module

import pytest

pytestmark = pytest.mark.jax
jax = pytest.importorskip("jax")

from graphscope.adapters.jax.supported_versions import PROBES, VERSIONS  # noqa: E402

TAKEN = {
    "jax._src.core.EvalTrace.process_primitive": ("jax._src.core", "EvalTrace"),
    "jax._src.core.Trace": ("jax._src.core", "check_eval_args"),
    "jax._src.core.set_current_trace": ("jax._src.core", "take_current_trace"),
    "jax._src.core.to_concrete_value": ("jax._src.core", "to_concrete_value"),
    "jax._src.core.eval_jaxpr": ("jax._src.core", "eval_jaxpr"),
    "jax._src.pjit._pjit_call_impl_python": ("jax._src.pjit", "_pjit_call_impl_python"),
    "jax._src.pjit._get_fastpath_data": ("jax._src.pjit", "_get_fastpath_data"),
    "jax._src.api.vjp or _vjp": ("jax._src.api", "vjp"),
    "jax._src.ad_checkpoint.remat_p": ("jax._src.ad_checkpoint", "remat_p"),
    "jax._src.lax.control_flow.scan_p": ("jax._src.lax.control_flow", "while_p"),
    "jax._src.source_info_util.extend_name_stack": ("jax._src.source_info_util", "extend_name_stack"),
    "Traceback.raw_frames": ("jax._src.source_info_util", "current"),
    "jax.interpreters.ad.primitive_jvps": ("jax.interpreters.mlir", "register_lowering"),
}
"""A name that each probe asks for; two probes ask for one of two names."""


def test_this_version_has_all_that_is_private() -> None:
    assert VERSIONS.missing() == []
    assert VERSIONS.refusal() is None
    assert {*PROBES} - {*TAKEN} == {"jax._src.core.typeof or get_aval", "jax._src.pjit.jit_p or pjit_p"}


@pytest.mark.parametrize("probe", TAKEN)
def test_a_version_without_a_private_name_is_left_alone(probe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name = TAKEN[probe]
    monkeypatch.delattr(import_module(module), name)
    assert probe in VERSIONS.missing()
    assert f"JAX {jax.__version__} can't be recorded: it has no " in str(VERSIONS.refusal())


def test_a_version_that_nobody_knows_is_recorded_and_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "__version__", "0.99.1")
    assert "JAX 0.99.1 is none of the versions that this graphscope knows (0.4.36 to 0.10)" in str(VERSIONS.notice())
