"""What can be seen at a frame: the node's value, gradient, inputs, saved values and users; the frame's variables.

Some editors write what they know behind the names in the source, whatever its group: what is no variable of the program
is called as none can be.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from graphscope.dap.references import Opened, References
from graphscope.dap.stack_frames import source_of
from graphscope.debugger import expression_names
from graphscope.debugger.inspection import Entry
from graphscope.debugger.recorded_locals import RecordedLocals
from graphscope.debugger.value_results import brief_of
from graphscope.errors import CommandError
from graphscope.graph import Node
from graphscope.graph.operands import Operand, attributes_of, saved

if TYPE_CHECKING:
    from graphscope.dap.log_session import Session


@dataclass(frozen=True)
class Scope:
    """A group of variables of a node."""

    name: str
    open: Callable[[Session], Awaitable[list[Entry]]]
    hint: str = ""


async def _value(session: Session) -> list[Entry]:
    node = session.debugger.node
    made = [await _word(session, "value")]
    if node is not None:
        owner = expression_names.owner_of(node) or node
        facts = {"op": owner.op, "formula": getattr(owner, "formula", ""), "name": owner.name}
        facts |= {"row": node.row, "shape": owner.shape, "dtype": owner.dtype, "scope": owner.scope}
        facts |= {"attributes": dict(attributes_of(owner)) if isinstance(owner, Node) else {}}
        if isinstance(owner, Node) and owner.edited:
            made.append(session.handles.entry("computed", owner.computed))
        known = {f"node {name}": value for name, value in facts.items() if value not in ("", None, {})}
        made += [session.handles.entry(name, value) for name, value in known.items()]
    return made


async def _gradient(session: Session) -> list[Entry]:
    made = [await _word(session, "grad")]
    node = session.debugger.node
    owner = None if node is None else expression_names.owner_of(node)
    for found in getattr(owner, "contributions", ()):
        source = "" if found.source is None else f" from #{found.source.row} {found.source.label}"
        made.append(session.handles.entry(f"contribution #{found.row}{source}", found.value, f"#{found.row}.value"))
    return made


async def _inputs(session: Session) -> list[Entry]:
    debugger = session.debugger
    node = debugger.node
    rows = getattr(node, "input_rows", None)
    if node is None or rows is not None:
        found = [debugger.graph.node(row) for row in rows or ()]
        return [session.handles.entry(_title(each), each.value, f"#{each.row}.value") for each in found]
    owner = expression_names.owner_of(node)
    if owner is None:
        return []
    return [_operand(session, each) for each in owner.operands]


def _title(node: Node) -> str:
    return f"{node.name or node.label} #{node.row}"


def _operand(session: Session, operand: Operand) -> Entry:
    """What an op was given, by its name in the text of its rules."""
    if operand.edge is None:
        return session.handles.entry(f"{operand.name}: constant", operand.constant)
    source, slot = operand.edge.source, operand.edge.slot
    part = f"output({slot})" if slot else "value"
    return session.handles.entry(f"{operand.name}: {_title(source)}", source.output(slot), f"#{source.row}.{part}")


async def _saved(session: Session) -> list[Entry]:
    """What the rules of the op need."""
    debugger = session.debugger
    node = debugger.node
    owner = None if node is None else expression_names.owner_of(node)
    if owner is None or not hasattr(owner, "event"):
        return []
    operands, needs_output = saved(owner)
    made = [_operand(session, each) for each in operands]
    if needs_output:
        made.append(session.handles.entry(f"out: {_title(owner)}", owner.value, f"#{owner.row}.value"))
    return made


async def _users(session: Session) -> list[Entry]:
    node = session.debugger.node
    if node is None or not hasattr(node, "users"):
        return []
    users = [edge.target for edge in node.users]
    return [session.handles.entry(f"#{each.row} {each.label}", each.value, f"#{each.row}.value") for each in users]


SCOPES: Final = (
    Scope("Value", _value, "arguments"),
    Scope("Gradient", _gradient),
    Scope("Inputs", _inputs),
    Scope("Saved", _saved),
    Scope("Users", _users),
)
"""The groups of variables of a node, in the order in which they are shown."""


def _missing(session: Session, word: str) -> str:
    """Why `value` or `grad` is None."""
    if word != "value":
        return "none so far"
    node = session.debugger.node
    owner = None if node is None else expression_names.owner_of(node)
    return "not kept" if owner is None else brief_of(owner)


async def _word(session: Session, word: str) -> Entry:
    debugger = session.debugger
    elsewhere = debugger.node_at_hand is None and debugger.node is not None  # the last node, told beneath a line
    expression = expression_names.anywhere(debugger.node, word) if elsewhere and debugger.node is not None else word
    try:
        found = await session.look(expression)
    except CommandError as error:
        return Entry(word, f"<{error.message}>")
    if found.text == "None" and not found.handle:
        return Entry(word, _missing(session, word), expression=expression)
    return replace(found, name=word)


def scopes_of(references: References, session: Session, frame: int | None) -> list[dict[str, Any]]:
    """The scopes of a frame: those of the node where it is none of Python's, and Python's where the program waits."""

    def scope_entry(
        name: str, make: Callable[[], Awaitable[list[Entry]]], place: int | None, hint: str = ""
    ) -> dict[str, Any]:
        async def opening(kind: str, start: int, count: int) -> list[Entry]:
            entries = [] if kind == "indexed" else await make()
            return entries[start : start + count if count else None]

        number = references.add(Opened(session, opening, "", place))
        made: dict[str, Any] = {"name": name, "variablesReference": number, "expensive": False}
        return made | ({"presentationHint": hint} if hint else {})

    live = session.live_frame(frame)
    made = []
    if frame is None:
        made = [scope_entry(scope.name, _bound(scope, session), None, scope.hint) for scope in SCOPES]
    chosen = frame if live is None else live
    recorded = session.recorded_locals(chosen)
    if live is not None or recorded:
        variables = scope_entry("Locals", _of_python(session, frame, "locals"), chosen, "locals")
        made.append(variables | _range(session, chosen))
    if live is not None:
        made.append(scope_entry("Globals", _of_python(session, frame, "globals"), live) | {"expensive": True})
    return made


def _range(session: Session, frame: int | None) -> dict[str, Any]:
    """The lines that the variables of a frame belong to: elsewhere an editor does not write them into the text."""
    debugger = session.debugger
    recorded = session.recorded_locals(frame)
    place = recorded.place if recorded is not None else debugger.where().frames[frame or 0].place
    lines = RecordedLocals(debugger.graph, place, debugger.now).lines
    if lines is None:
        return {}
    source = source_of(debugger.log, place.file)
    return {"source": source, "line": lines[0], "column": 1, "endLine": lines[1], "endColumn": 1}


def _bound(scope: Scope, session: Session) -> Callable[[], Awaitable[list[Entry]]]:
    return lambda: scope.open(session)


def _of_python(session: Session, frame: int | None, which: str) -> Callable[[], Awaitable[list[Entry]]]:
    return lambda: session.variables(frame, which)
