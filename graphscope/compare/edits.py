"""What a person changed while a program waited: values and gradients that it went on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.compare.difference import When
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


def edited_rows(log: Log) -> list[int]:
    """The nodes whose value or gradient was changed, in the order in which that was done."""
    edits = log.marks(Kind.EDIT).tolist()
    return list(dict.fromkeys(row for mark in edits for row, _ in log.event(mark).inputs))


def is_edited(node: Node, when: When) -> bool:
    """Whether what a node made was changed; of the backward pass, the gradient that came to it."""
    rows = edited_rows(node.graph.log)
    if when != "backward":
        return node.row in rows
    owners = (node.graph.node(row).forward for row in rows)
    return node.row in rows or any(owner is not None and owner.row == node.row for owner in owners)
