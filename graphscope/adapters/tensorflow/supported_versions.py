"""Which versions of TensorFlow can be recorded, and what the adapter needs beyond its public interface."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import tensorflow

from graphscope.adapters.kit.versions import Versions


def _takes(path: str, function: str, *parameters: str) -> Callable[[], bool]:
    """A probe: a function of TensorFlow's takes these parameters, in this order."""

    def holds() -> bool:
        module, _, owner = path.partition(":")
        found: Any = import_module(f"tensorflow.python.{module}")
        code = getattr(getattr(found, owner) if owner else found, function).__code__
        return bool(code.co_varnames[: len(parameters)] == parameters)

    return holds


def _has(path: str, *names: str) -> Callable[[], bool]:
    """A probe: a module of TensorFlow's, or something in it, has these names."""

    def holds() -> bool:
        module, _, owner = path.partition(":")
        found: Any = import_module(f"tensorflow.python.{module}")
        return all(hasattr(getattr(found, owner) if owner else found, name) for name in names)

    return holds


def _function() -> Any:
    return tensorflow.function(lambda x: x)


def _op() -> Any:
    with tensorflow.Graph().as_default():
        return tensorflow.no_op()


PROBES: Final[dict[str, Callable[[], bool]]] = {
    # Eager programs --------------------------------------------------------------------------------------------------
    "pywrap_tfe.TFE_Py_FastPathExecute": _has("pywrap_tfe", "TFE_Py_FastPathExecute"),
    "pywrap_tfe.TFE_Py_RecordGradient": _has("pywrap_tfe", "TFE_Py_RecordGradient"),
    "pywrap_tfe.TFE_Py_RegisterGradientFunction": _has("pywrap_tfe", "TFE_Py_RegisterGradientFunction"),
    "the stopping of tapes": _has(
        "pywrap_tfe", "TFE_Py_TapeSetStopOnThread", "TFE_Py_TapeSetRestartOnThread", "TFE_Py_TapeSetIsEmpty",
        "TFE_Py_TapeSetShouldRecordBackprop",
    ),
    "execute.execute": _takes("eager.execute", "quick_execute", "op_name", "num_outputs", "inputs", "attrs", "ctx"),
    "execute.record_gradient": _takes("eager.execute", "record_gradient", "op_name", "inputs", "attrs", "outputs"),
    "EagerTensor._datatype_enum": _has("framework.ops:EagerTensor", "_datatype_enum"),
    "core._FallbackException": _has("eager.core", "_FallbackException"),
    "context.op_callbacks": lambda: isinstance(
        import_module("tensorflow.python.eager.context").context()._thread_local_data.op_callbacks, list
    ),
    "op_def_registry.get": lambda: (
        import_module("tensorflow.python.framework.op_def_registry").get("MatMul").input_arg[1].name == "b"
    ),
    "backprop._gradient_function": _takes(
        "eager.backprop", "_gradient_function", "op_name", "attr_tuple", "num_inputs", "inputs", "outputs", "out_grads",
        "skip_input_indices", "forward_pass_name_scope",
    ),
    "backprop._aggregate_grads": lambda: (
        set(import_module("tensorflow.python.eager.backprop")._aggregate_grads.__code__.co_names)
        >= {"gen_math_ops", "add_n"}
    ),
    "context.internal_operation_seed": lambda: (
        "internal_operation_seed"
        in import_module("tensorflow.python.framework.random_seed").get_seed.__code__.co_names
    ),
    "backprop_util.AggregateIndexedSlicesGradients": _takes(
        "eager.backprop_util", "AggregateIndexedSlicesGradients", "grads"
    ),
    "backprop._fast_fill": _takes("eager.backprop", "_fast_fill", "value", "shape", "dtype"),
    "imperative_grad.imperative_grad": _takes(
        "eager.imperative_grad", "imperative_grad", "tape", "target", "sources", "output_gradients"
    ),
    "record.record_operation": _takes(
        "eager.record", "record_operation", "op_type", "output_tensors", "input_tensors", "backward_function"
    ),
    "BaseResourceVariable": _has("ops.resource_variable_ops:BaseResourceVariable", "handle", "trainable", "value"),
    "Function._python_function": lambda: (
        callable(_function()._python_function) and "__call__" in vars(type(_function()))
    ),
    "StructuredFunctionWrapper": _takes(
        "data.ops.structured_function:StructuredFunctionWrapper", "__init__", "self", "func"
    ),
    "tf_decorator.unwrap": _takes("util.tf_decorator", "unwrap", "maybe_tf_decorator"),
    # Graphs ----------------------------------------------------------------------------------------------------------
    "BaseSession._do_run": _takes(
        "client.session:BaseSession", "_do_run", "self", "handle", "target_list", "fetch_list", "feed_dict", "options",
        "run_metadata",
    ),
    "BaseSession._make_callable_from_options": _takes(
        "client.session:BaseSession", "_make_callable_from_options", "self", "callable_options"
    ),
    "gradients_util._GradientsHelper": _takes("ops.gradients_util", "_GradientsHelper", "ys", "xs"),
    "gradients_util._LogOpGradients": _takes(
        "ops.gradients_util", "_LogOpGradients", "op", "out_grads", "in_grads"
    ),
    "Operation._original_op": lambda: _op()._original_op is None,
    "DType._is_ref_dtype": lambda: tensorflow.float32._is_ref_dtype is False,
}  # fmt: skip
"""Each private name, and whether it is there and is what it was."""

VERSIONS: Final = Versions("TensorFlow", tensorflow, oldest=(2, 16), newest=(2, 21), private=PROBES)
"""The versions of TensorFlow that can be recorded; `newest` is the newest that its tests have run with."""
