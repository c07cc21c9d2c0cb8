"""The table of what the doctor finds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING

from graphscope.diagnose import doctor
from graphscope.diagnose.finding import number_in_json
from graphscope.tables.batches import Batch

if TYPE_CHECKING:
    from graphscope.diagnose import Finding
    from graphscope.eventlog.reader import Log


def batches(log: Log) -> Iterator[Batch]:
    """The findings of a log, all at once: there are few."""
    found = [*_with_consequences(doctor(log))]
    told = [each for each, _ in found]
    yield {
        "number": [*range(len(found))],
        **{
            name: [getattr(each, name) for each in told]
            for name in (
                "kind",
                "severity",
                "confidence",
                "first_step",
                "row",
                "node",
                "cause",
                "verdict",
                "cure",
                "count",
            )
        },
        "step_name": [each.step or None for each in told],
        "file": [each.file or None for each in told],
        "line": [each.line or None for each in told],
        "source": [each.source or None for each in told],
        "names": [list(each.names) for each in told],
        "evidence": [
            json.dumps({name: number_in_json(value) for name, value in each.evidence.items()}) for each in told
        ],
        "consequence_of": [cause for _, cause in found],
    }


def _with_consequences(
    findings: Iterable[Finding], cause: int | None = None, numbers: Iterator[int] | None = None
) -> Iterator[tuple[Finding, int | None]]:
    """Each finding, and what came of it behind it, with the number of the one that it came of."""
    numbers = count() if numbers is None else numbers
    for each in findings:
        number = next(numbers)
        yield each, cause
        yield from _with_consequences(each.consequences, number, numbers)
