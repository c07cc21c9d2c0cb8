"""The statistics of the values of nodes, as columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.eventlog.values import Summary
from graphscope.exporters.summaries import finite_count, value_summary
from graphscope.graph.statistics import statistics

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.view import GraphView

__all__ = ["rounded", "statistics_columns"]


def statistics_columns(view: GraphView) -> dict[str, list[Any]]:
    """Of each node whose statistics are known its place and these; the range is null where no element is finite."""
    names = ("node", "minimum", "maximum", "mean", "std", "nan", "inf", "zero", "count")
    found: dict[str, list[Any]] = {name: [] for name in names}
    for place, told in sorted(_summaries(view).items()):
        is_known = finite_count(told) > 0
        numbers = [rounded(each) if is_known else None for each in (told.minimum, told.maximum, told.mean, told.std)]
        for name, value in zip(names, (place, *numbers, told.nan, told.inf, told.zero, told.count), strict=True):
            found[name].append(value)
    return found


def _summaries(view: GraphView) -> dict[int, Summary]:
    """The statistics of nodes by their places; of those that have one value each they are read in bulk."""
    graph = view.graph
    if graph is None:
        return {}
    drawn = [place for place, node in enumerate(view.nodes) if node.kind != "scope"]
    first = np.array([view.nodes[place].rows[0] for place in drawn], np.int64)
    several = graph.log.pick("several", first) != 0
    is_single = ~several & np.array([len(view.nodes[place].rows) == 1 for place in drawn], bool)
    found = _in_bulk(graph, np.array(drawn, np.int64)[is_single], first[is_single])
    for place in np.array(drawn, np.int64)[~is_single].tolist():
        told = value_summary(view.nodes[place], view)
        if told is not None:
            found[place] = told
    return found


def _in_bulk(graph: Graph, places: np.ndarray, rows: np.ndarray) -> dict[int, Summary]:
    order = np.argsort(rows := graph.value_rows(rows), kind="stable")
    records, is_there = statistics(graph.log, rows[order])
    sizes = [math.prod(graph.log.shape(number)) for number in graph.log.pick("shape", rows[order]).tolist()]
    told = zip(places[order].tolist(), records.tolist(), sizes, is_there.tolist(), strict=True)
    return {
        place: Summary(minimum, maximum, mean, std, nan, inf, zero, size)
        for place, (minimum, maximum, mean, std, nan, inf, zero), size, there in told
        if there
    }


def rounded(number: float | None) -> float | None:
    """A number with as many digits as are read; None of what is no number, for JSON has none."""
    return float(f"{number:.5g}") if number is not None and math.isfinite(number) else None
