"""Networks that have been trained, are used to say what is right, and still act as in training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.training.batches import same_site
from graphscope.diagnose.training.evaluations import COMPARING
from graphscope.diagnose.training.modal_layers import dropout_rows, norm_rows, takes_statistics
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import Module, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_LEAST: Final = 3
"""So many losses must compare with what it says."""
_MOST: Final = 200
_MOST_LINES: Final = 16


class Teacher(NamedTuple):
    """A layer that acts as in training, in a network that is trained no more."""

    row: int
    op: str
    compared: int
    """The loss that takes what the network says for right."""
    module: Module
    runs: int


@once_a_length
def teachers(log: Log) -> list[Teacher]:
    """The first such layer of each network."""
    found: dict[int, Teacher] = {}
    for each in _teachers(log):
        found.setdefault(each.module.number, each)
    return list(found.values())


def _teachers(log: Log) -> Iterator[Teacher]:
    read, norms = training(log), norm_rows(log)
    rows = np.union1d(dropout_rows(log), norms)
    rows = rows[(log.pick("flags", rows) & int(Flag.REQUIRES_GRAD)) == 0]
    if not len(rows) or not len(read.step_ends):
        return
    for group in [*same_site(log, rows)][:_MOST_LINES]:
        node = log.graph.node(int(group[0]))
        if node.row in norms and not takes_statistics(log, node.row):
            continue
        steps = np.searchsorted(read.step_ends, group)
        module = _module(log, node)
        compared = _compared(node) if module is not None and len(np.unique(steps)) == len(steps) >= _LEAST else None
        if module is not None and compared is not None:
            yield Teacher(node.row, node.op, compared, module, len(group))


def _module(log: Log, layer: Node) -> Module | None:
    """The network that a layer belongs to, if it was trained or loaded before, and is neither since."""
    read, rows = training(log), parameter_rows(log)
    for module in read.modules.values():
        own = {each for each in module.parameters.values() if each is not None}
        if not own or not _is_made_by(layer, own):
            continue
        changed = np.concatenate([rows.grown.of(own).rows, rows.written.of(own).rows])
        loaded = read.rows("load_state_dict", owner=module.number)
        if (changed > layer.row).any() or not (len(changed) or len(loaded)):
            return None
        last = max(changed.max(initial=-1), loaded.max(initial=-1))
        asked = read.rows("train", "eval", owner=module.number)
        return None if ((asked > last) & (asked < layer.row)).any() else module
    return None


def _is_made_by(layer: Node, parameters: set[int]) -> bool:
    """Whether what a layer is given was computed with some parameters, by ops without gradients."""
    waiting, seen = [layer], {layer.row}
    while waiting and len(seen) < _MOST:
        sources = [edge.source for edge in waiting.pop(0).inputs]
        if any(each.tensor in parameters for each in sources):
            return True
        fresh = [each for each in sources if each.row not in seen and not each.flags & Flag.REQUIRES_GRAD]
        seen |= {each.row for each in fresh}
        waiting += fresh
    return False


def _compared(layer: Node) -> int | None:
    """The loss that is given what becomes of a layer as what is right; None where training uses it otherwise."""
    waiting, seen, found = [layer], {layer.row}, None
    while waiting and len(seen) < _MOST:
        for edge in waiting.pop(0).users:
            user = edge.target
            if user.kind != "op" or user.graph_pass != "forward" or user.row in seen:
                continue
            seen.add(user.row)
            if not user.flags & Flag.REQUIRES_GRAD:
                waiting.append(user)
            elif user.op not in COMPARING or edge.argument != 1:
                return None
            else:
                found = user.row
    return found
