"""The same node in another step: what its line and op made there, beside what they made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.style import Style
from rich.text import Text

from graphscope.debugger.value_results import statistics
from graphscope.graph.step_numbers import step_numbers
from graphscope.tui import neighbours
from graphscope.tui.inspector.alike import alike
from graphscope.tui.inspector.panel_table import View, panel
from graphscope.tui.screen_text import escape, number, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.tui.scene import Scene

_WIDEST = (10, 14, 18)
_LEAST = 6


def _offset(view: View) -> int:
    """How many rows away the other one lies, among those that there are; the node itself is none of them."""
    here = int(np.searchsorted(view.found, view.scene.now))
    return max(-here, min(view.away, len(view.found) - 1 - here)) or (-1 if here else 1)


def _move(view: View, by: int) -> int:
    """Further away by so many, past the node itself."""
    offset = _offset(view)
    return offset + by or offset + 2 * by


@panel("6", search=alike, move=_move)
def compare(view: View) -> Text:
    """The node beside itself in another step, and how far they are apart."""
    scene, rows, width = view.scene, view.found, view.width
    here = int(np.searchsorted(rows, scene.now))
    place = here + _offset(view)
    if not 0 <= place < len(rows) or here >= len(rows):
        return Text("There is no other step like this one; < and > choose among those that are recorded.", "muted")
    node, other = scene.whole.node(int(rows[here])), scene.whole.node(int(rows[place]))
    made = Text()
    half = max(width - _LEAST, 0) // 2
    columns = _WIDEST if sum(_WIDEST) <= width else (_LEAST, half, half)
    numbers = step_numbers(scene.log)
    heads = [numbers.title(each.row) for each in (node, other)]
    if columns is _WIDEST:
        numbers = step_numbers(scene.log)
    heads = [f"#{each.row} {head}" for each, head in zip((node, other), heads, strict=True)]
    made.append(" " * columns[0] + f"{heads[0]:>{columns[1]}}", "bold")
    behind = Style(bold=True, underline=True, meta={"@click": f"app.go({other.row})"})
    made.append(" " * (columns[2] - len(heads[1])))
    made.append(heads[1], behind)
    made.append("\n")
    _pair(made, columns, "value", _subject(node).value, _subject(other).value)
    if node.kind in ("grad", "accumulate", "op"):
        _pair(made, columns, "gradient", _gradient(scene, node), _gradient(scene, other))
    made.append("< with an older step, > with a newer one", "muted")
    return made


def _subject(node: Node) -> Node:
    return (node.forward or node) if node.kind in ("grad", "accumulate") else node


def _gradient(scene: Scene, node: Node) -> np.ndarray | None:
    """The gradient as it was when its pass came to the node."""
    return (
        neighbours.gradient(scene.whole.at(node.row).node(node.row))
        if node.kind in ("grad", "accumulate")
        else node.grad
    )


def _pair(made: Text, columns: tuple[int, int, int], what: str, one: np.ndarray | None, two: np.ndarray | None) -> None:
    if one is None or two is None:
        return
    one, two = np.asarray(one), np.asarray(two)
    made.append(f"{what}\n", "bold backward" if what == "gradient" else "bold forward")
    shapes = tuple(shape_text(each.shape) or "scalar" for each in (one, two))
    _line(made, columns, "shape", *shapes, differs=shapes[0] != shapes[1])
    known = statistics(one), statistics(two)
    if known[0] is not None and known[1] is not None:
        for name in ("min", "max", "mean", "std", "nan", "inf"):
            pair = tuple(getattr(each, name) for each in known)
            if name in ("nan", "inf") and not any(pair):
                continue
            _line(made, columns, name, *map(number, map(float, pair)), differs=pair[0] != pair[1])
    elif one.size == two.size == 1:
        _line(made, columns, "", str(one.reshape(-1)[0]), str(two.reshape(-1)[0]), differs=bool((one != two).any()))
    if one.shape == two.shape and one.dtype.kind in "fiub" and one.size:
        _distance(made, one.astype(np.float64), two.astype(np.float64))


def _line(made: Text, columns: tuple[int, int, int], name: str, one: str, two: str, *, differs: bool) -> None:
    made.append(f"{escape(name):>{columns[0] - 1}} ", "muted")
    made.append(f"{one:>{columns[1]}}{two:>{columns[2]}}\n", "" if differs else "muted")


def _distance(made: Text, one: np.ndarray, two: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        apart = np.abs(one - two)
        size = float(np.linalg.norm(two))
        relative = float(np.linalg.norm(one - two)) / size if size else float("nan")
        norms = float(np.linalg.norm(one)) * size
        angle = float(np.vdot(one, two)) / norms if norms else float("nan")
    if not apart.any():
        made.append("  the same, bit for bit\n" if (one == two).all() else "", "muted")
        return
    place = ", ".join(
        map(str, np.unravel_index(int(np.nanargmax(apart)) if not np.isnan(apart).all() else 0, one.shape))
    )
    made.append(f"  apart at most {number(float(np.nanmax(apart)) if not np.isnan(apart).all() else np.nan)}")
    made.append(f" at [{place}]" if place else "")
    made.append(f", {number(100 * relative)} % of its norm, cosine {number(angle)}\n")
