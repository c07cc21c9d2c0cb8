"""How what a stretch computes hangs on an input: smoothly, by steps alone, or past what was seen of it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.static.replay.stretches import Place, Stretch

_STEPS: Final = frozenset(
    {"round", "floor", "ceil", "trunc", "fix", "sign", "sgn", "heaviside", "floor_divide", "fake_quantize_per_tensor_affine"}
)
"""Ops whose results are floating and change by steps alone."""

_READING: Final = frozenset({"item", "tolist", "numpy"})
_NUMBERS: Final = frozenset({"float", "int", "bool", "complex"})


def is_smooth(stretch: Stretch, place: Place) -> bool:
    """Whether an output hangs on an input by more than steps, or not at all."""
    by_steps, smoothly = {place}, {place}
    for step in stretch.steps:
        sources = {(edge.source.row, edge.slot) for edge in step.inputs}
        for slot, (_, dtype) in enumerate(step.outputs):
            if sources & by_steps:
                by_steps.add((step.row, slot))
            if sources & smoothly and dtype.startswith(("float", "bfloat", "complex")) and step.op not in _STEPS:
                smoothly.add((step.row, slot))
    return any(each in smoothly for each in stretch.outputs) or not any(each in by_steps for each in stretch.outputs)


def read_as_numbers(node: Node) -> str:
    """Where the forward function of a custom one may read tensors as numbers of Python; empty where it does not.

    What hangs on such a number was not seen to hang on the tensor.
    """
    log = node.graph.log
    if log.op(node.event.op).function:
        return ""
    from graphscope.static.replay.stretches import stretch_of

    sites = [step.site for step in stretch_of(node).steps if step.kind == "op"]
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
        return any(name.id not in plain for each in call.args for name in ast.walk(each) if isinstance(name, ast.Name))
    return False
