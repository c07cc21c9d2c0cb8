"""How what a stretch computes hangs on an input: by steps alone, or past what was seen of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.static.replay.recorded_rows import Place
    from graphscope.static.replay.stretches import Stretch

_STEPS: Final = frozenset({"round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide"})
"""Ops whose results are floating and change by steps alone."""

_READING: Final = frozenset({"item", "tolist", "numpy"})
_NUMBERS: Final = frozenset({"float", "int", "bool", "complex"})


def is_by_steps(stretch: Stretch, place: Place) -> bool:
    """Whether the outputs hang on an input, and by steps alone."""
    at_all, smoothly = {place}, {place}
    for step in stretch.steps:
        sources = {(edge.source.row, edge.slot) for edge in step.inputs}
        for slot, (_, dtype) in enumerate(step.outputs):
            if sources & at_all:
                at_all.add((step.row, slot))
            if sources & smoothly and dtype.startswith(("float", "bfloat", "complex")) and step.op not in _STEPS:
                smoothly.add((step.row, slot))
    return not at_all.isdisjoint(stretch.outputs) and smoothly.isdisjoint(stretch.outputs)


def read_as_numbers(node: Node, stretch: Stretch) -> str:
    """Where the forward function of a custom one may read tensors as numbers of Python; empty where it does not.

    What hangs on such a number was not seen to hang on the tensor.
    """
    log = node.graph.log
    if not log.op(node.event.op).custom:
        return ""
    sites = [step.site for step in stretch.steps if step.kind == "op"]
    site = next((each for each in sites if each is not None and each.function.rpartition(".")[2] == "forward"), None)
    source = None if site is None else log.source(site.file)
    if site is None or source is None:
        return ""
    try:
        functions = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.FunctionDef)]
    except SyntaxError:
        return ""
    around = [each for each in functions if each.lineno <= site.line <= (each.end_lineno or 0)]
    plain = {operand.name for operand in node.operands if operand.edge is None}
    for call in (each for function in around[-1:] for each in ast.walk(function) if isinstance(each, ast.Call)):
        if _reads(call, plain):
            return f"line {call.lineno} reads numbers out of a tensor: what hangs on them was not seen"
    return ""


def _reads(call: ast.Call, plain: set[str]) -> bool:
    """Whether a call may make a number of a tensor; `plain`: what is called so is none."""
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in _READING
    if isinstance(call.func, ast.Name) and call.func.id in _NUMBERS:
        names = (name for each in call.args for name in ast.walk(each) if isinstance(name, ast.Name))
        return any(name.id not in plain for name in names)
    return False
