"""What the doctor answers: findings, and what could not be judged, as data and as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from graphscope.diagnose.finding import Finding
from graphscope.diagnose.report_lines import lines_of
from graphscope.diagnose.text_lines import html_of


@dataclass(frozen=True, slots=True)
class Unjudged:
    """Something of a run that could not be judged."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Report(Sequence[Finding]):
    """The findings of a log, the most important first; empty where nothing is wrong."""

    log: str
    events: int
    """So many rows were read."""
    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]

    def __len__(self) -> int:
        return len(self.findings)

    @overload
    def __getitem__(self, index: int) -> Finding: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...
    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self.findings[index]

    def __repr__(self) -> str:
        return "\n".join(line.text for line in lines_of(self))

    def _repr_html_(self) -> str:
        return html_of(lines_of(self))

    def data(self) -> dict[str, Any]:
        """The report as JSON has it; `doctor.schema.json` in the reference describes it."""
        return {
            "log": self.log,
            "events": self.events,
            "findings": [found.data() for found in self.findings],
            "unjudged": [{"what": gap.what, "why": gap.why} for gap in self.unjudged],
        }
