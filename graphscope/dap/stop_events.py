"""Why one stands somewhere: a stop of the debugger in the words of the protocol."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger.result_lines import beside, reason

if TYPE_CHECKING:
    from graphscope.dap.adapter import Adapter
    from graphscope.debugger.results import Cause, NodeInfo, Stop

REASONS: Final[dict[Cause, str]] = {
    "step": "step",
    "entry": "entry",
    "breakpoint": "breakpoint",
    "watch": "data breakpoint",
    "pause": "pause",
    "exception": "exception",
    "raised": "exception",
    "end": "step",
}
"""What the protocol calls the causes of a stop."""

OF_BREAKPOINTS: Final = {"functions": "function breakpoint", "exceptions": "exception"}
"""What it calls a stop at a breakpoint that is not of a line, by the kind of its group."""


def stopped_event(adapter: Adapter, stop: Stop) -> dict[str, Any]:
    """The body of a `stopped` event."""
    made: dict[str, Any] = {
        "reason": _reason(adapter, stop),
        "description": described(stop),
        "threadId": adapter.need_session().thread,
        "allThreadsStopped": True,
    }
    said = "" if stop.cause in ("entry", "pause") else reason(stop)
    by_node = adapter.need_session().debugger.granularity == "node"
    text = "; ".join(filter(None, (said, _hits(stop) if by_node else "", *beside(stop))))
    if text:
        made["text"] = text
    hit = [] if stop.breakpoint is None else [stop.breakpoint.number]
    watched = set(adapter.watches.values())
    hit += [-change.watch for change in stop.changes if change.watch in watched]
    return made | ({"hitBreakpointIds": hit} if hit else {})


def _hits(stop: Stop) -> str:
    """How often one has been hit that stops at some of its hits: editors count lines, and here it is nodes."""
    found = stop.breakpoint
    return f"hit {found.hits}, each node is one" if found is not None and found.when else ""


def _reason(adapter: Adapter, stop: Stop) -> str:
    if stop.breakpoint is not None:
        groups = (
            group.kind for group, numbers in adapter.breakpoints.items() if stop.breakpoint.number in numbers.values()
        )
        return OF_BREAKPOINTS.get(next(groups, ""), REASONS["breakpoint"])
    return REASONS[stop.cause]


def described(stop: Stop) -> str:
    """Where one stands, in a few words."""
    if stop.raised is not None and stop.raised.type and not stop.raised.by_node:
        return reason(stop)
    if stop.line is not None:
        return f"{PurePath(stop.line.file).name}:{stop.line.line}"
    if stop.node is None:
        return reason(stop) or "ahead of the first node"
    return f"{'before ' if stop.before else ''}{title(stop.node)}"


def title(node: NodeInfo) -> str:
    """A node in a few words: `#12 MulBackward c`."""
    name = f" {node.name}" if node.name and node.name != node.label else ""
    return f"#{node.row} {node.label}{name}"
