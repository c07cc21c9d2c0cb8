"""PyTorch: programs are recorded and debugged as they are, forward by calls and backward by autograd's own nodes."""

from __future__ import annotations

import sys

from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.patches import Patches
from graphscope.adapters.torch.probes import refusal
from graphscope.adapters.torch.session import Session
from graphscope.eventlog.writer import Writer

__all__ = ["attach", "detach"]

_current: Patches | None = None


def attach(writer: Writer) -> None:
    """Record what torch computes from now on."""
    global _current
    reason = refusal()
    if reason is not None:
        print(f"graphscope: {reason}", file=sys.stderr)  # noqa: T201 - the program goes on, and its person is to know
        return
    session = Session(writer)
    _current = Patches(session, Calls(session))
    _current.install()


def detach() -> None:
    """Record no more, and leave torch as it was."""
    global _current
    if _current is not None:
        _current.remove()
        _current = None
