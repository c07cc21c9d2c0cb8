"""The nodes of the way back, and where what they saved is kept."""

from __future__ import annotations

import contextlib

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.node import Node as Node

__all__ = ["Node", "save_on_cpu"]


class save_on_cpu(contextlib.nullcontext[None]):  # noqa: N801 - PyTorch's spelling
    """Inside, what ops save for the backward pass is kept on the CPU: here it always is.

    Args:
        pin_memory: Accepted and of no effect.
        device_type: Likewise.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__()


_answer_for(__name__)
