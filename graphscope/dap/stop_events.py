"""Why one stands somewhere: a stop of the debugger in the words of the protocol."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter
    from graphscope.debugger.results import NodeInfo, Stop

REASONS: Final = {"functions": "function breakpoint", "exceptions": "exception"}
"""What a group of breakpoints is called; the others are lines."""

PAUSE: Final = "interrupted"
ENTRY: Final = "entry"


def why(adapter: Adapter, stop: Stop) -> dict[str, Any]:
    """The body of a `stopped` event."""
    session = adapter.need_session()
    reason = _reason(adapter, stop)
    made: dict[str, Any] = {
        "reason": reason,
        "description": described(stop),
        "threadId": session.thread,
        "allThreadsStopped": True,
    }
    text = "; ".join(part for part in (stop.reason, *stop.notes) if part and part not in (ENTRY, PAUSE))
    if text:
        made["text"] = text
    hit = [] if stop.breakpoint is None else [stop.breakpoint]
    watched = set(adapter.breakpoints.get("data", {}).values())
    hit += [
        -number for number in map(int, _WATCHES.findall("; ".join((stop.reason, *stop.notes)))) if number in watched
    ]
    return made | ({"hitBreakpointIds": hit} if hit else {})


_WATCHES = re.compile(r"(?:^|; )watch (\d{1,9}):")


def _reason(adapter: Adapter, stop: Stop) -> str:
    if adapter.need_session().failure:
        return "exception"
    if stop.breakpoint is not None:
        groups = (name for name, numbers in adapter.breakpoints.items() if stop.breakpoint in numbers.values())
        return REASONS.get(next(groups, ""), "breakpoint")
    if stop.reason.startswith("watch "):
        return "data breakpoint"
    if stop.reason == PAUSE:
        return "pause"
    return "entry" if stop.reason == ENTRY else "step"


def described(stop: Stop) -> str:
    """Where one stands, in a few words."""
    if stop.node is None:
        return stop.reason or "ahead of the first node"
    return f"{'before ' if stop.before else ''}{title(stop.node)}"


def title(node: NodeInfo) -> str:
    """A node in a few words: `#12 MulBackward c`."""
    name = f" {node.name}" if node.name and node.name != node.label else ""
    return f"#{node.row} {node.label}{name}"
