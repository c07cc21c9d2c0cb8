"""What commands answer: frozen data that any screen can render and that travels as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final, Literal, get_args

from graphscope.diagnose.explanation import Explanation, Step

Cell = str | int | float | bool | None
"""What stands in a cell of a table."""

PassName = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program."""

    file: str
    line: int
    function: str = ""
    text: str = ""
    """The line itself, stripped; empty when the source is not known."""


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """What a screen says of a node without asking for values."""

    row: int
    kind: str
    op: str
    label: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    graph_pass: PassName
    scope: str
    """The path of its module, and its class: `encoder.1 (ReLU)`."""
    place: Place | None


@dataclass(frozen=True, slots=True)
class Display:
    """An expression that is shown at every stop."""

    number: int
    expression: str
    text: str


@dataclass(frozen=True, slots=True)
class Stop:
    """The debugger stands somewhere: at a node, ahead of one, or at an end of the log."""

    reason: str
    """Why, in words: empty for an ordinary step."""
    node: NodeInfo | None
    live: bool = False
    """The program waits here; otherwise this is a position in what was recorded."""
    before: bool = False
    """The node has not been computed yet, and its row is not written."""
    breakpoint: int | None = None
    commands: tuple[str, ...] = ()
    """What was attached to the breakpoint with `commands`: to be carried out now."""
    silent: bool = False
    """The breakpoint asked not to be announced."""
    notes: tuple[str, ...] = ()
    displays: tuple[Display, ...] = ()


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the program, or one site of a recorded node."""

    place: Place
    scope: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True)
class Where:
    """The frames, outermost first."""

    frames: tuple[Frame, ...]
    current: int


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of a source file."""

    file: str
    first: int
    lines: tuple[str, ...]
    current: int | None = None
    """The line where the debugger stands."""
    breakpoints: tuple[int, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()
    """What is to be said of single lines: (line, text)."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """An array in numbers."""

    min: float
    max: float
    mean: float
    std: float
    nan: int
    inf: int
    zero: int


@dataclass(frozen=True, slots=True)
class ValueResult:
    """What an expression gave."""

    expression: str
    text: str
    """How Python prints it."""
    type: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class TableResult:
    """Rows under headings."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    note: str = ""
    """Said below the table, or instead of it when it has no rows."""
    wrap: bool = False
    """The last column holds words: where the screen is too narrow they go on in the next line, and none is cut."""


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence, or a text of several lines."""

    text: str
    hint: str = ""
    error: bool = False


@dataclass(frozen=True, slots=True)
class Resumed:
    """The program runs on: the next stop comes from the gate."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The person leaves; `restart` asks for the program to be run again, with these arguments unless they are None."""

    restart: bool = False
    arguments: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Interact:
    """A Python prompt is wanted, over the names of the current frame."""


Result = Stop | Where | Listing | ValueResult | TableResult | Message | Resumed | Ended | Interact | Explanation
"""Everything that a command may answer."""


def to_json(result: object) -> Any:
    """A result as plain JSON: a dataclass names its type under `type_name`; NaN and Inf, which JSON lacks, are text."""
    if is_dataclass(result) and not isinstance(result, type):
        body = {field.name: to_json(getattr(result, field.name)) for field in fields(result)}
        return {"type_name": type(result).__name__, **body}
    if isinstance(result, (tuple, list)):
        return [to_json(item) for item in result]
    if isinstance(result, float) and not math.isfinite(result):
        return str(result)
    return result


def from_json(found: Any) -> Any:
    """What `to_json` was given: dataclasses by their `type_name`, tuples for lists."""
    if isinstance(found, list):
        return tuple(map(from_json, found))
    if not isinstance(found, dict):
        return found
    kind = _KINDS[found["type_name"]]
    body = {key: from_json(value) for key, value in found.items() if key != "type_name"}
    if kind is Statistics:
        body = {key: float(value) if isinstance(value, str) else value for key, value in body.items()}
    return kind(**body)


_KINDS: Final[dict[str, type]] = {
    kind.__name__: kind for kind in (*get_args(Result), Frame, Place, NodeInfo, Display, Statistics, Step)
}
