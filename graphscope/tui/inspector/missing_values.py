"""Why an array can't be shown, and what is known of it all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.debugger.value_results import in_numbers, kept_statistics
from graphscope.eventlog.schema import NAMED
from graphscope.eventlog.values import advice

if TYPE_CHECKING:
    from graphscope.graph import Node


def not_kept(node: Node, what: str) -> str:
    """What was kept of a node instead of its array.

    Args:
        node: The node.
        what: What the array is called.
    """
    found = kept_statistics(node)
    if found is not None:
        return f"Only statistics were kept: {in_numbers(found)}."
    return f"The {what} was not kept" + (f": {advice(node.dtype)}." if node.dtype in NAMED else ".")
