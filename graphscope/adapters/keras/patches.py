"""What is changed in Keras while it is recorded."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import keras

from graphscope.adapters.keras import variables
from graphscope.adapters.keras.layers import Layers
from graphscope.adapters.keras.optimizers import Optimizers
from graphscope.adapters.kit.notices import say
from graphscope.adapters.kit.patches import Patches, Replaced
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.adapters.tensorflow.session import Session

_BACKEND = "tensorflow"
_SEEN = {"jax": "JAX", "torch": "PyTorch"}


class KerasPatches(Patches):
    """All of it."""

    def __init__(self, writer: Writer) -> None:
        super().__init__("Keras")

    def install(self) -> None:
        backend = keras.config.backend()
        if backend != _BACKEND:
            ops = f"ops are told as {_SEEN[backend]} has them" if backend in _SEEN else "no op of that is seen"
            say(f"Keras computes with {backend} here: {ops}, layers are no scopes, and the steps of optimizers untold")
            return
        for part in (Layers(session), Optimizers(session)):
            part.install(self)
        variables.install(self)

    def stays(self, replaced: Replaced) -> bool:
        """What ends steps does, and what names variables."""
        return replaced.name in ("apply", "_initialize")


def session() -> Session | None:
    """What records TensorFlow, which may be attached later than Keras, that it imports."""
    recordings = sys.modules.get("graphscope.adapters.tensorflow.session")
    found: Session | None = None if recordings is None else recordings.current
    return found if found is not None and found.tape.is_recording else None
