"""What calls and programs of `tensorflow_calls` come to, under TensorFlow or graphscope.static, as plain data.

As a program it does so under TensorFlow: `python -m tests.static.tensorflow_outcomes FILE`.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Final

import numpy as np

from tests.static.tensorflow_calls import CALLS, GIVEN, PROGRAMS

FED = np.arange(12, dtype=np.float32).reshape(4, 3) / 4 - 1

_GIVEN: Final = compile(GIVEN, __file__, "exec")
_kept: Final[list[CodeType]] = []
"""Of all that ran: TensorFlow looks for the lines of an error, and falls where there is no code any more."""


def texts() -> Iterator[tuple[str, str]]:
    """All that is evaluated: a name for each, and its text."""
    for family, lines in CALLS.items():
        for line in lines.strip().splitlines():
            yield f"{family}: {line}", f"told = {line}"
    for name, program in PROGRAMS.items():
        yield f"program: {name}", program


def outcomes(tf: Any) -> dict[str, Any]:
    """For each text ("value", what it told) or ("refused", the error)."""
    return {name: outcome(tf, text) for name, text in texts()}


def outcome(tf: Any, text: str) -> tuple[str, Any]:
    """What one text comes to in a graph of its own."""
    graph = tf.Graph()
    with graph.as_default():
        session = tf.Session()
        names: dict[str, Any] = {"tf": tf, "np": np, "session": session}
        exec(_GIVEN, names)
        try:
            _kept.append(compile(text, __file__, "exec"))
            exec(_kept[-1], names)
            return "value", _plain(tf, names["told"], names)
        except Exception as error:
            return "refused", error if hasattr(error, "hint") else f"{type(error).__name__}: {error}"


def _plain(tf: Any, told: Any, names: dict[str, Any]) -> Any:
    """Data alone, that can be compared: arrays for tensors, names for dtypes and things."""
    if isinstance(told, list | tuple):
        dims = getattr(told, "as_list", None)
        return ("shape", dims()) if dims else [_plain(tf, each, names) for each in told]
    if isinstance(told, dict):
        return {key: _plain(tf, each, names) for key, each in told.items()}
    if type(told).__name__ == "Dimension":
        return told.value
    if told is None or isinstance(told, bool | int | float | str):
        return told
    if isinstance(told, np.ndarray | np.generic):
        return np.asarray(told)
    if type(told).__name__ in ("DType", "TensorShape"):
        return told.name if hasattr(told, "name") else ("shape", None if told.ndims is None else told.as_list())
    if isinstance(told, type | np.dtype):
        return np.dtype(told).name if not isinstance(told, type) or issubclass(told, np.generic) else "a class"
    if type(told).__name__ == "IndexedSlices":
        told = tf.convert_to_tensor(told)
    if callable(told) and not hasattr(told, "graph"):
        return "a function"
    session = names["session"]
    session.run(tf.global_variables_initializer())
    session.run(tf.variables_initializer(tf.local_variables()))
    found = session.run(told, {names["x"]: FED, names["n"]: 3})
    return (
        None
        if found is None
        else [np.asarray(each) for each in found]
        if isinstance(found, list | tuple)
        else np.asarray(found)
    )


if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = outcomes(tf)
    Path(sys.argv[1]).write_bytes(pickle.dumps(found))
