"""Filters over tensors, as tfdbg has them: by what a value holds, by name, by op."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger import expression_names
from graphscope.debugger.expressions import RAISED, describe
from graphscope.errors import CommandError

if TYPE_CHECKING:
    from graphscope.debugger.expressions import Expression
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


@dataclass(frozen=True)
class Condition:
    """A filter that a person wrote at the prompt: an expression over the words of a node."""

    expression: Expression

    @property
    def text(self) -> str:
        """As it was typed."""
        return self.expression.text

    def __call__(self, node: Node) -> bool:
        try:
            return self.expression.holds(expression_names.lookup(node.graph, node))
        except NameError:
            raise
        except Exception:  # noqa: BLE001 - a value that was not kept, or of another shape or dtype
            return False


@dataclass(frozen=True)
class OfTensor:
    """A filter as tfdbg takes it: a function of the node (`datum`) and of its value."""

    function: Callable[[Node, Any], bool]

    def __call__(self, node: Node) -> bool:
        value = node.value
        return value is not None and bool(self.function(node, value))


def add_tensor_filter(name: str, function: Callable[[Any, Any], bool]) -> None:
    """Let `lt -f NAME` and `run -f NAME` know a filter of a program: `function(datum, tensor)`, as tfdbg has it.

    Args:
        name: What `-f` is given.
        function: Called with the node of the log and its value, an array; says whether the filter holds.
    """
    FILTERS[name] = OfTensor(function)


FILTERS: Final[dict[str, Callable[[Node], bool]]] = {
    "has_inf_or_nan": _has_inf_or_nan,
    "has_nan": _has_nan,
    "has_inf": _has_inf,
}
"""What `-f` takes; `filter` and `add_tensor_filter` add to it."""


def wanted(filter: str = "", name: str = "", op: str = "") -> Test:
    """A test for nodes: a filter of the table, and regular expressions for name and op; empty ones let all pass.

    A filter that raises is told of by the test as a CommandError.

    Raises:
        CommandError: There is no such filter, or an expression is not understood.
    """
    if filter and filter not in FILTERS:
        raise CommandError(f"There is no tensor filter {filter!r}", f"there is {', '.join(FILTERS)}")
    holds = FILTERS.get(filter)
    name_pattern, op_pattern = _pattern(name), _pattern(op)

    def test(node: Node) -> bool:
        if not (op_pattern.search(node.op) and name_pattern.search(node.name)):
            return False
        try:
            return holds is None or holds(node)
        except RAISED as error:
            what = f"The tensor filter {filter!r} raised {describe(error)} at #{node.row} {node.op}"
            raise CommandError(what, "mend it and add it again under its name") from None

    return test


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise CommandError(f"{text!r} is no regular expression: {error}") from None
