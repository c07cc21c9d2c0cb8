"""What a tape knows of its nodes, and of where a thread of the program is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphscope.adapters.kit.call_scopes import Scope
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT
from graphscope.eventlog.scopes import ScopePath


@dataclass(eq=False, slots=True)  # a frozen one takes longer to make than a row
class Node:
    """A forward node: its row, and what the rows of its gradient share with that."""

    row: int
    """Above it, of one of several outputs of a call, which."""
    fields: Mapping[str, Any]

    def output(self, slot: int) -> Node:
        """One of several outputs of the call, as an input of others."""
        return Node(self.row & ROW_MASK | slot << SLOT_SHIFT, self.fields)


class Place(threading.local):
    """Where a thread of the program is.

    Args:
        root: What all scopes lie in: those of one name are the same in all threads.
    """

    def __init__(self, root: ScopePath) -> None:
        self.context = Scope(root)
        self.backward_row = 0
        """The row of the rule that runs, or 0."""
        self.busy = False
        """Whether what runs is not the program's but a person's expression, while the program waits."""
