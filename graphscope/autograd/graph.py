"""The nodes of the way back."""

from __future__ import annotations

from graphscope.engine.node import Node as Node

__all__ = ["Node"]
