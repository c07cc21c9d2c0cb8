"""Checkpoints: trade time for memory."""

from __future__ import annotations

from graphscope.engine.absent import answer_for as _answer_for
from graphscope.engine.core.checkpointing import CheckpointError as CheckpointError
from graphscope.engine.core.checkpointing import checkpoint as checkpoint

__all__ = ["CheckpointError", "checkpoint"]

_answer_for(__name__)
