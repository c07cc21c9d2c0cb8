"""One element of a gradient: what the rule that made it says there, in the program's names and in numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.graph import gradients
from graphscope.graph.filled import PART, Operands, Row, called_at, joined, number
from graphscope.graph.rule_text import FUNCTIONS, applied, evaluated, parts

if TYPE_CHECKING:
    from graphscope.graph.node import Node
    from graphscope.graph.operands import Operand

_PRODUCT: Final = re.compile(
    r"(?P<left>\w+|rows\(\w+\))(?P<turned>\.m?T)? @ (?P<right>\w+|rows\(\w+\))(?P<second>\.m?T)?"
)
_WITH_VECTORS: Final = {
    "g[..., None] * y": (("g", "[i]"), ("y", "[j]")),
    "g[..., None] * x": (("g", "[:]"), ("x", "[:, j]")),
}
"""Rules of products with a vector."""
_NAME: Final = re.compile(r"[A-Za-z_]\w*")
_MOST: Final = 4


def of_gradient(node: Node, index: tuple[int, ...]) -> list[Row]:
    """How one element of a node's gradient came to be: a row for each rule that added to it, of the newest few; nothing
    where one of them can't be told so.

    Args:
        node: The node: a backward one stands for its forward node.
        index: The element's place.
    """
    owner = node.forward if node.kind in ("grad", "accumulate") else node
    if owner is None:
        return []
    added = gradients.contributions(node)[-_MOST:]
    rules = {part.source.row: part.source for part in added if part.source is not None}
    found = []
    for rule in rules.values():
        op: Node | None = rule
        while op is not None and op.kind == "grad":
            op = op.forward
        for operand in op.operands if op is not None and op.kind == "op" else ():
            if op is not None and operand.edge is not None and operand.edge.source.tensor == owner.tensor:
                row = of_input(op, operand, index, rule.value)
                if row is None:
                    return []
                found.append(row)
    return found


def of_inputs(node: Node, index: tuple[int, ...]) -> list[Row]:
    """What the rules of an op say at the element of each input that stands where this one of its result does.

    Args:
        node: The op.
        index: The place in its result.
    """
    found = []
    for operand in node.operands:
        shape = operand.edge.source.shape if operand.edge is not None else ()
        rank = len(index) - len(shape)
        if not operand.rule or operand.edge is None or rank < 0 or " @ " in operand.rule:
            continue
        fits = all(length in (1, own) for length, own in zip(shape, node.shape[rank:], strict=True))
        place = tuple(0 if length == 1 else at for length, at in zip(shape, index[rank:], strict=True))
        row = of_input(node, operand, place, node.grad) if fits else None
        found += [row] if row is not None else []
    return found


def of_input(node: Node, operand: Operand, index: tuple[int, ...], cotangent: np.ndarray | None) -> Row | None:
    """What the rule of one input says at an element of it; None where that is no matter of single elements.

    Args:
        node: The op.
        operand: The input.
        index: The place in it.
        cotangent: The gradient that arrives at the op.
    """
    rule = applied(node, operand.rule)
    if operand.edge is None or cotangent is None or not rule or "\n" in rule:
        return None
    source = operand.edge.source
    value = source.output(operand.edge.slot)
    like = np.empty(source.shape, np.int8) if value is None else np.asarray(value)
    more = {"g": ("g", np.asarray(cotangent)), "out": (called_at(node, node), node.computed)}
    operands = Operands(node, index, like, more)
    try:
        names, numbers, result = _told(rule, operands)
    except (LookupError, ValueError, TypeError, IndexError, ArithmeticError):  # it says more, or a value was not kept
        return None
    place = f"[{', '.join(map(str, index))}]" if index else ""
    made = number(result).strip("()")
    said = f"{numbers} = {made}" if numbers.strip("()") not in ("", made) else made
    return Row(f"grad of {called_at(node, source)}{place} = {names}", said)


def _told(rule: str, operands: Operands) -> tuple[str, str, float]:
    """A rule at an element: in names, in numbers, and what it comes to."""
    product = _PRODUCT.fullmatch(rule)
    if product is not None:
        return _product(product, operands)
    if rule in ("g.T", "g.mT"):
        text = "g[j, i]"
        return PART.sub(operands.names, text), PART.sub(operands.numbers, text), float(operands.taken("g", "[j, i]"))
    if rule in _WITH_VECTORS:
        return _dot(*_WITH_VECTORS[rule], operands)
    local = {each.partition(" = ")[0] for each in parts(rule)[1:]}
    words = set(_NAME.findall(rule)) - local - {"where", *FUNCTIONS}
    taken: dict[str, Any] = {}
    for word in words:
        if operands.known(word):
            held = operands.taken(word, None)
            taken[word] = held.astype(np.float64) if isinstance(held, np.ndarray) and held.dtype.kind in "fiu" else held
    with np.errstate(all="ignore"):
        result = np.asarray(evaluated(rule, taken))
    names = PART.sub(operands.names, rule)
    if not operands.is_summed:
        return names, PART.sub(operands.numbers, rule), float(result.reshape(-1)[0])
    terms = joined(result.reshape(-1).tolist(), " + ", number) if rule == "g" else ""
    return f"Σ {names}", terms, float(result.sum())


def _product(found: re.Match[str], operands: Operands) -> tuple[str, str, float]:
    left, right = (_NAME.findall(found[side])[-1] for side in ("left", "right"))
    first, second = "[:, i]" if found["turned"] else "[i, :]", "[j, :]" if found["second"] else "[:, j]"
    return _dot((left, first), (right, second), operands)


def _dot(left: tuple[str, str], right: tuple[str, str], operands: Operands) -> tuple[str, str, float]:
    one, other = (np.asarray(operands.taken(*each), np.float64) for each in (left, right))
    if one.ndim > 1 or one.shape != other.shape:
        raise LookupError(left, right)
    text = f"{''.join(left)} · {''.join(right)}"
    return PART.sub(operands.names, text), PART.sub(operands.numbers, text), float(np.dot(one, other))
