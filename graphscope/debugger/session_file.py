"""What a person set up over a recording (breakpoints and checkpoints), kept beside it until it is opened again."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger.breakpoints import breakpoint_of, read
from graphscope.debugger.hit_counts import hits_that_stop
from graphscope.debugger.results import BreakpointInfo
from graphscope.errors import GraphscopeError

if TYPE_CHECKING:
    from graphscope.debugger.breakpoints import Breakpoint
    from graphscope.debugger.debugger import Debugger

FILE: Final = "session.json"
"""In the folder of the log; a packed log has none."""

_LARGEST: Final = 1 << 20
_FIELDS: Final[dict[str, type | tuple[type, ...]]] = {
    "number": int,
    "spec": str,
    "condition": str,
    "before": bool,
    "temporary": bool,
    "enabled": bool,
    "ignore": int,
    "commands": list,
    "when": str,
    "message": str,
    "graph_pass": (str, type(None)),
}
"""The fields of a breakpoint."""

_CODE: Final = ("condition", "commands", "message")
"""Those that hold what would be evaluated."""


def save(debugger: Debugger) -> None:
    """Write down what was set up, where the log is a folder that can be written to."""
    file = debugger.log.path / FILE
    kept = {
        "breakpoints": [{name: getattr(found.info, name) for name in _FIELDS} for found in debugger.breakpoints],
        "checkpoints": debugger.checkpoints,
    }
    with contextlib.suppress(OSError):
        if any(kept.values()):
            file.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        else:
            file.unlink(missing_ok=True)


def restore(debugger: Debugger) -> None:
    """Set up again what was saved. A log may come from somebody else: what holds Python is off until it is enabled."""
    file = debugger.log.path / FILE
    try:
        found: Any = json.loads(file.read_text(encoding="utf-8")) if file.stat().st_size < _LARGEST else {}
        checkpoints = {str(name): int(row) for name, row in found["checkpoints"].items()}
        breakpoints = [_checked(fields) for fields in found["breakpoints"]]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, GraphscopeError):
        return  # there is none, or it is not ours
    debugger.checkpoints |= checkpoints
    for each in breakpoints:
        debugger.breakpoints.put(each)


def _checked(fields: dict[str, Any]) -> Breakpoint:
    for name, kind in _FIELDS.items():
        if not isinstance(fields[name], kind):
            raise TypeError(name)
    if fields["when"]:
        hits_that_stop(fields["when"])
    plain = not any(fields[name] for name in _CODE)
    kept = {name: fields[name] for name in _FIELDS} | {
        "commands": tuple(map(str, fields["commands"])),
        "enabled": fields["enabled"] and plain,
    }
    return breakpoint_of(BreakpointInfo(selector=read(fields["spec"])[1], **kept))
