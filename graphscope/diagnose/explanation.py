"""What a diagnosis answers: frozen data that any screen can render and that travels as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from graphscope.eventlog.names import place_of, short_place

if TYPE_CHECKING:
    from graphscope.graph import Node

Symptom = Literal["none", "zero", "nonfinite", "fine"]

SHOWN: Final = 12
"""So many nodes of a path are shown; of a longer one, its two ends and what a note speaks of."""


@dataclass(frozen=True, slots=True)
class Step:
    """A node on the way from a tensor to the loss."""

    row: int | None
    """Its row in the log; None where there is no recording."""
    label: str
    """Its op, or the name of a leaf."""
    name: str = ""
    file: str = ""
    line: int = 0
    text: str = ""
    """The line of the program, stripped."""
    note: str = ""
    """What happens to the gradient here; empty where it passes."""
    norm: float | None = None
    """The norm of the gradient that has arrived here; None where it was not asked for, or is not known."""

    @property
    def place(self) -> str:
        """`train.py:12`; empty when it is not known."""
        return short_place(self.file, self.line)


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why a gradient is None, zero or non-finite (or that it is none of these)."""

    symptom: Symptom
    cause: str
    """The kind of cause, in a word or two: `detach`, `no rule`, `relu`."""
    verdict: str
    """What is wrong and where, as one sentence."""
    path: tuple[Step, ...] = ()
    """From the tensor towards the loss."""
    cure: str = ""
    """What to do about it."""
    others: tuple[str, ...] = ()
    """What else is to be known, a sentence each."""

    @property
    def step(self) -> Step | None:
        """The node that is to blame, if one is."""
        return next((step for step in self.path if step.note), None)

    def lines(self) -> list[str]:
        """The path as lines of text, in columns; what is between the ends of a long one is left out."""
        return [text for text, _ in self.marked_lines()]

    def marked_lines(self) -> list[tuple[str, bool]]:
        """The same, each with whether it is to blame."""
        shown = _shortened(self.path)
        rows = [
            (
                f"#{step.row} {step.label}" if step.row is not None else step.label,
                "" if step.norm is None else f"|grad| {step.norm:.4g}",
                step.place,
                step.text,
                step.note,
            )
            if isinstance(step, Step)
            else (step, "", "", "", "")
            for step in shown
        ]
        columns = [column for column in range(4) if column != 1 or any(row[1] for row in rows)]
        widths = {column: max((len(row[column]) for row in rows), default=0) for column in columns}
        return [
            (
                f"  {'>' if row[-1] else ' '} "
                + "  ".join([*(row[column].ljust(widths[column]) for column in columns), row[-1]]).rstrip(),
                bool(row[-1]),
            )
            for row in rows
        ]

    def __str__(self) -> str:
        more = [f"hint: {self.cure}"] if self.cure else []
        return "\n".join([self.verdict, *self.lines(), *self.others, *more])

    __repr__ = __str__


def step_of(node: Node, note: str = "", norm: float | None = None) -> Step:
    """A node as a step of a path."""
    place = place_of(node.site)
    return Step(node.row, node.label, node.name, *place, node.source_line, note, norm)


def steps(nodes: Sequence[Node], notes: dict[int, str] | None = None) -> tuple[Step, ...]:
    """Nodes as a path; `notes` says by row what happens at one."""
    found = notes or {}
    return tuple(step_of(node, found.get(node.row, "")) for node in nodes)


def title(node: Node) -> str:
    """What to call a node in a sentence: its name, else its op."""
    return node.name or node.label


def where(node: Node) -> str:
    """` at train.py:12`; empty when it is not known."""
    place = step_of(node).place
    return f" at {place}" if place else ""


def replaced(symptom: Symptom, what: str, nodes: Sequence[Node]) -> Explanation:
    """The gradient that arrived at the last of some nodes is another than the one that was computed."""
    verdict = f"{what}: what was computed is something else, and was replaced at {title(nodes[-1])}{where(nodes[-1])}"
    cure = "look at the hooks (register_hook), at writes to .grad, and at `set grad = ...` in the debugger"
    return Explanation(symptom, "replaced", verdict, steps(nodes, {nodes[-1].row: "replaced"}), cure)


def listed(names: Sequence[str], most: int | None = None) -> str:
    """Names as a list in a sentence: `a, b and c`; of more than `most`, how many are left out."""
    names = list(dict.fromkeys(names))
    if most is not None and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def shortened(names: Sequence[str], room: int = 60) -> str:
    """Names as a list in a sentence; where they take more than so many characters, the first, and how many follow."""
    names = list(dict.fromkeys(names))
    count = len(names)
    while count > 1 and len(listed(names, count)) > room:
        count -= 1
    return listed(names, count)


def with_others(explanation: Explanation, others: Sequence[str]) -> Explanation:
    """The same explanation with more to be known."""
    return replace(explanation, others=(*explanation.others, *others)) if others else explanation


def _shortened(path: Sequence[Step]) -> list[Step | str]:
    if len(path) <= SHOWN:
        return list(path)
    ends = SHOWN // 3
    kept = {*range(ends), *range(len(path) - ends, len(path))}
    for place, step in enumerate(path):
        if step.note:
            kept |= {place - 1, place, place + 1}
    found: list[Step | str] = []
    before = -1
    for place in sorted(kept & set(range(len(path)))):
        if place > before + 1:
            found.append(f"... {place - before - 1} more")
        found.append(path[place])
        before = place
    return found
