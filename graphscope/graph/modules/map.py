"""The map of what lies right inside of one call of a module: modules, the ops between them, and what flows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from graphscope.graph.modules.owners import names_of_owners
from graphscope.graph.modules.parameters import Parameter, Parameters, norm_of_all, parameters_of
from graphscope.graph.modules.parts import Parts, parts_of
from graphscope.graph.modules.ports import Port, incoming, outgoing
from graphscope.graph.modules.repeats import repeats
from graphscope.graph.modules.step_rows import Call, StepRows, step_rows

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph.graph import Graph

Shape = tuple[int, ...]
BoxKind = Literal["module", "ops", "input", "output"]


@dataclass(frozen=True, slots=True)
class Half:
    """What of a box ran in one pass."""

    row: int
    """Its first node."""
    count: int
    """So many nodes."""
    nanoseconds: int
    """How long they ran."""


@dataclass(frozen=True, slots=True)
class ModuleBox:
    """A module, or ops that no module of its own ran; or several that are alike, one behind the other."""

    kind: BoxKind
    name: str
    """What it is called in what it lies in: `layers.0`, `layers.0-3`; of ops what they are: `add, relu`."""
    type: str = ""
    """The class of the module."""
    path: str = ""
    """Dotted names of the modules around it and its own."""
    calls: tuple[Call, ...] = ()
    """The call of the module, of several one each."""
    forward: Half | None = None
    backward: Half | None = None
    taken: tuple[Shape, ...] = ()
    """The shapes of what it takes from outside, parameters left out."""
    given: tuple[Shape, ...] = ()
    """The shapes of what others take of it; of what nobody takes, that of its last op."""
    parameters: tuple[Parameter, ...] = ()
    """Those that it uses."""
    members: tuple[ModuleBox, ...] = ()
    """Of several that are alike, each by itself."""
    row: int = -1
    """Of an input, the node that it is."""

    @property
    def count(self) -> int:
        """So many are alike."""
        return max(len(self.members), 1)

    @property
    def size(self) -> int:
        """How many numbers its parameters are."""
        return sum(parameter.size for parameter in self.parameters)

    @property
    def gradient(self) -> float | None:
        """The 2-norm of all their gradients of this step; None where there are none, or they were not kept."""
        return norm_of_all(self.parameters)


@dataclass(frozen=True, slots=True)
class Flow:
    """What one box makes and another takes, by their places."""

    source: int
    target: int
    shapes: tuple[Shape, ...]
    is_carried: bool = False
    """From one turn of a loop to the next: it leads up."""


@dataclass(frozen=True)
class ModuleMap:
    """Boxes in the order in which they ran, and what flows between them."""

    around: tuple[Call, ...]
    """The call that all lies in, behind those around it; none where it is the program itself."""
    boxes: tuple[ModuleBox, ...]
    flows: tuple[Flow, ...]
    start: int
    """The first row of the step."""
    owners: np.ndarray = field(compare=False, repr=False)
    """Of each row of the step the box that it is of; -1 where it is of none."""
    members: np.ndarray = field(compare=False, repr=False)
    """Which of those that are alike."""

    def at(self, row: int) -> tuple[int, int] | None:
        """The box that a row is of, by its place, and which of those that are alike."""
        if self.start <= row < self.start + len(self.owners) and self.owners[row - self.start] >= 0:
            return int(self.owners[row - self.start]), int(self.members[row - self.start])
        return next(((place, 0) for place, box in enumerate(self.boxes) if box.row == row), None)


def module_map(graph: Graph, rows: StepRows, around: tuple[Call, ...] = ()) -> ModuleMap:
    """The map of a call of a module, or of the program.

    Args:
        graph: The graph of the log.
        rows: The rows of the step.
        around: The call, behind those around it.
    """
    if around not in rows.maps:
        rows.maps[around] = _made(graph, rows, around)
    found: ModuleMap = rows.maps[around]
    return found


def _made(graph: Graph, rows: StepRows, around: tuple[Call, ...]) -> ModuleMap:
    log = graph.log
    parts = parts_of(log, rows, around)
    known = parameters_of(log, rows, parts)
    ports = incoming(graph, rows, parts, known)
    owners = {} if around else names_of_owners(log, [call.scope for call in parts.calls if call is not None])
    singles = [_single(log, rows, parts, known, part, owners) for part in range(len(parts))]
    groups = repeats([parts.signature(log, rows, part) for part in range(len(parts))])
    place_of = np.full(len(parts) + 1, -1)
    member_of = np.zeros(len(parts) + 1, np.int64)
    boxes = [ModuleBox("input", port.name, given=(port.shape,), row=port.row) for port in ports]
    for group in groups:
        for number, part in enumerate(group):
            place_of[part], member_of[part] = len(boxes), number
        boxes.append(singles[group[0]] if len(group) == 1 else _folded([singles[part] for part in group]))
    flows = _flows(log, rows, parts, known, place_of, ports)
    if (leaving := outgoing(log, rows, parts)) is not None and around:
        boxes.append(ModuleBox("output", leaving.name, taken=leaving.shapes))
        flows += [
            Flow(place, len(boxes) - 1, leaving.shapes)
            for place in sorted({int(place_of[part]) for part in leaving.parts})
        ]
    return ModuleMap(around, tuple(boxes), tuple(flows), rows.start, place_of[parts.owners], member_of[parts.owners])


def _single(
    log: Log, rows: StepRows, parts: Parts, known: Parameters, part: int, owners: Mapping[int, str]
) -> ModuleBox:
    call = parts.calls[part]
    taken, given = parts.shapes(log, rows, part, known.are)
    if call is None:
        name = _ops_name(log, parts, part)
        scope_type = path = ""
    else:
        scope = log.scope(call.scope)
        name = f"{owners.get(call.scope, '')}{scope.name}" if scope is not None else "?"
        scope_type = scope.type if scope is not None else ""
        path = log.scope_path(call.scope)
    return ModuleBox(
        "ops" if call is None else "module",
        name,
        scope_type,
        path,
        () if call is None else (call,),
        _half(log, parts.forward[part]),
        _half(log, parts.backward[part]),
        taken,
        given,
        known.of[part],
    )


def _half(log: Log, rows: np.ndarray) -> Half | None:
    if len(rows) == 0:
        return None
    return Half(int(rows[0]), len(rows), int(log.pick("duration", rows).sum()))


def _ops_name(log: Log, parts: Parts, part: int) -> str:
    return ", ".join(dict.fromkeys(log.op(number).name for number in log.pick("op", parts.forward[part]).tolist()))


def _folded(members: list[ModuleBox]) -> ModuleBox:
    first, last = members[0], members[-1]
    return ModuleBox(
        first.kind,
        _range(first.name, last.name),
        first.type,
        _range(first.path, last.path),
        tuple(call for member in members for call in member.calls),
        _both([member.forward for member in members]),
        _both([member.backward for member in members]),
        first.taken,
        last.given,
        tuple(dict.fromkeys(parameter for member in members for parameter in member.parameters)),
        tuple(members),
    )


def _both(halves: list[Half | None]) -> Half | None:
    found = [half for half in halves if half is not None]
    if not found:
        return None
    return Half(
        min(half.row for half in found),
        sum(half.count for half in found),
        sum(half.nanoseconds for half in found),
    )


def _range(first: str, last: str) -> str:
    """`layers.0-3` of `layers.0` and `layers.3`."""
    if first == last:
        return first
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    while same and first[same - 1].isdigit():
        same -= 1
    one, other = _digits(first[same:]), _digits(last[same:])
    behind = first[same + len(one) :]
    return f"{first[:same]}{one}-{other}{behind}" if one and other else f"{first} - {last}"


def _digits(text: str) -> str:
    return text[: len(text) - len(text.lstrip("0123456789"))]


def _flows(
    log: Log, rows: StepRows, parts: Parts, known: Parameters, place_of: np.ndarray, ports: list[Port]
) -> list[Flow]:
    users, sources = (rows_of[~known.are] for rows_of in parts.edges)
    target = place_of[parts.owners[users - rows.start]]
    inside = (sources >= rows.start) & (sources < rows.stop)
    source = np.full(len(users), -1)
    source[inside] = place_of[parts.owners[sources[inside] - rows.start]]
    of_port = {row: place for place, port in enumerate(ports) for row in port.rows}
    found: dict[tuple[int, int], dict[int, None]] = {}
    for begin, end, row in zip(source.tolist(), target.tolist(), sources.tolist(), strict=True):
        place = begin if begin >= 0 else of_port.get(row, -1)
        if place >= 0 and end >= 0 and place != end:
            found.setdefault((place, end), {})[row] = None
    return [
        Flow(begin, end, tuple(log.event(row).shape for row in list(named)[:4]), is_carried=begin > end)
        for (begin, end), named in sorted(found.items())
    ]


def box_of_call(graph: Graph, call: Call) -> ModuleBox | None:
    """The box of one call of a module; None where nothing ran in it."""
    rows = step_rows(graph.log, call.begin)
    around = rows.around(call.begin)
    if call not in around:
        return None
    shown = module_map(graph, rows, around[: around.index(call)])
    found = shown.at(call.begin)
    if found is None:
        return None
    box = shown.boxes[found[0]]
    return box.members[found[1]] if box.members else box


def calls_of(rows: StepRows, scope: int) -> int:
    """How often a module was called in a step."""
    begins = [begins[scopes == scope] for scopes, begins in rows.levels]
    return len(np.unique(np.concatenate(begins))) if begins else 0
