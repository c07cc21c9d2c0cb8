"""What is changed in TensorFlow while it is recorded: each part of the adapter says what it replaces."""

from __future__ import annotations

import tensorflow as tf

from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Tape
from graphscope.adapters.tensorflow.sessions import Sessions
from graphscope.eventlog.writer import Writer


class TensorFlowPatches(Patches):
    """All of it."""

    def __init__(self, writer: Writer) -> None:
        super().__init__("TensorFlow")
        self._tape = Tape(writer, "TensorFlow", [tf])

    def install(self) -> None:
        for part in (Sessions(self._tape),):
            part.install(self)
