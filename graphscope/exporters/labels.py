"""What is written on and about a node: the lines of its label, its tooltip, and the summaries of an overlay."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from graphscope.exporters.box_styles import ALARM, FAINT, GRADIENT, INK
from graphscope.exporters.dot_syntax import html, printable, shortened
from graphscope.exporters.placement import both_passes
from graphscope.exporters.summaries import finite_count, gradient_summary, value_summary

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graphscope.eventlog.values import Summary
    from graphscope.graph.view import Changed, Cluster, Compared, GraphView, ViewEdge, ViewNode

__all__ = ["CHANGED", "cluster_label", "edge_label", "iterations", "node_label", "shape_text", "tooltip"]

CURRENT: Final = f'<FONT COLOR="{ALARM}">►</FONT> '
COMPARED: Final[dict[Compared, str]] = {"same": "= ", "parted": "≠ ", "a": "only a: ", "b": "only b: "}
"""Two runs in one picture: whether both have it, for those who do not see the colours."""
CHANGED: Final[dict[Changed, str]] = {
    "removed": "– ", "joined": "» ", "added": "+ ", "fused": "⊕ ", "grown": "⊇ ", "rewired": "~ ", "kept": "",
}  # fmt: skip
"""What a pass of a compiler did with a node, likewise."""
BREAKPOINT: Final = f'<FONT COLOR="{ALARM}">●</FONT> '


def small(markup: str, color: str = FAINT) -> str:
    """A line in small letters."""
    return f'<FONT POINT-SIZE="9" COLOR="{color}">{markup}</FONT>'


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as it is written on an arrow: `2×3`, `5`, `scalar`."""
    return "×".join(map(str, shape)) if shape else "scalar"


def node_label(node: ViewNode, view: GraphView, *, overlay: bool, placed: bool) -> list[str]:
    """The lines in a node's box, as markup: marks, op, number, name, how often, and what its values are like.

    Args:
        node: The node.
        view: The view that it is of.
        overlay: Say what its values are like.
        placed: It lies beside its forward node, and need not name it.
    """
    if node.kind == "joint":
        return []
    marks = (CURRENT if node.current else "") + (BREAKPOINT if node.breakpoint else "")
    lines = [marks + (COMPARED[node.compared] if node.compared else "") + title(node)]
    if node.changed:
        lines[0] = CHANGED[node.changed] + lines[0]
    if node.arguments:
        lines.append(small(html(shortened(node.arguments))))
    if name := subtitle(node, placed=placed):
        lines.append(f'<FONT POINT-SIZE="10">{name}</FONT>')
    lines += [small(html(note), GRADIENT if note.startswith("∂") else FAINT) for note in node.notes]
    if node.loss and node.name != "loss":
        lines.append(small("<B>the loss</B>", INK))
    if node.count > 1:
        lines.append(f"<B>× {node.count}</B>")
    if node.edited:
        lines.append(small("edited", ALARM))
    if node.apart:
        lines.append(small(html(node.apart), INK if node.changed else ALARM))
    return [*lines, *alarms(node), *summaries(node, view, overlay=overlay)]


def title(node: ViewNode) -> str:
    """The first line: what it is, and its number where it is one node."""
    if node.kind == "accumulate":
        return "<B>+</B>"
    number = f' <FONT POINT-SIZE="8" COLOR="{FAINT}">#{node.rows[0]}</FONT>' if len(node.rows) == 1 else ""
    return f"<B>{html(node.label)}</B>{number if node.kind != 'scope' else ''}"


def subtitle(node: ViewNode, *, placed: bool) -> str:
    """The second line: the program's name for it, or the type of a module."""
    if node.kind == "scope":
        return html(node.op)
    if not node.name or node.name == node.label or (node.kind == "accumulate" and placed):
        return ""
    return ("∂" if node.graph_pass == "backward" and node.kind != "op" else "") + html(node.name)


def alarms(node: ViewNode) -> list[str]:
    """The line that says that a value is not finite."""
    return [small("<B>NaN or Inf</B>", ALARM)] if node.nonfinite else []


def summaries(node: ViewNode, view: GraphView, *, overlay: bool) -> list[str]:
    """The lines of the overlay: what the value is like, and the gradient that arrived at a forward node."""
    if not overlay:
        return []
    value = value_summary(node, view)
    # Where the backward pass is drawn, the cotangent of an op stands on its backward node.
    gradient = None if node.kind == "op" and both_passes(view) else gradient_summary(node, view)
    lines = [small(summary_text(value))] if value else []
    return [*lines, small(f"grad {summary_text(gradient)}", GRADIENT)] if gradient else lines


def summary_text(summary: Summary) -> str:
    """Statistics in one line: `= 300` of a single number, else the range and what is typical."""
    broken = [f"{count} {name}" for name, count in (("NaN", summary.nan), ("Inf", summary.inf)) if count]
    if not finite_count(summary):
        return ", ".join(broken) or "empty"
    if summary.count == 1:
        return f"= {summary.mean:.5g}"
    span = f"{summary.minimum:.3g} … {summary.maximum:.3g}"
    return ", ".join([span, f"mean {summary.mean:.3g}", f"std {summary.std:.3g}", *broken])


def iterations(clusters: Iterable[Cluster]) -> dict[str | None, int]:
    """How many iterations the frames around each cluster's nodes say already; parents come first."""
    said: dict[str | None, int] = {None: 1}
    for cluster in clusters:
        said[cluster.id] = said[cluster.parent] * cluster.count
    return said


def cluster_label(cluster: Cluster) -> str:
    """What stands on a frame: a scope's name and type, or how often a loop ran."""
    return f"× {cluster.count}" if cluster.kind == "repeat" else cluster.label


def edge_label(edge: ViewEdge) -> str:
    """What is written on an arrow: the shape, the slot where a node has several outputs, and how often."""
    text = edge.label or (shape_text(edge.shape) if edge.shape is not None else "")
    return f"{text} [{edge.slot}]" if edge.slot and edge.kind == "data" else text


def tooltip(node: ViewNode) -> str:
    """What a pointer over the node shows: kind, dtype and shape, where it came from."""
    facts = [
        " ".join(dict.fromkeys(["parameter" if node.parameter else node.kind, shortened(node.label)])),
        " ".join(filter(None, [node.dtype, shape_text(node.shape) if node.shape is not None else ""])),
        f"scope {shortened(node.scope)}" if node.scope else "",
    ]
    if node.site is not None:
        # The folder is left out: it is the same for all, and a picture may travel to others.
        facts.append(f"{shortened(PurePath(node.site.file).name)}:{node.site.line} {shortened(node.site.function)}")
    return "\n".join(printable(fact).strip() for fact in facts if fact)
