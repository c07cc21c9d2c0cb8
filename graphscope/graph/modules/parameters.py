"""The parameters that parts of a step use: how many numbers they are, and how large the gradients are that they got."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.modules.parts import Parts
from graphscope.graph.modules.step_rows import StepRows
from graphscope.graph.sizes import counts_of, norms_of

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_MOST_ELEMENTS: Final = 1 << 22
"""Of gradients that were kept whole, so many elements are read while somebody waits for a map."""


@dataclass(frozen=True)
class Parameters:
    """The parameters of some parts."""

    are: np.ndarray
    """Which edges of the parts lead from parameters, or from other tensors that a module holds."""
    used: tuple[np.ndarray, np.ndarray]
    """Parts and the tensors that they use, by part."""
    sizes: dict[int, int]
    """How many elements each tensor has."""
    norms: dict[int, float]
    """The 2-norm of the gradient that each got in this step, where that is known."""

    def of_part(self, part: int) -> tuple[int, ...]:
        """The tensors that a part uses, in the order of their first use."""
        parts, tensors = self.used
        low, high = np.searchsorted(parts, (part, part + 1))
        return tuple(dict.fromkeys(tensors[low:high].tolist()))

    def size(self, tensors: tuple[int, ...]) -> int:
        """How many numbers some tensors are."""
        return sum(self.sizes[tensor] for tensor in tensors)

    def norm(self, tensors: tuple[int, ...]) -> float | None:
        """The 2-norm of the gradients of some tensors taken together; None where none is known."""
        found = [self.norms[tensor] for tensor in tensors if tensor in self.norms]
        return math.sqrt(sum(norm * norm for norm in found)) if found else None


def parameters_of(log: Log, rows: StepRows, parts: Parts) -> Parameters:
    """The parameters that parts use."""
    users, sources = rows.edges
    tensors, owners = log.pick("tensor", sources).astype(np.int64), parts.owners[users - rows.start]
    are = (owners >= 0) & _are_parameters(log, sources, tensors)
    owners = owners[are]
    order = np.argsort(owners, kind="stable")
    known, first = np.unique(tensors[are], return_index=True)
    sizes = dict(zip(known.tolist(), counts_of(log, sources[are][first]).tolist(), strict=True))
    takers, into = parts.edges
    origins = log.pick("tensor", into).astype(np.int64)
    are_held = _are_parameters(log, into, origins) | _are_buffers(log, takers, origins)
    return Parameters(are_held, (owners[order], tensors[are][order]), sizes, _norms(log, rows, known))


def _are_parameters(log: Log, rows: np.ndarray, tensors: np.ndarray) -> np.ndarray:
    flags = log.pick("flags", rows) | log.pick("flags", tensors)
    return np.asarray((flags & int(Flag.PARAMETER)) != 0)


def _are_buffers(log: Log, users: np.ndarray, tensors: np.ndarray) -> np.ndarray:
    """Which tensors were first seen in the module that uses them: no op made them, and nobody handed them in."""
    scopes = log.pick("scope", tensors)
    is_leaf = (log.pick("kind", tensors) == Kind.LEAF) & (scopes > 0)
    return np.asarray(is_leaf & (scopes == log.pick("scope", users)))


def _norms(log: Log, rows: StepRows, tensors: np.ndarray) -> dict[int, float]:
    kinds = log.column("kind", rows.start, rows.stop)
    added = rows.start + np.flatnonzero(kinds == Kind.ACCUMULATE)
    owners = log.pick("tensor", log.pick("forward", added).astype(np.int64)).astype(np.int64)
    wanted = np.isin(owners, tensors)
    added, owners = added[wanted], owners[wanted]
    whole = (log.pick("flags", added) & int(Flag.KEPT)) != 0
    if int(counts_of(log, added[whole]).sum()) > _MOST_ELEMENTS:
        added, owners = added[~whole], owners[~whole]
    known, times = np.unique(owners, return_counts=True)
    single = np.isin(owners, known[times == 1])
    sizes = norms_of(log, added[single])
    found = {int(tensor): float(norm) for tensor, norm in zip(owners[single], sizes, strict=True) if norm == norm}
    for tensor in known[times > 1].tolist():
        if (norm := _norm_of_sum(log, added[owners == tensor].tolist())) is not None:
            found[tensor] = norm
    return found


def _norm_of_sum(log: Log, rows: list[int]) -> float | None:
    total: np.ndarray | None = None
    for row in rows:
        value = log.value(row)
        if value is None or (total is not None and total.shape != value.shape):
            return None
        total = value.astype(np.float64) if total is None else total + value
    return None if total is None else float(np.sqrt(np.square(total).sum()))
