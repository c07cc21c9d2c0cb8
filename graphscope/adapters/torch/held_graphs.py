"""Tensors of past training steps that the program still holds together with their graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.adapters.torch.tensor_properties import has_graph
from graphscope.eventlog.schema import ROW_MASK

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session


def held(session: Session, before: int) -> list[int]:
    """The rows, ascending, of tensors that were made before a row, are alive, and know how they were computed."""
    base = session.writer.base
    found = []
    for known in list(session.identities.table.values()):
        row = known.row & ROW_MASK
        if base <= row < before:
            tensor = known()
            if tensor is not None and has_graph(tensor):
                found.append(row - base)
    return sorted(found)
