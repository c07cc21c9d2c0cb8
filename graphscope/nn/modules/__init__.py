"""Modules under the paths that some programs import them by: `torch.nn.modules.module.Module`."""

from graphscope.nn import module
from graphscope.nn.module import Module

__all__ = ["Module", "module"]
