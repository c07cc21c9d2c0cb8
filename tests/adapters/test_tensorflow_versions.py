"""Versions of TensorFlow and Keras: each private name is looked for, and who has a version without it is told."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import graphscope as gs
from graphscope.adapters.kit import Versions

tf = pytest.importorskip("tensorflow")
from graphscope.adapters.keras import supported_versions as keras_versions  # noqa: E402
from graphscope.adapters.tensorflow import supported_versions  # noqa: E402

pytestmark = pytest.mark.tensorflow


def of(path: str, owner: str = "") -> Any:
    module = import_module(f"tensorflow.python.{path}")
    return getattr(module, owner) if owner else module


PYWRAP, BACKPROP = of("pywrap_tfe"), of("eager.backprop")
NAMES = {
    "pywrap_tfe.TFE_Py_FastPathExecute": (PYWRAP, "TFE_Py_FastPathExecute"),
    "pywrap_tfe.TFE_Py_RecordGradient": (PYWRAP, "TFE_Py_RecordGradient"),
    "pywrap_tfe.TFE_Py_RegisterGradientFunction": (PYWRAP, "TFE_Py_RegisterGradientFunction"),
    "the stopping of tapes": (PYWRAP, "TFE_Py_TapeSetStopOnThread"),
    "execute.execute": (of("eager.execute"), "quick_execute"),
    "execute.record_gradient": (of("eager.execute"), "record_gradient"),
    "core._FallbackException": (of("eager.core"), "_FallbackException"),
    "op_def_registry.get": (of("framework.op_def_registry"), "get"),
    "backprop._gradient_function": (BACKPROP, "_gradient_function"),
    "backprop._aggregate_grads": (BACKPROP, "_aggregate_grads"),
    "backprop._fast_fill": (BACKPROP, "_fast_fill"),
    "backprop_util.AggregateIndexedSlicesGradients": (of("eager.backprop_util"), "AggregateIndexedSlicesGradients"),
    "imperative_grad.imperative_grad": (of("eager.imperative_grad"), "imperative_grad"),
    "record.record_operation": (of("eager.record"), "record_operation"),
    "BaseResourceVariable": (of("ops.resource_variable_ops"), "BaseResourceVariable"),
    "StructuredFunctionWrapper": (of("data.ops.structured_function"), "StructuredFunctionWrapper"),
    "context.internal_operation_seed": (of("framework.random_seed"), "get_seed"),
    "BaseSession._do_run": (of("client.session", "BaseSession"), "_do_run"),
    "BaseSession._make_callable_from_options": (of("client.session", "BaseSession"), "_make_callable_from_options"),
    "gradients_util._GradientsHelper": (of("ops.gradients_util"), "_GradientsHelper"),
    "gradients_util._LogOpGradients": (of("ops.gradients_util"), "_LogOpGradients"),
}
"""What can be taken away for a while."""

FIXED = {"context.op_callbacks", "EagerTensor._datatype_enum", "Function._python_function", "Operation._original_op",
         "DType._is_ref_dtype", "tf_decorator.unwrap"}  # fmt: skip
"""Attributes of what is made anew each time, written in C, or needed by other probes; they stay where they are."""

KERAS = {
    "Layer.__call__": ("layers.layer", "Layer", "__call__"),
    "Variable._initialize": ("backend.tensorflow.core", "Variable", "_initialize"),
    "Loss.__call__": ("losses.loss", "Loss", "__call__"),
    "BaseOptimizer.apply": ("optimizers.base_optimizer", "BaseOptimizer", "apply"),
    "Trainer.compute_metrics": ("trainers.trainer", "Trainer", "compute_metrics"),
}


@pytest.mark.parametrize("name", supported_versions.PROBES)
def test_every_private_name_is_there(name: str) -> None:
    assert supported_versions.PROBES[name]()


def test_a_version_that_lacks_something_is_refused_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = supported_versions.VERSIONS
    assert set(NAMES) | FIXED == set(supported_versions.PROBES)
    for name, (owner, attribute) in NAMES.items():
        with monkeypatch.context() as patch:
            patch.delattr(owner, attribute)
            assert name in versions.missing()
            assert name in str(versions.refusal())
    assert versions.refusal() is None


def test_a_keras_that_lacks_something_is_refused_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = keras_versions.VERSIONS
    assert set(KERAS) | {"KerasTensor"} == set(keras_versions.PROBES)
    for name, (path, owner, attribute) in KERAS.items():
        with monkeypatch.context() as patch:
            patch.delattr(getattr(import_module(f"keras.src.{path}"), owner), attribute)
            assert versions.missing() == [name]
    assert versions.refusal() is None


@pytest.mark.parametrize(
    ("version", "rows", "said"),
    [
        ("2.15.1", False, "TensorFlow 2.15.1 can't be recorded: 2.16 is the oldest that can"),
        ("2.99.0", True, "TensorFlow 2.99.0 is none of the versions that this graphscope knows"),
    ],
)
def test_of_a_version_that_is_not_known_a_person_is_told(
    version: str, rows: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tf, "__version__", version)
    with gs.record() as log:
        total = tf.reduce_sum(tf.tanh(tf.constant([1.0, 2.0])) * 2.0)
    log.refresh()
    assert float(total) > 0
    assert bool(len(log)) is rows
    told = capsys.readouterr().err
    assert told.count(said) == 1
    assert "nothing was recorded" not in told  # as well


def test_the_versions_are_those_of_the_page() -> None:
    known: Versions = supported_versions.VERSIONS
    assert known.number[:2] <= known.newest
