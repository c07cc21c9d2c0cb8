"""What an op computes and how its gradient is made, with the numbers of one node filled in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.style import Style
from rich.text import Text

from graphscope.debugger.value_results import brief, brief_of
from graphscope.eventlog.schema import Flag
from graphscope.graph import filled
from graphscope.graph.operands import attributes_of
from graphscope.graph.rule_text import applied
from graphscope.tui import neighbours
from graphscope.tui.inspector.generated_text import generated_text
from graphscope.tui.inspector.panel_table import View, panel
from graphscope.tui.screen_text import escape, shape_text

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.tui.scene import Scene

_MOST_LINES = 6
_ROLE = re.compile(r":\w+:`~?([^`]*)`")
"""A link of a docstring; its text is kept."""


@panel("1")
def formula(view: View) -> Text:
    """The formula of the op and the rules of its gradient, in numbers."""
    if view.module is not None:
        from graphscope.tui.inspector.module_text import module_text  # no module is looked at in the first picture

        return module_text(view, view.module)
    scene, node, subject = view.scene, view.node, view.scene.subject
    made = Text()
    if scene.barren:
        made.append("The program made no node.\n\n", "bold")
        made.append("t shows what it printed.")
        return made
    if node is None or subject is None:
        made.append("Nothing has run yet.\n\n", "bold")
        made.append("n or the arrow keys step to the next node; ? lists the keys.")
        return made
    if subject.kind == "leaf":
        return _leaf(scene, node, subject)
    op = scene.log.op(subject.event.op)
    if node.kind in ("grad", "accumulate"):  # what is due comes first
        _backward(made, node, subject)
        _forward(made, subject, op.formula)
    else:
        _forward(made, subject, op.formula)
        _backward(made, node, subject)
    generated_text(made, scene.log, node, subject)
    doc = escape(_ROLE.sub(r"\1", op.doc))
    made.append(f"\n{doc}" if doc else "", "italic muted")
    return made


def _leaf(scene: Scene, node: Node, subject: Node) -> Text:
    made = Text()
    made.append("A leaf: no op made it", "italic muted")
    made.append(f" ({escape(subject.op)})\n\n" if subject.op != "leaf" else "\n\n", "italic muted")
    made.append("value  ", "muted")
    made.append(escape(brief_of(subject)) + "\n", "bold")
    crowded = neighbours.crowded(subject)
    grad = None if crowded else subject.grad
    made.append("grad   ", "muted")
    if crowded:
        made.append("a sum of many; `grad` adds it up", "backward")
    elif grad is not None:
        made.append(escape(brief(grad)), "backward bold")
    elif subject.event.flags & Flag.REQUIRES_GRAD:
        made.append("None up to now", "backward")
    else:
        made.append("none: it asks for no gradient", "muted")
    made.append("\n")
    for rule in neighbours.rules(subject, 8):
        _link(made, f"  += #{rule.row}", rule.row)
        made.append(f"   {escape(brief_of(rule))}\n", "backward")
    users = neighbours.users(subject, 8)
    if users:
        made.append("used by  ", "muted")
        for user in users:
            _link(made, _named(user), user.row)
            made.append("  ")
    return made


def _forward(made: Text, subject: Node, text: str) -> None:
    made.append("forward   ", "bold forward")
    made.append(f"{escape(text or subject.op)}\n", "bold")
    for line in filled.in_formula(subject, {"out": subject.computed}):
        made.append(f"          {escape(line)}\n", "forward")
    for operand in subject.operands:
        if operand.edge is None:
            made.append(f"    {escape(operand.name):<4} ", "muted")
            made.append(f"{escape(operand.text)[:60]}\n")
            continue
        source, slot = operand.edge.source, operand.edge.slot
        made.append(f"    {escape(operand.name):<4} ", "muted")
        _link(made, _named(source), source.row)
        made.append(f"  {shape_text(source.shape) or 'scalar'}  ", "muted")
        made.append(f"{escape(brief(source.output(slot)) if slot else brief_of(source))}\n")
    made.append("    out  ", "muted")
    if subject.event.flags & Flag.FAILED:
        made.append("none: the op raised an exception\n", "error")
    else:
        made.append(f"{escape(brief_of(subject))}\n")
    for name, attribute in attributes_of(subject):
        made.append(f"    {escape(name)} = {escape(attribute)[:60]}\n", "muted")


def _backward(made: Text, node: Node, subject: Node) -> None:
    operands = [each for each in subject.operands if each.rule and each.edge is not None]
    if not operands:
        return
    arrived = node if node.kind == "grad" else neighbours.arrival(subject)
    cotangent = neighbours.gradient(subject) if arrived is None else arrived.value
    made.append("backward  ", "bold backward")
    known_as = brief(cotangent) if arrived is None else brief_of(arrived)
    arriving = "g has not arrived yet" if cotangent is None else f"g = {known_as}"
    made.append(f"{escape(arriving)}\n", "backward")
    known = {"out": subject.value, "g": cotangent}
    for operand in operands:
        assert operand.edge is not None
        source = operand.edge.source
        taken = {"g", "out", *(each.name for each in subject.operands)}
        called = filled.called_at(subject, source)
        parameter = f"{operand.name} ({f'#{source.row}' if called in taken else called})"
        made.append(f"  grad of {escape(parameter)} = ", "bold")
        rule = applied(subject, operand.rule)
        lines = rule.splitlines()
        made.append(escape(lines[0] if len(lines) == 1 else _rule_name(rule)) + "\n", "bold backward")
        for line in lines[1:_MOST_LINES] if len(lines) > 1 else ():
            made.append(f"  {escape(line)}\n", "muted")
        line = filled.in_rule(subject, rule, known)
        if line:
            made.append(f"{'=':>{len(parameter) + 12}} {escape(line)}\n", "backward")
    _arrivals(made, subject)


def _arrivals(made: Text, subject: Node) -> None:
    if neighbours.crowded(subject):
        made.append("  g is a sum of many; `grad` adds it up\n", "muted")
        return
    parts = subject.contributions
    if len(parts) > 1:
        made.append(f"  g is the sum of {len(parts)} contributions\n", "muted")
    for part in parts[-8:]:
        if part.source is not None:
            made.append("    from ", "muted")
            _link(made, _named(part.source), part.source.row)
            made.append(f"  {escape(brief(part.value))}\n", "backward")


def _rule_name(rule: str) -> str:
    found = re.match(r"def (\w+)", rule)
    return f"{found[1]}(...)" if found else rule.splitlines()[0]


def _named(node: Node) -> str:
    return f"#{node.row} {node.label if node.kind in ('grad', 'accumulate') else node.name or node.label}"


def _link(made: Text, text: str, row: int) -> None:
    """Text that goes to a row when it is clicked."""
    made.append(escape(text), Style(underline=True, meta={"@click": f"app.go({row})"}))
