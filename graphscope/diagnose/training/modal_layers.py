"""Layers that act otherwise in training than in evaluation: dropouts and batch norms, and the rows where they ran."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.values.op_rows import op_rows
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

DROPOUTS: Final = frozenset(
    {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"}
)
_OF_BATCH: Final = "native_batch_norm"
NORMS: Final = frozenset({"batch_norm", _OF_BATCH})

_TRAINING: Final = 5
"""The place of `training` among the arguments of `batch_norm`."""


@once_a_length
def dropout_rows(log: Log) -> np.ndarray:
    """Where dropout dropped, ascending: an op of its own, or the last of those that a call of it is made of."""
    within = [number for number in range(1, len(log.table("scopes")) + 1) if _is_dropout(log, number)]
    found = [op_rows(log, DROPOUTS)]
    if within:
        inside = log.where(lambda rows: (rows["kind"] == Kind.OP) & np.isin(rows["scope"], within))
        scopes = log.pick("scope", inside)
        followed = (np.diff(inside) == 1) & (scopes[1:] == scopes[:-1])
        found.append(inside[~np.append(followed, False)[: len(inside)]])
    return each_once(np.concatenate(found))


def norm_rows(log: Log) -> np.ndarray:
    """Where batch norms ran, ascending."""
    return op_rows(log, NORMS)


def takes_statistics(log: Log, row: int) -> bool:
    """Whether a batch norm takes the statistics of the batch, as in training."""
    given = log.arguments(row)
    flag: Any = given.attributes.get("training")
    if flag is None and given.operands is not None and len(given.operands) > _TRAINING:
        flag = given.operands[_TRAINING]
    if flag is None:
        return log.op(log.event(row).op).name == _OF_BATCH
    return bool(flag) and len(log.inputs(row)) > 1


@once_a_length
def _tells_of_gradients(log: Log) -> bool:
    """Whether ops say that their results require gradients; the engine says so of leaves alone."""
    flag = int(Flag.REQUIRES_GRAD)
    return len(log.where(lambda rows: (rows["kind"] == Kind.OP) & ((rows["flags"] & flag) != 0))) > 0


def may_require_gradients(log: Log, flags: int) -> bool:
    """Whether the result of an op with these flags may require gradients."""
    if flags & Flag.NO_GRAD:
        return False
    return bool(flags & Flag.REQUIRES_GRAD) or not _tells_of_gradients(log)


def off_and_on(log: Log, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in a stretch gradients are off, and where what is computed may require them."""
    flags = log.column("flags", start, stop)
    off = (flags & int(Flag.NO_GRAD)) != 0
    on = (flags & int(Flag.REQUIRES_GRAD)) != 0
    if not _tells_of_gradients(log):
        on |= (log.column("kind", start, stop) == Kind.OP) & ~off
    return np.flatnonzero(off), np.flatnonzero(on)


def is_in_module(log: Log, row: int) -> bool:
    """Whether a module drops there, which knows of its mode, and no function alone."""
    scope = log.scope(log.event(row).scope)
    while scope is not None and "Dropout" not in scope.type:
        scope = log.scope(scope.parent)
    return scope is not None


def _is_dropout(log: Log, number: int) -> bool:
    scope = log.scope(number)
    return scope is not None and scope.type == "op" and scope.name in DROPOUTS
