"""A session that is debugged: each run stops at its first node, at a prompt that knows tfdbg's words."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from graphscope.debugger.gate import LiveGate
from graphscope.debugger.motion import CONTINUE
from graphscope.debugger.tensor_filters import add_tensor_filter
from graphscope.errors import StaticError
from graphscope.eventlog import record as recording

_Session = TypeVar("_Session")


def debug(session: _Session) -> _Session:
    """Let each run of a session stop at its first node: `sess = graphscope.static.debug(sess)`.

    This line takes the place of tfdbg's `LocalCLIDebugWrapperSession`. At the prompt, `run` goes on to the next run,
    `run -t 10` past ten of them, `run -f has_inf_or_nan` to the first tensor that a filter holds for; `lt`, `ni`, `pt`
    and the like look at what is recorded.

    Args:
        session: One of `graphscope.static`, or of TensorFlow 1.

    Returns:
        The session itself, which has `add_tensor_filter(name, function)` from now on.

    Raises:
        StaticError: It is no session.
    """
    run = getattr(session, "run", None)
    if not callable(run) or not hasattr(session, "graph"):
        raise StaticError(
            f"{type(session).__name__} is no session", hint="sess = graphscope.static.debug(tf.Session())"
        )
    if not hasattr(run, "_graphscope_stops"):
        session.run = _stopping(run)  # type: ignore[attr-defined]
        session.add_tensor_filter = add_tensor_filter  # type: ignore[attr-defined]
        if recording.active() is None:
            _stop_at_next()
    return session


def _stopping(run: Callable[..., Any]) -> Callable[..., Any]:
    """`run` of a session, which stops at the first node unless a person is on the way to somewhere else."""

    @functools.wraps(run)
    def stopping(*args: Any, **kwargs: Any) -> Any:
        writer = recording.active()
        gate = None if writer is None else writer.gate
        plan = gate.debugger.plan if isinstance(gate, LiveGate) else None
        if not (isinstance(gate, LiveGate) and gate.asking) and (plan is None or plan.motion is CONTINUE):
            _stop_at_next()
        return run(*args, **kwargs)

    stopping._graphscope_stops = True  # type: ignore[attr-defined]
    return stopping


def _stop_at_next() -> None:
    """Stop at the next node; where nothing is recorded yet, begin to."""
    # A layer above: the prompt. A program that debugs nothing loads none.
    import_module("graphscope.console.prompt_entry").set_trace()
