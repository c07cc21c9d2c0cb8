"""What commands answer: frozen data that any screen can render and that travels as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from graphscope.diagnose import Explanation, Finding, Report
from graphscope.graph.select import Selector

Cell = str | int | float | bool | None
"""What stands in a cell of a table."""

PassName = Literal["forward", "backward"]

Cause = Literal["step", "entry", "breakpoint", "watch", "pause", "exception", "raised", "end"]
"""Why one stands somewhere: a move has ended there, the program (the recording) began, was stopped, failed, ended; or
an exception was raised that may yet be caught."""


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
class BreakpointInfo:
    """A breakpoint as it was set, and what has become of it so far."""

    number: int
    spec: str
    selector: Selector | None = None
    """None where a check is what to stop at."""
    condition: str = ""
    before: bool = False
    temporary: bool = False
    enabled: bool = True
    ignore: int = 0
    hits: int = 0
    commands: tuple[str, ...] = ()
    graph_pass: PassName | None = None
    when: str = ""
    message: str = ""
    backward_hits: int = 0
    """Those of `hits` in backward passes, where lines are counted."""

    @property
    def title(self) -> str:
        """As a person types it."""
        return f"{self.spec}{' before' * self.before}{f', {self.condition}' if self.condition else ''}"


@dataclass(frozen=True, slots=True)
class WatchInfo:
    """A watch as it was set, and how often it has stopped."""

    number: int
    expression: str
    row: int | None
    """The tensor that its words (`value`, `grad`) speak of."""
    condition: str = ""
    when: str = ""
    hits: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A watched expression that is another than before."""

    watch: int
    expression: str
    before: str
    after: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception that left the program, or is about to leave a line of it."""

    type: str
    text: str
    place: Place | None
    """The line of the program that raised it."""
    by_node: bool = False
    """Whether the op of the node raised it; otherwise the node is the last one ahead of it."""

    @property
    def words(self) -> str:
        """`ValueError: what it says`."""
        return ": ".join(filter(None, (self.type, self.text)))


@dataclass(frozen=True, slots=True)
class Stop:
    """The debugger stands somewhere: at a node, ahead of one, or at an end of the log."""

    node: NodeInfo | None
    cause: Cause = "step"
    row: int = -1
    """Where in time: the row of the node, or the one that it will have."""
    live: bool = False
    """The program waits here; otherwise this is a position in what was recorded."""
    before: bool = False
    """The node has not been computed yet, and its row is not written."""
    breakpoint: BreakpointInfo | None = None
    changes: tuple[Change, ...] = ()
    """The watches that stopped, or have changed at a breakpoint."""
    raised: Raised | None = None
    step: str = ""
    """The training step, as the program numbers it: `epoch 2, batch 3`; empty outside of all."""
    remark: str = ""
    """What else there is to say of why, as words."""
    notes: tuple[str, ...] = ()
    displays: tuple[Display, ...] = ()
    findings: tuple[Finding, ...] = ()
    """What is wrong, where a breakpoint has asked for that."""
    line: Place | None = None
    """The line that the program is at, where it waits at none of its nodes: `node` is the last one then."""

    @property
    def commands(self) -> tuple[str, ...]:
        """What was attached to the breakpoint with `commands`: to be carried out now."""
        return tuple(line for line in self._attached if line != "silent")

    @property
    def silent(self) -> bool:
        """The breakpoint asked not to be announced."""
        return "silent" in self._attached

    @property
    def _attached(self) -> tuple[str, ...]:
        return () if self.breakpoint is None else self.breakpoint.commands


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the program, or one site of a recorded node."""

    place: Place
    scope: str = ""
    live: bool = True
    row: int | None = None
    """Of one that was recorded: the row that tells of it."""


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
class Bookmark:
    """A position with a name."""

    name: str
    row: int


@dataclass(frozen=True, slots=True)
class Rank:
    """One of several logs of a run."""

    number: str
    """What a person types for it."""


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """A training step in numbers; None stands for what the log does not say."""

    first: int
    """Its first row."""
    last: int
    title: str
    """As the program numbers it: `epoch 2, batch 3`."""
    count: int
    """Counted from 1."""
    counters: Mapping[str, int]
    """What the loops around it count, by the program's names."""
    loss: float | None
    norm: float | None
    """The 2-norm of all gradients."""
    rate: float | None
    """The learning rate."""
    findings: tuple[str, ...]
    """The checks that say something of it."""


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
    items: tuple[BreakpointInfo | WatchInfo | Bookmark | Rank | Finding | TrainingStep, ...] = ()
    """What the rows are about, one by one, where somebody may want to do something with it."""


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
class Again:
    """A node that a program is to come to once more, and what is to be changed there."""

    row: int
    kind: str
    label: str
    assignment: str = ""
    """`value = EXPR` or `grad = EXPR`; empty where nothing is."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The person leaves; `restart` asks for the program to be run again, with these arguments unless they are None."""

    restart: bool = False
    arguments: tuple[str, ...] | None = None
    again: Again | None = None
    """Where the program is to stop first when it is run again."""
    goes_on: bool = False
    """The program is to go on without the debugger."""


@dataclass(frozen=True, slots=True)
class Interact:
    """A Python prompt is wanted, over the names of the current frame."""


@dataclass(frozen=True, slots=True)
class Tour:
    """The tour of the screen's first keys is wanted."""


Result = (
    Stop
    | Where
    | Listing
    | ValueResult
    | Display
    | TableResult
    | Message
    | Resumed
    | Ended
    | Interact
    | Tour
    | Explanation
    | Report
)
"""Everything that a command may answer."""
