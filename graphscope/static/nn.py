"""What networks compute, on tensors of a graph: TensorFlow 1's functions, and the engine's under their own names."""

from __future__ import annotations

from typing import Any

from graphscope.static.words.namespaces import named


def __getattr__(name: str) -> Any:
    return named("nn", name)
