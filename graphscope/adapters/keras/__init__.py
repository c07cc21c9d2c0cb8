"""Keras on TensorFlow, whose adapter shows the ops: layers and losses are scopes, and optimizers end steps."""

from __future__ import annotations

from graphscope.adapters.keras.supported_versions import VERSIONS
from graphscope.adapters.kit.attachment import Attachment
from graphscope.adapters.kit.patches import Patches
from graphscope.eventlog.writer import Writer

__all__ = ["attach", "detach", "resume", "suspend"]


def _prepare(writer: Writer) -> Patches:
    """What is to be changed in Keras."""
    # Only here: it takes private names of Keras as it is imported, and some version may not have them.
    from graphscope.adapters.keras.patches import KerasPatches

    return KerasPatches(writer)


_attachment = Attachment(_prepare, VERSIONS)
attach, detach = _attachment.attach, _attachment.detach
suspend, resume = _attachment.suspend, _attachment.resume
