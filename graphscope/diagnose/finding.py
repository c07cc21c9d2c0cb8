"""What a check finds: frozen data, for people and programs alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from graphscope.diagnose.explanation import Explanation, listed
from graphscope.eventlog.names import short_place

Severity = Literal["error", "warning"]
"""`error`: the numbers are lost, or the program fails. `warning`: something does not learn that could."""

Confidence = Literal["certain", "likely"]
"""`certain`: the log proves it. `likely`: the numbers of the log are those that it makes."""


class Row(int):
    """A row of the log, among what was measured: people are told `#7`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong with a run."""

    kind: str
    """The name of the check that found it."""
    severity: Severity
    row: int
    """The row of the log where it shows: a breakpoint stops there."""
    node: int | None
    """The node to blame; None where the log has none."""
    file: str
    line: int
    """Where the program says what is to blame; empty and 0 where that is not known."""
    names: tuple[str, ...]
    """The tensors that it is about, as the program calls them."""
    cause: str
    """The kind of cause, in a word or two: `detach`, `log of zero`."""
    verdict: str
    """What is wrong and where, as one sentence."""
    cure: str
    """What to do about it."""
    evidence: Mapping[str, float] = field(default_factory=dict)
    """What was counted and measured, and a `Row` where one can look at it."""
    confidence: Confidence = "certain"
    first_step: int | None = None
    """The training step, counted from 1, in which it shows first; None where the log has no steps, or not that one."""
    step: str = ""
    """What the program calls that step: `epoch 2, batch 3`; empty where the row is in none."""
    count: int = 1
    """How many times it was found."""
    source: str = ""
    """The line of the program as it stands there."""
    columns: tuple[int, int] = (0, 0)
    """What of that line is meant: from one character to before another; equal where that is not known."""
    consequences: tuple[Finding, ...] = ()
    """What came of it, the earliest first."""
    first_row: int | None = None
    """The row where it shows first, where that is ahead of `row`: what must show several times to be sure."""

    @property
    def identity(self) -> tuple[str, str, int, str]:
        """What is the same of a finding that is made again."""
        return self.kind, self.file, self.line, self.cause

    @property
    def place_in_log(self) -> int:
        """Where one looks at it: the node to blame, else the row where it shows."""
        return self.row if self.node is None else self.node

    @property
    def place(self) -> str:
        """`train.py:12`; empty when it is not known."""
        return short_place(self.file, self.line)

    def data(self) -> dict[str, Any]:
        """The finding as JSON has it; `doctor.schema.json` in the reference describes it."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "confidence": self.confidence,
            "file": self.file,
            "line": self.line,
            "source": self.source,
            "row": self.row,
            "node": self.node,
            "names": list(self.names),
            "first_step": self.first_step,
            "step": self.step,
            "count": self.count,
            "cause": self.cause,
            "verdict": self.verdict,
            "evidence": {name: number_in_json(value) for name, value in self.evidence.items()},
            "cure": self.cure,
            "consequences": [each.data() for each in self.consequences],
        }


def number_in_json(value: float) -> float | str:
    """A number that JSON has, else its name."""
    return value if value - value == 0 else str(float(value))


def alike(found: Iterable[tuple[str, Explanation]]) -> Iterator[tuple[tuple[str, ...], Explanation]]:
    """What was explained of some tensors by their names, told once of all of whom the same can be said."""
    groups: dict[str, list[tuple[str, Explanation]]] = {}
    for name, each in found:
        pattern = rf"(?<![\w.]){re.escape(name)}(?![\w])"
        groups.setdefault(re.sub(pattern, _NAME, each.verdict, count=1), []).append((name, each))
    for sentence, group in groups.items():
        names = tuple(name for name, _ in group)
        if len(names) > 1:
            sentence = sentence.replace(f"{_NAME}.grad is ", f"the gradients of {_NAME} are ")
        yield names, replace(group[0][1], verdict=sentence.replace(_NAME, listed(names, _TOLD)))


_NAME: Final = "\0"
"""Stands for the name in a sentence that is the same of several."""

_TOLD: Final = 6
"""So many names are told in a sentence; `Finding.names` has them all."""


def with_consequences(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings, each followed by all that came of it."""
    for each in findings:
        yield each
        yield from with_consequences(each.consequences)


def finding(
    kind: str,
    severity: Severity,
    row: int,
    found: Explanation,
    names: tuple[str, ...],
    evidence: Mapping[str, float],
    first_row: int | None = None,
) -> Finding:
    """What was explained of a tensor, as a finding at a row."""
    blamed = found.step or (found.path[-1] if found.path else None)
    node, file, line = (None, "", 0) if blamed is None else (blamed.row, blamed.file, blamed.line)
    return Finding(
        kind, severity, row, node, file, line, names, found.cause, found.verdict, found.cure, evidence,
        first_row=first_row,
    )  # fmt: skip
