"""What the doctor finds in the run of a page, as plain data."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.doctor import examined
from graphscope.exporters.dot_syntax import printable
from graphscope.exporters.page.node_columns import rows_of

if TYPE_CHECKING:
    from graphscope.diagnose.finding import Finding
    from graphscope.graph import Graph
    from graphscope.graph.view import GraphView

__all__ = ["finding_entries"]

_MOST_ROWS: Final = 1_000_000
"""Of a longer run the doctor is not asked along: it takes some three seconds for so many rows."""


def finding_entries(view: GraphView) -> list[dict[str, Any]]:
    """What is wrong with the run, what came of each finding behind it; `node` is where it shows in the view, or -1."""
    if view.graph is None:
        return []
    if view.graph.now + 1 - view.graph.log.first > _MOST_ROWS:
        return [_unasked(view.graph)]
    rows = rows_of(view)
    order = np.argsort(rows, kind="stable")
    found: list[dict[str, Any]] = []
    for each in examined(view.graph).findings:
        found.append(_entry(each, rows, order, -1))
        cause = len(found) - 1
        found += [_entry(later, rows, order, cause) for later in each.consequences]
    return found


def _unasked(graph: Graph) -> dict[str, Any]:
    """That a run was too long to be judged along, as a finding that shows nowhere."""
    return {
        "severity": "warning",
        "verdict": f"not judged: the run has more than {_MOST_ROWS:,} rows",
        "cure": printable(f"graphscope doctor {shlex.quote(str(graph.log.path))}"),
        "place": "",
        "source": "",
        "node": -1,
        "row": -1,
        "cause": -1,
    }


def _entry(found: Finding, rows: np.ndarray, order: np.ndarray, cause: int) -> dict[str, Any]:
    at = int(np.searchsorted(rows[order], found.place_in_log))
    is_there = at < len(order) and rows[order][at] == found.place_in_log
    return {
        "severity": found.severity,
        "verdict": printable(found.verdict),
        "cure": printable(found.cure),
        "place": printable(found.place),
        "source": printable(found.source.strip()),
        "node": int(order[at]) if is_there else -1,
        "row": found.place_in_log,
        "cause": cause,
    }
