"""Nodes that the same place of a program made, in every step of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node
    from graphscope.tui.scene import Scene


def alike(scene: Scene) -> np.ndarray:
    """The rows of all nodes that are like the current one, ascending; it is among them."""
    node, log = scene.node, scene.log
    if node is None:
        return np.zeros(0, np.int64)
    event = node.event
    found = []
    for first, rows in log.chunks():
        same = (rows["site"] == event.site) & (rows["op"] == event.op) & (rows["kind"] == int(event.kind))
        if event.kind.name == "ACCUMULATE" or not event.site:
            same = (rows["kind"] == int(event.kind)) & _of_tensor(log, rows, node.forward)
        found.append(np.flatnonzero(same) + first)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _of_tensor(log: Log, rows: np.ndarray, owner: Node | None) -> np.ndarray:
    """Which rows belong to a node whose tensor is that of this one."""
    if owner is None:
        return np.zeros(len(rows), bool)
    end = log.end
    forward = np.minimum(rows["forward"], max(end - 1, 0)).astype(np.int64)
    tensors = log.column("tensor")
    return np.asarray(tensors[np.maximum(forward - log.first, 0)] == owner.tensor)
