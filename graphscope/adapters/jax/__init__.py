"""JAX: what runs is recorded primitive by primitive, jitted functions are looked into, and each node is pulled back."""

from __future__ import annotations

from graphscope.adapters.jax.supported_versions import VERSIONS
from graphscope.adapters.kit.attachment import Attachment
from graphscope.adapters.kit.notices import opens_all
from graphscope.adapters.kit.patches import Patches
from graphscope.eventlog.writer import Writer

__all__ = ["attach", "detach", "resume", "suspend"]


def _prepare(writer: Writer) -> Patches:
    """What is to be changed in JAX."""
    # Only here: it takes private names of JAX as it is imported, and some version may not have them.
    from graphscope.adapters.jax.patches import JaxPatches

    opens_all("JAX", writer.capture)
    return JaxPatches(writer)


_attachment = Attachment(_prepare, VERSIONS)
attach, detach = _attachment.attach, _attachment.detach
suspend, resume = _attachment.suspend, _attachment.resume
