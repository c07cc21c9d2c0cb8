"""What a comparison of two runs answers: frozen data, for people, screens and programs alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from graphscope.compare.report_lines import lines_of
from graphscope.diagnose.finding import number_in_json
from graphscope.diagnose.text_lines import html_of
from graphscope.eventlog.names import short_place

if TYPE_CHECKING:
    from graphscope.compare.merged_view import OnePass
    from graphscope.eventlog.reader import Log
    from graphscope.graph.view import GraphView

When = Literal["forward", "backward", "update"]
"""The part of a training step in which two runs part; what a program makes ahead of any op belongs to `forward`."""

Verdict = Literal["same", "parted", "unlike"]
"""`unlike`: nothing of the two runs could be matched, so that nothing can be said of where they part."""

SAME: Final = 1
"""A pair whose values agree up to rounding."""
PARTED: Final = 2
"""A pair that does the same thing with another result."""

PAIR: Final = np.dtype([("a", "<i8"), ("b", "<i8"), ("state", "u1")])
"""Two nodes that belong together: their rows, and `SAME` or `PARTED`."""


@dataclass(frozen=True, slots=True)
class Side:
    """A node, as one of the two runs has it."""

    row: int
    """Its row in the log."""
    op: str
    """What computed it; of a leaf the function that made it."""
    name: str
    """What the program calls it; empty where it has no name."""
    file: str
    line: int
    """The line of the program; empty and 0 where that is not known."""
    source: str
    """That line as it stands there."""
    scope: str
    """The module that it ran in; empty for none."""
    shape: tuple[int, ...]
    dtype: str
    part: str = ""
    """Which part of an op that computes several things, where that is known: `variance`, `scores`."""
    step: str = ""
    """What its program calls the training step: `epoch 2, batch 3`; empty where it is in none."""

    @property
    def place(self) -> str:
        """`train.py:12`; empty when it is not known."""
        return short_place(self.file, self.line)


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two tensors of one size are apart. Elements that are NaN on both sides are equal."""

    elements: int
    different: int
    """Elements that are not equal bit for bit."""
    absolute: float
    """The largest absolute difference."""
    relative: float
    """The largest absolute difference, as a part of the largest absolute value of `a`."""
    ulps: float
    """The largest difference in units of the last place of the coarser dtype; infinite across 0 and NaN."""
    index: tuple[int, ...]
    """Where the largest difference lies, in the tensor of `a`."""
    values: tuple[float, float]
    """The two elements there."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that two calls were told differently: `eps`, `1e-05`, `1e-12`."""

    name: str
    a: str
    """As people write it; empty where this side does not say it."""
    b: str


@dataclass(frozen=True, slots=True)
class Parting:
    """A place where two runs part: what came in was the same, what went out is not."""

    when: When
    step: int
    """The training step, counted from 1."""
    a: Side | None
    b: Side | None
    """None where this side has nothing that belongs to the other."""
    cause: str
    """In a word or two: `attribute`, `axis`, `initialisation`, `random`, `optimizer`, `detached`, `another op`."""
    verdict: str
    """Where they part and why, as one sentence."""
    inputs_agree: bool | None
    """Whether all that came in agreed; then this is the culprit, and no consequence of something earlier. None where
    nothing comes in.
    """
    facts: tuple[Fact, ...] = ()
    """What differs about the call, the most telling first."""
    distance: Distance | None = None
    """None where values are not there to be compared, or are of unlike size."""
    consequences: int = 0
    """So many pairs of nodes differ because of it."""


@dataclass(frozen=True, slots=True, repr=False)
class Difference:
    """Where two runs part, and what of them belongs together. It is true where they part."""

    a: Log
    b: Log
    verdict: Verdict
    partings: tuple[Parting, ...] = ()
    """The first one first; others are no consequence of those ahead of them."""
    pairs: np.ndarray = field(default_factory=lambda: np.zeros(0, PAIR))
    """The nodes that belong together, a PAIR each, ascending by `a`."""
    alone_a: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    alone_b: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    """The rows of nodes without a counterpart, among the steps that were aligned."""
    steps: int = 0
    """So many training steps were compared; 0 where the runs tell of none."""
    largest: float | None = None
    """How far the pairs of forward passes that agree are apart, relatively: the largest; None without values."""
    compared: str = "values"
    """What was compared of each node: `values`, `statistics` or `shapes`, the least of the two logs."""
    remarks: tuple[str, ...] = ()
    """What could not be compared, and why; one sentence each."""

    @property
    def first(self) -> Parting | None:
        """Where they part first."""
        return self.partings[0] if self.partings else None

    def __bool__(self) -> bool:
        return self.verdict != "same"

    def __repr__(self) -> str:
        return "\n".join(line.text for line in lines_of(self))

    def _repr_html_(self) -> str:
        return html_of(lines_of(self))

    def graph_view(self, graph_pass: OnePass | None = None, radius: int | None = None) -> GraphView:
        """The two runs as one graph to draw, around the place where they part."""
        from graphscope.compare.merged_view import merged_view  # layout of views is loaded when one is asked for

        return merged_view(self, graph_pass, radius)

    def data(self) -> dict[str, Any]:
        """The answer as JSON has it; `diff.schema.json` in the reference describes it."""
        return {
            "a": str(self.a.path),
            "b": str(self.b.path),
            "same": self.verdict == "same",
            "verdict": self.verdict,
            "compared": self.compared,
            "steps": self.steps,
            "largest": None if self.largest is None else number_in_json(self.largest),
            "parting": None if self.first is None else parting_data(self.first),
            "others": [parting_data(each) for each in self.partings[1:]],
            "matched": len(self.pairs),
            "unmatched": {"a": len(self.alone_a), "b": len(self.alone_b)},
            "remarks": list(self.remarks),
        }


def parting_data(found: Parting) -> dict[str, Any]:
    """A parting as JSON has it."""
    return {
        "pass": found.when,
        "step": found.step,
        "a": _side(found.a),
        "b": _side(found.b),
        "cause": found.cause,
        "verdict": found.verdict,
        "inputs_agree": found.inputs_agree,
        "what": [{"name": fact.name, "a": fact.a, "b": fact.b} for fact in found.facts],
        "distance": _distance(found.distance),
        "consequences": found.consequences,
    }


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    names = ("row", "op", "part", "name", "file", "line", "source", "scope", "dtype")
    return {**{name: getattr(side, name) for name in names}, "shape": list(side.shape)}


def _distance(found: Distance | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "elements": found.elements,
        "different": found.different,
        "absolute": number_in_json(found.absolute),
        "relative": number_in_json(found.relative),
        "ulps": number_in_json(found.ulps),
        "index": list(found.index),
        "values": [number_in_json(each) for each in found.values],
    }
