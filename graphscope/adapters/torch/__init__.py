"""PyTorch: programs are recorded and debugged as they are, forward by calls and backward by autograd's own nodes."""

from __future__ import annotations

from functools import partial

from graphscope.adapters.kit.attachment import Attachment
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.torch.supported_versions import VERSIONS
from graphscope.eventlog.writer import Writer

__all__ = ["attach", "detach", "resume", "suspend"]


def _prepare(writer: Writer) -> Patches:
    """What is to be changed in torch."""
    # Only here: they take private names of torch as they are imported, and some version may not have them.
    from graphscope.adapters.torch.aten_ops import DeepCalls
    from graphscope.adapters.torch.control import Waiting
    from graphscope.adapters.torch.forward import Calls
    from graphscope.adapters.torch.modes import sweep
    from graphscope.adapters.torch.patches import TorchPatches
    from graphscope.adapters.torch.session import Session
    from graphscope.adapters.torch.tensor_reader import register

    sweep()
    session = Session(writer)
    register(session.identities)
    writer.asides.append(partial(Waiting, session))
    session.make_calls = partial(DeepCalls if writer.capture == "ops" else Calls, session)
    return TorchPatches(session, session.make_calls())


_attachment = Attachment(_prepare, VERSIONS)
attach, detach = _attachment.attach, _attachment.detach
suspend, resume = _attachment.suspend, _attachment.resume
