"""The text of a rule, as far as it applies to one node, and what a part of it comes to in numbers."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.eventlog.syntax_trees import expression_tree

if TYPE_CHECKING:
    from graphscope.graph.node import Node

_DEFINITION: Final = re.compile(r", (?=\w+(?:, \w+)* = )")
_OPERATORS: Final[Mapping[type, Callable[..., Any]]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.USub: operator.neg,
    ast.Not: operator.not_, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    "abs": np.abs, "cos": np.cos, "sin": np.sin, "cosh": np.cosh, "sinh": np.sinh, "tanh": np.tanh, "exp": np.exp,
    "log": np.log, "log1p": np.log1p, "sqrt": np.sqrt, "sign": np.sign, "where": np.where,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}  # fmt: skip
"""The words of rules that mean something for each element by itself."""


@dataclass(frozen=True, slots=True)
class Language:
    """What a rule may say to be computed."""

    functions: Mapping[str, Callable[..., Any]]
    operators: Mapping[type, Callable[..., Any]]
    attributes: Mapping[str, Callable[[Any], Any]]
    """`.T` and the like."""


ELEMENTS: Final = Language(FUNCTIONS, _OPERATORS, {})
"""Of each element by itself."""


def wider(functions: Mapping[str, Callable[..., Any]], attributes: Mapping[str, Callable[[Any], Any]]) -> Language:
    """The same, with products of matrices and other words that mean something for whole tensors."""
    return Language({**FUNCTIONS, **functions}, {**_OPERATORS, ast.MatMult: operator.matmul}, {**attributes})


def applied(node: Node, rule: str) -> str:
    """A rule without what it says of other cases: `count(x) if reduction == 'mean' else 1` is `count(x)` of a mean."""
    if " if " not in rule or "\n" in rule:
        return rule
    known: dict[str, Any] = {**node.defaults, **node.arguments.attributes}
    known |= {each.name: each.constant for each in node.operands if each.edge is None}
    ranks = {each.name: len(each.edge.source.shape) for each in node.operands if each.edge is not None}
    expression, *definitions = parts(rule)
    told = [_chosen(expression, known, ranks)]
    for name, meaning in (each.split(" = ", 1) for each in definitions):
        told.append(f"{name} = {_chosen(meaning, known, ranks)}")
    return " where ".join(filter(None, (told[0], ", ".join(told[1:]))))


def parts(rule: str) -> list[str]:
    """The expression of a rule, and the definitions behind its `where`."""
    expression, _, definitions = rule.partition(" where ")
    return [expression, *(_DEFINITION.split(definitions) if definitions else ())]


def evaluated(rule: str, names: Mapping[str, Any], language: Language = ELEMENTS) -> Any:
    """What a rule comes to, element by element unless the language has more words.

    Raises:
        LookupError: It says more than that, or names what is not known.
    """
    known = {"pi": np.pi, **names}
    expression, *definitions = parts(rule)
    for each in reversed(definitions):
        name, _, meaning = each.partition(" = ")
        known[name] = _value(_parsed(meaning), known, {}, language)
    return _value(_parsed(expression), known, {}, language)


def _chosen(text: str, known: Mapping[str, Any], ranks: Mapping[str, int]) -> str:
    try:
        found = _parsed(text)
        while isinstance(found, ast.IfExp):
            found = found.body if _value(found.test, known, ranks) else found.orelse
        return ast.get_source_segment(text, found) or text
    except LookupError:
        return text


def _parsed(text: str) -> ast.expr:
    try:
        return expression_tree(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise LookupError(text) from error


def _value(found: ast.expr, known: Mapping[str, Any], ranks: Mapping[str, int], language: Language = ELEMENTS) -> Any:
    """What a part of an expression comes to: names, numbers, and the words of a language, nothing else."""

    def value(part: ast.expr) -> Any:
        return _value(part, known, ranks, language)

    match found:
        case ast.Constant(value=constant):
            # A power of large integers takes for ever.
            return float(constant) if type(constant) is int else constant
        case ast.Name(id=name):
            return known[name]
        case ast.Attribute(value=ast.Name(id=name), attr="ndim"):
            return ranks[name]
        case ast.Attribute(value=inner, attr=name):
            return language.attributes[name](value(inner))
        case ast.UnaryOp(op=sign, operand=operand):
            return language.operators[type(sign)](value(operand))
        case ast.BinOp(left=left, op=sign, right=right):
            return language.operators[type(sign)](value(left), value(right))
        case ast.Compare(left=left, ops=[sign], comparators=[right]):
            return language.operators[type(sign)](value(left), value(right))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]):
            return language.functions[name](*map(value, given))
    raise LookupError(type(found).__name__)
