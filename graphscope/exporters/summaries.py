"""What the values behind a box are like: the statistics of its rows, put together when it stands for several."""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.values import Summary, summarize

if TYPE_CHECKING:
    from graphscope.graph import Graph
    from graphscope.graph.view import GraphView, ViewNode

__all__ = ["finite_count", "gradient_summary", "merged", "value_summary"]


def value_summary(node: ViewNode, view: GraphView) -> Summary | None:
    """Statistics of the values of a node's rows (of a backward node: of its cotangents); None when none was kept."""
    if view.graph is None:
        return None
    summaries = (view.graph.node(row).summary for row in node.rows)
    found = [summary for summary in summaries if summary is not None]
    return reduce(merged, found) if found else None


def gradient_summary(node: ViewNode, view: GraphView) -> Summary | None:
    """Statistics of the gradient that has arrived at a forward node; None when there is none."""
    if view.graph is None or node.graph_pass != "forward" or node.kind not in ("leaf", "op"):
        return None
    return _of_gradients(view.graph, node.rows)


@lru_cache(maxsize=64)  # a shared leaf is drawn beside each of its users, and its gradient has as many summands
def _of_gradients(graph: Graph, rows: tuple[int, ...]) -> Summary | None:
    gradients = (graph.node(row).grad for row in rows)
    found = [summarize(np.asarray(gradient)) for gradient in gradients if gradient is not None]
    return reduce(merged, found) if found else None


def finite_count(summary: Summary) -> int:
    """So many elements the range and the mean are of."""
    return summary.count - summary.nan - summary.inf


def merged(one: Summary, other: Summary) -> Summary:
    """The statistics of two values taken as one."""
    nan, inf, zero = one.nan + other.nan, one.inf + other.inf, one.zero + other.zero
    count, here, there = one.count + other.count, finite_count(one), finite_count(other)
    if not here or not there:
        kept = one if here else other
        return Summary(kept.minimum, kept.maximum, kept.mean, kept.std, nan, inf, zero, count)
    total = here + there
    mean = (one.mean * here + other.mean * there) / total
    squares = here * (one.std**2 + (one.mean - mean) ** 2) + there * (other.std**2 + (other.mean - mean) ** 2)
    lowest, highest = min(one.minimum, other.minimum), max(one.maximum, other.maximum)
    return Summary(lowest, highest, mean, math.sqrt(squares / total), nan, inf, zero, count)
