"""Ops of a graph that call functions: branches and loops of TensorFlow 2, and calls of what `tf.function` made."""

from __future__ import annotations

from typing import Final
from weakref import WeakKeyDictionary

import tensorflow as tf
from tensorflow.python.framework import op_def_registry

from graphscope.adapters.tensorflow.graph_ops import HARMLESS, PER_RUN

BRANCHES: Final = frozenset({"Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"})
"""Ops that run functions as a value says: the session takes them apart, so that what they give can't be replaced."""

CALLS: Final = BRANCHES | {"PartitionedCall", "StatefulPartitionedCall"}
"""Ops that run functions."""

_known: WeakKeyDictionary[tf.Graph, tuple[int, frozenset[str]]] = WeakKeyDictionary()


def calls_once(op: tf.Operation) -> bool:
    """Whether something in the functions that an op runs is to run once, and not again."""
    if not op.op_def.is_stateful:
        return False
    names = {each.func.name for each in op.node_def.attr.values() if each.HasField("func")}
    names |= {each.name for attribute in op.node_def.attr.values() for each in attribute.list.func}
    return bool(names & _once(op.graph))


def _once(graph: tf.Graph) -> frozenset[str]:
    """The names of the functions of a graph in which something is to run once."""
    version, found = _known.get(graph, (-1, frozenset()))
    if version != graph.version:
        library = graph.as_graph_def().library.function
        # A function that only calls others counts as they do: they are listed, too, and each call is stateful as well.
        once = (each.signature.name for each in library if any(not _is_harmless(node.op) for node in each.node_def))
        found = frozenset(once)
        _known[graph] = graph.version, found
    return found


def _is_harmless(kind: str) -> bool:
    if kind in HARMLESS or kind.startswith(PER_RUN):
        return True
    definition = op_def_registry.get(kind)
    return definition is not None and not definition.is_stateful
