"""Commands that run recorded nodes again: check a gradient rule, invoke a node with other inputs, replay a slice."""

from __future__ import annotations

import ast
from typing import Annotated, Any

import numpy as np

from graphscope.debugger import expression_names
from graphscope.debugger.command_table import Flag, Rest, command
from graphscope.debugger.commands.printing import evaluate
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.results import Cell, TableResult
from graphscope.engine.core.op import INPUT_NAMES
from graphscope.errors import CommandError
from graphscope.graph import Node
from graphscope.static.replay import framework_tables, gradient_checks, slices
from graphscope.static.replay.framework_tables import compared, is_of_framework
from graphscope.static.replay.recorded_calls import call_of

_GAP = 1e-3
"""Rules and differences that are farther apart than this, in relation to their size, differ."""


@command("check", group="values")
def check(dbg: Debugger, spec: Rest = "") -> TableResult:
    """Check the gradients of one node against differences, at its recorded inputs: `check #17`.

    The cotangent is the recorded one where a backward pass has been; then what was recorded is compared with the rule,
    too. Of a PyTorch program, what backward gave is compared: a wrong custom function is found, and which input is
    wrong. Differences are taken in float64.
    """
    node = _owner(dbg.chosen(spec))
    if is_of_framework(node):
        return framework_tables.checked(node)
    call = call_of(node)
    recorded = node.grad
    rows: list[tuple[Cell, ...]] = []
    for number, found in enumerate(gradient_checks.rules(call, None if recorded is None else [recorded])):
        edge = list(node.inputs)[number]
        passed = np.isfinite(found.gap) and found.gap < _GAP
        verdict = "not differentiable" if found.size is None else "agrees" if passed else "DIFFERS"
        size = "" if found.size is None else f"{found.size:.4g}"
        gap = "" if found.size is None else f"{found.gap:.1e}"
        rows.append((f"#{edge.source.row}", edge.source.name or edge.source.label, size, gap, verdict))
    note = (
        ""
        if recorded is not None
        else "no gradient has reached it up to now: checked with a cotangent of random numbers"
    )
    return TableResult(
        ("input", "name", "norm of gradient", "off by", "rule and differences"),
        tuple(rows),
        title=f"rules of #{node.row} {node.label}",
        note=note if rows else f"#{node.row} {node.label} takes nothing from recorded nodes",
    )


@command("invoke", group="values", needs="edge")
def invoke(dbg: Debugger, spec: str, overrides: Rest = "") -> TableResult:
    """Run one node again, with other inputs where some are given: `invoke #17 x=np.zeros((2, 3)), y=2`.

    Inputs are named as `args` names them (x, y, z, w) or by position (`_0=`); the rest is what was recorded. Of a
    region that torch.compile made, its generated graph runs again, and each call of it is told with its value.
    """
    node = _owner(dbg.chosen(spec))
    if is_of_framework(node):
        return framework_tables.invoked(node, _assignments(dbg, overrides))
    call = call_of(node)
    op = dbg.log.op(node.event.op)
    parameters = INPUT_NAMES if op.cited else op.inputs or INPUT_NAMES
    new: dict[int, Any] = {}
    for word, value in _assignments(dbg, overrides).items():
        place = int(word[1:]) if word[:1] == "_" and word[1:].isdigit() else -1
        place = parameters.index(word) if word in parameters else place
        if place not in call.places:
            known = ", ".join(parameters[each] for each in call.places if each < len(parameters))
            raise CommandError(f"#{node.row} {node.label} has no input {word!r}", f"it has {known or 'none'}")
        old = call.inputs[place]
        new[call.places.index(place)] = np.asarray(value, dtype=old.dtype)[()]
    found = call.with_inputs(new).run()
    rows = [(f"{slot}", *compared(node.output(slot), value)) for slot, value in enumerate(found)]
    return TableResult(
        ("output", "recorded", "now", "largest difference"), tuple(rows), title=f"#{node.row} {node.label}"
    )


@command("replay", group="values", needs="edge")
def replay_(
    dbg: Debugger, spec: str, changes: Rest = "", *, backward: Annotated[bool, Flag("-b", "--backward")] = False
) -> TableResult:
    """What if: run the recorded slice that leads to a node again with other values: `replay loss W=W * 0.9`.

    Names are those of tensors, or `_12` for #12. With `-b`, the values stand for cotangents, and the backward pass from
    the node runs again: `replay -b loss h=np.zeros(3)` tells what the gradients are then. Of a PyTorch program it runs
    through backward passes and steps of optimizers, too, where they lie between.
    """
    target = _owner(dbg.chosen(spec))
    graph = dbg.graph
    given: dict[int, Any] = {}
    for word, value in _assignments(dbg, changes).items():
        number = word[1:]
        ahead = graph.at(target.row)
        node = graph.node(int(number)) if word[0] == "_" and number.isdigit() else expression_names.one(ahead, word)
        given[node.row] = np.broadcast_to(np.asarray(value, dtype=_dtype(node)), node.shape)
    if is_of_framework(target):
        return framework_tables.replayed(graph, target, given, backward)
    rows: list[tuple[Cell, ...]] = []
    if backward:
        for row, gradient in sorted(slices.backward(graph, target, given).items()):
            node = graph.node(row)
            if node.kind == "leaf" or row in given or row == target.row:
                rows.append((f"#{row}", node.name or node.label, *compared(node.grad, gradient)))
        what = "gradients"
    else:
        for (row, slot), value in sorted(slices.forward(graph, target, given).items()):
            node = graph.node(row)
            if row in given or row == target.row:
                rows.append((f"#{row}", node.name or node.label, *compared(node.output(slot), value)))
        what = "values"
        if target.row not in {int(str(row[0])[1:]) for row in rows}:
            rows.append((f"#{target.row}", target.name or target.label, *compared(target.value, target.value)))
    return TableResult(
        ("node", "name", "recorded", "now", "largest difference"), tuple(rows), title=f"{what} up to #{target.row}"
    )


def _dtype(node: Node) -> Any:
    """NumPy's dtype for values of a node, where it has one."""
    return np.dtype(node.dtype) if hasattr(np, node.dtype or " ") else None


def _owner(node: Node) -> Node:
    owner = expression_names.owner_of(node)
    return node if owner is None else owner


def _assignments(dbg: Debugger, text: str) -> dict[str, Any]:
    """`x=EXPR, y=EXPR` as values by name."""
    if not text.strip():
        return {}
    try:
        made = ast.parse(f"f({text})", mode="eval").body
        assert isinstance(made, ast.Call)
        keywords = {each.arg: ast.unparse(each.value) for each in made.keywords}
    except (SyntaxError, ValueError):
        keywords = {}
    if not keywords or None in keywords:
        raise CommandError(f"{text!r} is not understood", "give NAME=EXPRESSION, NAME=EXPRESSION")
    return {str(name): np.asarray(evaluate(dbg, expression)) for name, expression in keywords.items()}
