"""All that a page shows of a view, as data that JSON can hold: columns with an entry for each node, and tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope._version import __version__
from graphscope.exporters.page.call_table import call_table
from graphscope.exporters.page.finding_entries import finding_entries
from graphscope.exporters.page.formula_texts import formula_lines
from graphscope.exporters.page.gradient_sums import gradient_sums
from graphscope.exporters.page.node_columns import edge_columns, node_columns, places_of_ids
from graphscope.exporters.page.node_roles import roles
from graphscope.exporters.page.sections import Section, places, sections
from graphscope.exporters.page.source_lines import SourceLines
from graphscope.exporters.page.statistics import rounded, statistics_columns
from graphscope.exporters.page.strings import Strings
from graphscope.exporters.page.value_samples import samples

if TYPE_CHECKING:
    from graphscope.graph.view import GraphView

__all__ = ["page_data"]

VERSION: Final = 1


def page_data(view: GraphView, title: str, values: int) -> dict[str, Any]:
    """The data of a page.

    Args:
        view: What is drawn, unfolded: the page folds by itself.
        title: What stands above the picture.
        values: So many bytes of values go along.
    """
    strings = Strings()
    lines = SourceLines(view, strings)
    calls, told = call_table(view), sections(view)
    nodes = node_columns(view, strings, lines)
    rows = np.array(nodes["row"], np.int64)
    edges = edge_columns(view)
    nodes["call"] = calls.of_nodes
    if view.graph is not None:
        ends = (np.array(edges[name], np.int64) for name in ("source", "target"))
        nodes["role"] = roles(view.graph.log, rows, *ends).tolist()
    nodes["section"] = places(told, rows).tolist()
    nodes["formula"] = [strings.numbers(texts) for texts in formula_lines(view)]
    findings = finding_entries(view)
    first = _first_shown(told, findings, nodes["section"])
    return {
        "version": VERSION,
        "made_by": f"graphscope {__version__}",
        "title": title,
        "nodes": nodes,
        "edges": edges,
        "calls": {
            "parent": calls.parents,
            "name": strings.numbers(calls.names),
            "type": strings.numbers(calls.types),
        },
        "sites": lines.columns(),
        "sections": [_section_entry(each, nodes["row"]) for each in told],
        "shown": first,
        "findings": findings,
        "statistics": statistics_columns(view),
        "samples": _samples(view, values, nodes["section"], first),
        "sums": gradient_sums(view, values),
        "strings": strings.all(),  # all others have entered theirs
    }


def _section_entry(section: Section, rows: list[int]) -> dict[str, Any]:
    return {
        "title": section.title,
        "is_step": section.is_step,
        "loss": rounded(section.loss),
        "norm": rounded(section.norm),
        "rate": rounded(section.rate),
        "root": rows.index(section.root) if section.root in rows else -1,
    }


def _first_shown(told: list[Section], findings: list[dict[str, Any]], section_of: list[int]) -> int:
    """The section that a page opens with: that of the first finding, else the newest step that has ended."""
    steps = [place for place, each in enumerate(told) if each.is_step]
    named = [int(section_of[each["node"]]) for each in findings if each["node"] >= 0]
    whole = [place for place in steps if told[place].root >= 0]
    return next((each for each in named if each in steps), (whole or steps or [max(len(told) - 1, 0)])[-1])


def _samples(view: GraphView, budget: int, section_of: list[int], first: int) -> dict[str, Any]:
    """The pictures of values; those of the section that is shown at first come first, then the nearest."""
    graph, nodes = view.graph, view.nodes
    groups: dict[int, list[int]] = {}
    for place in sorted({*places_of_ids(nodes).values()}) if graph is not None else ():
        if nodes[place].kind != "scope":
            groups.setdefault(abs(section_of[place] - first), []).append(place)

    def value(place: int) -> np.ndarray | None:
        return None if graph is None else graph.node(nodes[place].rows[0]).value

    def size(place: int) -> int:
        return math.prod(nodes[place].shape or ())

    return samples([groups[each] for each in sorted(groups)], value, size, budget)
