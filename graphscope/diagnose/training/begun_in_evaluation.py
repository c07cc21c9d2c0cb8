"""Networks that are in the mode of evaluation from their making on, so that their batch norms never learn a mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.diagnose.training.modal_layers import takes_statistics
from graphscope.diagnose.values.op_rows import op_rows
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node
    from graphscope.graph.training import Module

_MADE: Final = {"running_mean": 0.0, "running_var": 1.0, "weight": 1.0, "bias": 0.0}
"""The numbers that a batch norm is made with."""
_INPUTS: Final = 5


def is_begun_in_evaluation(log: Log, module: Module) -> bool:
    """Whether a network with batch norms is trained, and no network of the program ever is in the mode of training.

    Its batch norms begin with the numbers that they are made with: whoever loads others may want to keep them.
    """
    read = training(log)
    if module.is_training or module.others or len(read.rows("train")) or len(read.rows("load_state_dict")):
        return False
    known = {each for each in module.parameters.values() if each is not None and each in read.optimized}
    first: dict[str, Node] = {}
    for row in op_rows(log, {"batch_norm"}).tolist():
        if len(first) < _MOST:
            node = log.graph.node(row)
            first.setdefault(node.scope, node)
    return bool(first) and all(_is_made_so(node, known) for node in first.values())


_MOST: Final = 64


def _is_made_so(norm: Node, known: set[int]) -> bool:
    """Whether a batch norm of learned parameters has all the numbers that it was made with."""
    sources = [edge.source for edge in norm.inputs][1:]
    if len(sources) + 1 != _INPUTS or takes_statistics(norm.graph.log, norm.row):
        return False
    if not any(each.tensor in known for each in sources):
        return False
    for each in sources:
        made, summary = _MADE.get(each.name.rpartition(".")[2]), each.summary
        if made is None or summary is None or each.kind != "leaf" or not summary.minimum == summary.maximum == made:
            return False
    return True
