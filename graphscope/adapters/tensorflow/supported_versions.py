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


def _op() -> Any:
    with tensorflow.Graph().as_default():
        return tensorflow.no_op()


PROBES: Final[dict[str, Callable[[], bool]]] = {
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
