"""TensorFlow: eager programs by their ops and the tapes that differentiate them, graphs by their sessions."""

from __future__ import annotations

from graphscope.adapters.kit.attachment import Attachment
from graphscope.adapters.kit.notices import opens_all
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.tensorflow.supported_versions import VERSIONS
from graphscope.eventlog.writer import Writer

__all__ = ["attach", "detach", "resume", "suspend"]


def _prepare(writer: Writer) -> Patches:
    """What is to be changed in TensorFlow."""
    # Only here: they take private names of TensorFlow as they are imported, and some version may not have them.
    from graphscope.adapters.tensorflow.patches import TensorFlowPatches

    opens_all("TensorFlow", writer.capture)
    return TensorFlowPatches(writer)


_attachment = Attachment(_prepare, VERSIONS)
attach, detach = _attachment.attach, _attachment.detach
suspend, resume = _attachment.suspend, _attachment.resume
