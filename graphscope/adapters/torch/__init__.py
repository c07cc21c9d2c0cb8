"""PyTorch: programs are recorded and debugged as they are, forward by calls and backward by autograd's own nodes."""

from __future__ import annotations

import sys
from functools import partial

from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.inner import DeepCalls
from graphscope.adapters.torch.patches import Patches
from graphscope.adapters.torch.probes import refusal
from graphscope.adapters.torch.session import Session
from graphscope.adapters.torch.witness import testify
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
    testify(session.identities)
    session.make_calls = partial(DeepCalls if writer.capture == "ops" else Calls, session)
    _current = Patches(session, session.make_calls())
    _current.install()


def detach() -> None:
    """Record no more, and leave torch as it was."""
    global _current
    if _current is not None:
        _current.remove()
        _current = None
