"""The statistics of the values of nodes, as columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from graphscope.exporters.summaries import finite_count, value_summary

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["rounded", "statistics_columns"]


def statistics_columns(view: GraphView) -> dict[str, list[Any]]:
    """Of each node whose statistics are known its place and these; the range is null where no element is finite."""
    names = ("node", "minimum", "maximum", "mean", "std", "nan", "inf", "zero", "count")
    found: dict[str, list[Any]] = {name: [] for name in names}
    for place, node in enumerate(view.nodes):
        told = None if node.kind == "scope" else value_summary(node, view)
        if told is None:
            continue
        is_known = finite_count(told) > 0
        numbers = [rounded(each) if is_known else None for each in (told.minimum, told.maximum, told.mean, told.std)]
        for name, value in zip(names, (place, *numbers, told.nan, told.inf, told.zero, told.count), strict=True):
            found[name].append(value)
    return found


def rounded(number: float | None) -> float | None:
    """A number with as many digits as are read; None of what is no number, for JSON has none."""
    return float(f"{number:.5g}") if number is not None and math.isfinite(number) else None
