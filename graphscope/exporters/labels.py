"""What is written on and about a node: the lines of its label, its tooltip, and the summaries of an overlay."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from graphscope.exporters.dotsyntax import html, html_label, printable, shortened
from graphscope.exporters.style import ALARM, FAINT, GRADIENT
from graphscope.exporters.summaries import finite_count, gradient_summary, value_summary

if TYPE_CHECKING:
    from graphscope.eventlog.values import Summary
    from graphscope.graph.view import GraphView, ViewEdge, ViewNode

__all__ = ["edge_label", "node_label", "shape_text", "tooltip"]

CURRENT: Final = f'<FONT COLOR="{ALARM}">►</FONT> '
BREAKPOINT: Final = f'<FONT COLOR="{ALARM}">●</FONT> '


def small(markup: str, color: str = FAINT) -> str:
    """A line in small letters."""
    return f'<FONT POINT-SIZE="9" COLOR="{color}">{markup}</FONT>'


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as it is written on an arrow: `2×3`, `5`, `scalar`."""
    return "×".join(map(str, shape)) if shape else "scalar"


def node_label(node: ViewNode, view: GraphView, *, overlay: bool) -> html_label:
    """What stands in a node's box: marks, op, number, name, how often, and what its values are like."""
    marks = (CURRENT if node.current else "") + (BREAKPOINT if node.breakpoint else "")
    if node.kind == "accumulate":
        return html_label("<BR/>".join([f"{marks}<B>+</B>", *alarms(node), *summaries(node, view, overlay=overlay)]))
    number = f' <FONT POINT-SIZE="8" COLOR="{FAINT}">#{node.rows[0]}</FONT>' if len(node.rows) == 1 else ""
    lines = [f"{marks}<B>{html(node.label)}</B>{number}"]
    if node.name and node.name != node.label:
        lines.append(f'<FONT POINT-SIZE="10">{"∂" if node.kind == "grad" else ""}{html(node.name)}</FONT>')
    if node.count > 1:
        lines.append(f"<B>× {node.count}</B>")
    if node.edited:
        lines.append(small("edited", ALARM))
    return html_label("<BR/>".join([*lines, *alarms(node), *summaries(node, view, overlay=overlay)]))


def alarms(node: ViewNode) -> list[str]:
    """The line that says that a value is not finite."""
    return [small("<B>NaN or Inf</B>", ALARM)] if node.nonfinite else []


def summaries(node: ViewNode, view: GraphView, *, overlay: bool) -> list[str]:
    """The lines of the overlay: what the value is like, and the gradient that arrived at a forward node."""
    if not overlay:
        return []
    value, gradient = value_summary(node, view), gradient_summary(node, view)
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


def edge_label(edge: ViewEdge) -> str:
    """What is written on an arrow: the shape, the slot where a node has several, and how often."""
    text = edge.label or (shape_text(edge.shape) if edge.shape is not None else "")
    return f"{text} [{edge.slot}]" if edge.slot else text


def tooltip(node: ViewNode) -> str:
    """What a pointer over the node shows: kind, dtype and shape, where it came from."""
    facts = [
        f"{node.kind if not node.parameter else 'parameter'} {shortened(node.label)}",
        " ".join(filter(None, [node.dtype, shape_text(node.shape) if node.shape is not None else ""])),
        f"scope {shortened(node.scope)}" if node.scope else "",
    ]
    if node.site is not None:
        # The folder is left out: it is the same for all, and a picture may travel to others.
        facts.append(f"{shortened(os.path.basename(node.site.file))}:{node.site.line} {shortened(node.site.function)}")
    return "\n".join(printable(fact).strip() for fact in facts if fact)
