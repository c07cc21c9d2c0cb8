"""What networks compute, on tensors of a graph: TensorFlow 1's functions, and the engine's under their own names."""

from __future__ import annotations

from typing import Any

from graphscope.static import spellings


def __getattr__(name: str) -> Any:
    function = spellings.NN.get(name)
    return spellings.op(name) if function is None else spellings.named(function, name)
