"""PyTorch: programs are recorded and debugged as they are, forward by calls and backward by autograd's own nodes."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from graphscope.adapters.torch import supported_versions
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.adapters.torch.patches import TorchPatches

__all__ = ["attach", "detach"]

_current: TorchPatches | None = None
_said: set[str] = set()


def attach(writer: Writer) -> None:
    """Record what torch computes from now on; where this version of it can't be recorded, say so and let it be."""
    reason = supported_versions.refusal() or _begin(writer) or supported_versions.notice()
    if reason is not None and reason not in _said:
        _said.add(reason)
        print(f"graphscope: {reason}", file=sys.stderr)  # noqa: T201 - the program goes on, and its person is to know


def _begin(writer: Writer) -> str | None:
    """Change torch, or say why it can't be done."""
    global _current
    try:
        # Only here: they take private names of torch as they are imported, and some version may not have them.
        from graphscope.adapters.torch.aten_ops import DeepCalls
        from graphscope.adapters.torch.forward import Calls
        from graphscope.adapters.torch.modes import sweep
        from graphscope.adapters.torch.patches import TorchPatches
        from graphscope.adapters.torch.session import Session
        from graphscope.adapters.torch.tensor_readers import testify

        sweep()
        session = Session(writer)
        testify(session.identities)
        session.make_calls = partial(DeepCalls if writer.capture == "ops" else Calls, session)
        _current = TorchPatches(session, session.make_calls())
        _current.install()
    except Exception as error:  # noqa: BLE001 - whatever an unknown version raises, it is not the program's fault
        detach()
        return supported_versions.stumbled(error)
    return None


def detach() -> None:
    """Record no more, and leave torch as it was."""
    global _current
    current, _current = _current, None
    if current is not None:
        current.remove()
