"""Tensors of past training steps that the program still holds together with their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from graphscope.adapters.kit.holders import holder
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


_MOST_FOLLOWED: Final = 8
"""So many of them are followed to who holds them: others are held by their graphs alone."""


def held_by(session: Session, rows: Sequence[int]) -> dict[str, Any]:
    """What of the program holds most of some tensors (see `kit.holders`); empty where no name leads to them."""
    wanted = {row + session.writer.base for row in rows[:: -(-len(rows) // _MOST_FOLLOWED)]}
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for known in list(session.identities.table.values()):
        tensor = known() if known.row & ROW_MASK in wanted else None
        told = None if tensor is None else holder(tensor)
        if told is not None:
            found.setdefault((told["kind"], told["name"], told["owner"]), []).append(told)
    return max(found.values(), key=len)[0] if found else {}
