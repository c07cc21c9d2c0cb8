"""Checkpoints: trade time for memory."""

from __future__ import annotations

from graphscope.engine.core.checkpointing import CheckpointError as CheckpointError
from graphscope.engine.core.checkpointing import checkpoint as checkpoint

__all__ = ["CheckpointError", "checkpoint"]
