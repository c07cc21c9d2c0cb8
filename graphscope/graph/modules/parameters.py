"""The parameters that parts of a step use: how many numbers they are, and how large the gradients are that they got."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.modules.parts import Parts
from graphscope.graph.modules.step_rows import StepRows
from graphscope.graph.sizes import counts_of, norms_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.eventlog.reader import Log

_MOST_ELEMENTS: Final = 1 << 22
"""Of gradients that were kept whole, so many elements are read while somebody waits for a map."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter, as a step uses it."""

    tensor: int
    row: int
    """The row that made the version of it that was used first."""
    size: int
    """How many numbers it is."""
    gradient: float | None
    """The 2-norm of the gradient that it got in this step; None where it got none, or that was not kept."""


class Parameters(NamedTuple):
    """The parameters of some parts."""

    are: np.ndarray
    """Which edges of the parts lead from parameters, or from other tensors that a module holds."""
    of: tuple[tuple[Parameter, ...], ...]
    """Of each part those that it uses, in the order of their first use."""


def parameters_of(log: Log, rows: StepRows, parts: Parts) -> Parameters:
    """The parameters that parts use."""
    users, sources = rows.edges
    tensors, owners = log.pick("tensor", sources).astype(np.int64), parts.owners[users - rows.start]
    are = (owners >= 0) & _are_parameters(log, sources, tensors)
    owners, tensors, sources = owners[are], tensors[are], sources[are]
    known, first = np.unique(tensors, return_index=True)
    sizes, norms = counts_of(log, sources[first]).tolist(), _norms(log, rows, known)
    told = {
        tensor: Parameter(tensor, row, size, norms.get(tensor))
        for tensor, row, size in zip(known.tolist(), sources[first].tolist(), sizes, strict=True)
    }
    found: list[dict[int, Parameter]] = [{} for _ in range(len(parts))]
    for owner, tensor in zip(owners.tolist(), tensors.tolist(), strict=True):
        found[owner][tensor] = told[tensor]
    takers, into = parts.edges
    origins = log.pick("tensor", into).astype(np.int64)
    are_held = _are_parameters(log, into, origins) | _are_buffers(log, takers, origins)
    return Parameters(are_held, tuple(tuple(each.values()) for each in found))


def norm_of_all(parameters: Iterable[Parameter]) -> float | None:
    """The 2-norm of the gradients of some parameters taken together; None where none is known."""
    found = [each.gradient for each in parameters if each.gradient is not None]
    return math.sqrt(sum(norm * norm for norm in found)) if found else None


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
