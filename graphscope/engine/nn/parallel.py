"""Modules that PyTorch would spread over devices."""

from __future__ import annotations

from typing import Any

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.nn.module import Module

__all__ = ["DataParallel"]


class DataParallel(Module):
    """A module on all devices at once, of which there is one here: calls go to `module`, as in PyTorch without a GPU.

    Args:
        module: The module; its parameters are named `module.*` here.
        device_ids: Accepted; there is the CPU.
        output_device: Accepted.
        dim: Accepted.
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)


_answer_for(__name__)
