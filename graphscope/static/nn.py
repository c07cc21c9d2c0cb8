"""What networks compute, on tensors of a graph: TensorFlow 1's functions, and the engine's under their own names."""

from __future__ import annotations

from typing import Any

from graphscope.static.sessions import tensorflow_names


def __getattr__(name: str) -> Any:
    function = tensorflow_names.NN.get(name)
    return tensorflow_names.op(name) if function is None else tensorflow_names.named(function, name)
