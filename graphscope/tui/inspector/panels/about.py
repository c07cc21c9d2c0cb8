"""All that is known of a node, as lines."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.text import Text

from graphscope.graph.operands import saved
from graphscope.graph.quantities import bytes_text, time_text
from graphscope.tui import neighbours
from graphscope.tui.inspector.panel_table import View, panel
from graphscope.tui.screen_text import escape, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Node


@panel("4")
def about(view: View) -> Text:
    """All facts: dtype, bytes, version, views, scope, time, saved tensors."""
    scene, node = view.scene, view.node
    made = Text()
    if node is None:
        return made
    subject = scene.subject or node
    value = subject.value
    site = node.site
    facts = [
        ("node", f"#{node.row} {node.label}, {node.kind}, {node.graph_pass}"),
        ("forward", f"#{subject.row} {subject.label}" if subject.row != node.row else ""),
        ("name", node.name),
        ("shape", f"{shape_text(node.shape) or 'scalar'} {node.dtype}"),
        ("bytes", bytes_text(value.nbytes) if value is not None else "the value was not kept"),
        ("tensor", f"#{subject.tensor}, version {subject.version}"),
        ("view of", _view_chain(subject)),
        ("flags", ", ".join(flag.name.lower().replace("_", " ") for flag in node.flags if flag.name)),
        ("scope", node.scope_title),
        ("hook", str(node.attrs.get("hook", ""))),
        (
            "line",
            f"{PurePath(site.file).name}:{site.line}" + f" in {site.function}" * bool(site.function) if site else "",
        ),
        ("source", node.source_line),
        ("took", time_text(node.duration) if node.duration else ""),
        ("thread", str(scene.log.thread(node.event.thread).get("name", ""))),
        ("saved", _saved(subject)),
        ("memory", _memory(subject)),
        ("inputs", ", ".join(f"#{edge.source.row} {edge.source.name or edge.source.label}" for edge in subject.inputs)),
        ("used by", ", ".join(f"#{found.row} {found.label}" for found in neighbours.users(subject))),
        ("backward", ", ".join(f"#{found.row} {found.label}" for found in neighbours.rules(subject))),
        ("file", site.file if site else ""),
    ]
    for name, text in facts:
        if text:
            made.append(f"{name:>9}  ", "muted")
            made.append(escape(text) + "\n")
    return made


def _saved(subject: Node) -> str:
    """What the rules of the op need, by the names in their text: that is what forward keeps for backward."""
    operands, needs_output = saved(subject)
    found = {each.name: each.edge.source for each in operands if each.edge is not None}
    if needs_output:
        found["out"] = subject
    parts = []
    for name, node in found.items():
        value = node.value
        parts.append(
            f"{name} (#{node.row}, {shape_text(node.shape) or 'scalar'}"
            + (f", {bytes_text(value.nbytes)})" if value is not None else ")")
        )
    return ", ".join(parts)


def _memory(subject: Node) -> str:
    """What the op has saved for backward, where memory was recorded: bytes, and what of them is held for it alone."""
    from graphscope.graph.memory import cost, memory  # another panel is shown at first

    found = memory(subject.graph.log)
    newest = [] if found is None else found.saved_by(subject.row)
    if not newest:
        return ""
    total, own = sum(each.storage.bytes for each in newest), sum(map(cost, newest))
    return f"saved {bytes_text(total)} for backward, {bytes_text(own)} of them held for it alone"


def _view_chain(node: Node) -> str:
    chain: list[str] = []
    while node.flags & node.flags.VIEW and node.inputs and len(chain) < 8:
        node = node.inputs[0].source
        chain.append(f"#{node.row} {node.name or node.label}")
    return " of ".join(chain)
