"""The same node in other steps: what its line and op made each time, as a curve and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

from graphscope.debugger.value_results import brief_of
from graphscope.tui.inspector.histogram import spark
from graphscope.tui.screen_text import escape, number
from graphscope.tui.tape.magnitude import magnitude

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node
    from graphscope.tui.passes import Passes
    from graphscope.tui.scene import Scene

_POINTS = 240


def alike(log: Log, node: Node) -> np.ndarray:
    """The rows of all nodes that this node's place in the program made, in every step."""
    event = node.event
    found = []
    for first, rows in log.chunks():
        same = (rows["site"] == event.site) & (rows["op"] == event.op) & (rows["kind"] == int(event.kind))
        if event.kind.name == "ACCUMULATE" or not event.site:
            owner = node.forward
            same = (rows["kind"] == int(event.kind)) & _of_tensor(log, rows, owner)
        found.append(np.flatnonzero(same) + first)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _of_tensor(log: Log, rows: np.ndarray, owner: Node | None) -> np.ndarray:
    """Which rows belong to a node whose shape and line are those of this one."""
    if owner is None:
        return np.zeros(len(rows), bool)
    end = log.end
    forward = np.minimum(rows["forward"], max(end - 1, 0)).astype(np.int64)
    tensors = log.column("tensor")
    return np.asarray(tensors[np.maximum(forward - log.first, 0)] == owner.tensor)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def steps(scene: Scene, passes: Passes, rows: np.ndarray, width: int, bars: str) -> Text:
    """The curve of magnitudes over steps, and the nearest of them in words."""
    made = Text()
    if len(rows) == 0:
        return Text("This node is like no other.", "muted")
    chosen = rows[np.linspace(0, len(rows) - 1, min(len(rows), _POINTS)).astype(int)]
    sizes = [magnitude(scene.whole.node(int(row))) for row in chosen]
    values = [float("nan") if size is None else size for size in sizes]
    finite = [value for value in values if value == value]  # not a NaN
    times, turns = _counted(len(rows), "time"), _counted(passes.step_of(scene.log.end), "step")
    made.append(f"{times} in {turns}; root mean square of what it made\n\n")
    if finite:
        made.append(spark(values, max(width - 2, 8), bars) + "\n", "forward")
        made.append(f"{number(min(finite))} to {number(max(finite))}\n\n", "muted")
    here = int(np.searchsorted(rows, scene.now))
    for row in rows[max(here - 6, 0) : here + 7].tolist():
        node = scene.whole.node(row)
        sign = "> " if row == scene.now else "  "
        text = f"{sign}step {passes.step_of(row):<5} #{row:<8} {escape(brief_of(node))}"
        style = Style(bold=row == scene.now, meta={"@click": f"app.go({row})"})
        made.append(text + "\n", style)
    return made
