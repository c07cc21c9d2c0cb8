"""What is found among ranks: a finding, and the log that its row is of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from graphscope.diagnose.finding import Confidence, Finding, Severity
from graphscope.diagnose.ranks.place import Place


class Told(NamedTuple):
    """A finding, and where its row is."""

    finding: Finding
    log: Path
    rank: str
    """The rank that does otherwise than the others, or that they wait for."""


def told(
    log: Path, row: int, place: Place, rank: str, cause: str, verdict: str, cure: str,
    evidence: Mapping[str, float] | None = None, names: tuple[str, ...] = (), confidence: Confidence = "certain",
    kind: str = "rank_differs", severity: Severity = "error",
) -> Told:  # fmt: skip
    """A rank that parts from the others, or one that should."""
    found = Finding(kind, severity, row, row, *place, names, cause, verdict, cure, evidence or {}, confidence)
    return Told(found, log, rank)


def named(ranks: list[str], most: int = 8) -> str:
    """`rank 1`, `ranks 1, 2 and 3`; of many the first."""
    numbers = [each.removeprefix("rank ") for each in ranks]
    if len(numbers) == 1:
        return ranks[0]
    shown = numbers if len(numbers) <= most else [*numbers[: most - 1], f"{len(numbers) - most + 1} more"]
    return f"ranks {', '.join(shown[:-1])} and {shown[-1]}"
