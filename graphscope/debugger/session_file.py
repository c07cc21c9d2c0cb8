"""What a person set up over a recording, and where one stood, kept beside it until it is opened again."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger import nodes
from graphscope.debugger.breakpoint_reading import read
from graphscope.debugger.expressions import parse
from graphscope.debugger.hit_counts import hits_that_stop
from graphscope.debugger.own_signature import is_own, signature
from graphscope.debugger.results import BreakpointInfo, WatchInfo
from graphscope.debugger.setup import Setup, set_up, setup_of
from graphscope.errors import GraphscopeError
from graphscope.eventlog.schema import NODES

if TYPE_CHECKING:
    from pathlib import Path

    from graphscope.debugger.debugger import Debugger
    from graphscope.eventlog.reader import Log

FILE: Final = "session.json"
"""In the folder of the log; a packed log has none."""

_LARGEST: Final = 1 << 20
_OF_BREAKPOINT: Final[dict[str, type | tuple[type, ...]]] = {
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
_OF_WATCH: Final[dict[str, type | tuple[type, ...]]] = {
    "number": int,
    "expression": str,
    "row": (int, type(None)),
    "condition": str,
    "when": str,
}
_CODE: Final = ("condition", "commands", "message")
"""The fields of a breakpoint that hold what would be evaluated."""


@dataclass(frozen=True, slots=True)
class Session:
    """What was kept, as data."""

    setup: Setup = field(default_factory=Setup)
    aliases: Mapping[str, str] = field(default_factory=dict)
    checkpoints: Mapping[str, int] = field(default_factory=dict)
    row: int | None = None
    """Where one stood."""
    screen: Mapping[str, Any] = field(default_factory=dict)
    """How the screen was arranged, in the words of the screen."""
    said: tuple[str, ...] = ()
    """What a person should know of it, in sentences."""


def save(debugger: Debugger, screen: Mapping[str, Any] | None = None) -> None:
    """Write down what was set up, where the log is a folder that can be written to.

    Args:
        debugger: Whose breakpoints, watches, displays, aliases, checkpoints and place these are.
        screen: How the screen is arranged; None keeps what was said of that before.
    """
    path = debugger.log.path
    if not path.is_dir():
        return
    setup = setup_of(debugger)
    kept = {
        "breakpoints": [{name: getattr(found, name) for name in _OF_BREAKPOINT} for found in setup.breakpoints],
        "watches": [{name: getattr(found, name) for name in _OF_WATCH} for found in setup.watches],
        "displays": setup.displays,
        "aliases": debugger.aliases,
        "checkpoints": debugger.checkpoints,
        "row": debugger.now,
        "screen": dict(_read(debugger.log).screen if screen is None else screen),
    }
    text = json.dumps(kept)
    whole = json.dumps({"session": kept, "signature": signature(text)}, indent=1)
    made = path / f"{FILE}-{os.getpid()}"
    with contextlib.suppress(OSError):
        try:
            made.write_text(whole, encoding="utf-8")
            made.replace(path / FILE)
        finally:
            made.unlink(missing_ok=True)


def restore(debugger: Debugger) -> Session:
    """Set up again what was saved, and say what was not.

    A log may come from somebody else: what holds Python is then off, or left out.
    """
    kept = _read(debugger.log)
    set_up(debugger, kept.setup)
    debugger.aliases |= kept.aliases
    debugger.checkpoints |= kept.checkpoints
    return kept


def _read(log: Log) -> Session:
    said = () if log.path.is_dir() and os.access(log.path, os.W_OK) else (_unwritten(log.path),)
    file = log.path / FILE
    if not file.is_file():
        return Session(said=said)
    try:
        if file.stat().st_size > _LARGEST:
            raise ValueError("it is too large")
        found: Any = json.loads(file.read_text(encoding="utf-8"))
        kept = found["session"]
        session = _checked(kept, log)
        if not is_own(json.dumps(kept), found["signature"]):
            session = _without_code(session, file)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, GraphscopeError) as error:
        why = f"{type(error).__name__}: {error}"
        return Session(said=(f"{file} is damaged, so breakpoints and layout begin anew ({why})", *said))
    return replace(session, said=(*session.said, *said))


def _unwritten(log: Path) -> str:
    what = "can't be written to" if log.is_dir() else "is packed"
    return f"{log} {what}: what is set up here is not kept"


def _checked(kept: Mapping[str, Any], log: Log) -> Session:
    """What was kept, if all of it is what it should be."""
    breakpoints = tuple(_breakpoint(_typed(fields, _OF_BREAKPOINT)) for fields in kept["breakpoints"])
    watches = tuple(WatchInfo(**_typed(fields, _OF_WATCH)) for fields in kept["watches"])
    displays = tuple((int(number), str(text)) for number, text in kept["displays"])
    conditional: tuple[BreakpointInfo | WatchInfo, ...] = (*breakpoints, *watches)
    conditions = [found.condition for found in conditional if found.condition]
    for text in (*conditions, *(found.expression for found in watches), *(text for _, text in displays)):
        parse(text)
    for when in (found.when for found in conditional if found.when):
        hits_that_stop(when)
    for watch in watches:
        if watch.row is not None and not (log.first <= watch.row < log.end and log.event(watch.row).kind in NODES):
            raise ValueError(f"there is no node #{watch.row}")
    row = int(kept["row"])
    here = next(nodes.backward(log, log.first, row + 1), None) if log.first <= row < log.end else None
    return Session(
        Setup(breakpoints, watches, displays),
        {str(name): str(text) for name, text in kept["aliases"].items()},
        {str(name): int(place) for name, place in kept["checkpoints"].items()},
        here,
        dict(kept["screen"]),
    )


def _typed(fields: Mapping[str, Any], kinds: Mapping[str, type | tuple[type, ...]]) -> dict[str, Any]:
    for name, kind in kinds.items():
        if not isinstance(fields[name], kind):
            raise TypeError(name)
    return {name: fields[name] for name in kinds}


def _breakpoint(fields: dict[str, Any]) -> BreakpointInfo:
    commands = tuple(map(str, fields["commands"]))
    return BreakpointInfo(**{**fields, "selector": read(fields["spec"])[1], "commands": commands})


def _without_code(session: Session, file: Path) -> Session:
    """The same with nothing that would be evaluated, until a person says so."""
    setup = session.setup
    off = [found.number for found in setup.breakpoints if any(getattr(found, name) for name in _CODE)]
    breakpoints = tuple(
        replace(found, enabled=found.enabled and found.number not in off) for found in setup.breakpoints
    )
    parts = [f"breakpoint {number} is off until `enable {number}`" for number in off]
    parts += [f"`watch {found.expression}` is left out" for found in setup.watches]
    parts += [f"`display {text}` is left out" for _, text in setup.displays]
    parts += [f"`alias {name}` is left out" for name in session.aliases]
    said = (f"{file} was not written by you: {', '.join(parts)}",) if parts else ()
    return replace(session, setup=Setup(breakpoints, (), ()), aliases={}, said=said)
