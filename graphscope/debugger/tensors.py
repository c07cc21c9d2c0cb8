"""Filters over tensors, as tfdbg has them: by what a value holds, by name, by op."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from graphscope.errors import CommandError

if TYPE_CHECKING:
    from graphscope.debugger.motion import Test
    from graphscope.graph import Node


def _has_inf_or_nan(node: Node) -> bool:
    return bool(node.graph.log.nonfinite(node.row))


def _has_nan(node: Node) -> bool:
    summary = node.summary
    return summary is not None and summary.nan > 0


def _has_inf(node: Node) -> bool:
    summary = node.summary
    return summary is not None and summary.inf > 0


FILTERS: Final[dict[str, Callable[[Node], bool]]] = {
    "has_inf_or_nan": _has_inf_or_nan,
    "has_nan": _has_nan,
    "has_inf": _has_inf,
}
"""What `-f` takes."""


def wanted(filter: str = "", name: str = "", op: str = "") -> Test:
    """A test for nodes: a filter of the table, and regular expressions for name and op; empty ones let all pass.

    Raises:
        CommandError: There is no such filter, or an expression is not understood.
    """
    if filter and filter not in FILTERS:
        raise CommandError(f"There is no tensor filter {filter!r}", f"there is {', '.join(FILTERS)}")
    holds = FILTERS.get(filter)
    name_pattern, op_pattern = _pattern(name), _pattern(op)

    def test(node: Node) -> bool:
        return bool(op_pattern.search(node.op) and name_pattern.search(node.name) and (holds is None or holds(node)))

    return test


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise CommandError(f"{text!r} is no regular expression: {error}") from None
