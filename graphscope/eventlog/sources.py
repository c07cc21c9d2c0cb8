"""Names from source text: which variable a line assigns an expression to, and what an argument is called."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graphscope.eventlog.source_texts import lines_of
from graphscope.eventlog.syntax_trees import module_tree

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site

_Place = tuple[int, int, int, int]


def variable_at(text: str | None, site: Site) -> str | None:
    """The variable (or attribute) that the expression at `site` is assigned to, when it is the whole right side."""
    if not text:
        return None
    return _names(text)[0].get((site.line, site.column, site.end_line, site.end_column))


def argument_at(text: str | None, place: _Place, argument: int) -> str | None:
    """What operand number `argument` of the expression at `place` is called, when that is a plain name."""
    if not text:
        return None
    operands = _operands_alone(text, place)
    if operands is None:
        operands = _names(text)[1].get(place, ())
    return operands[argument] if argument < len(operands) else None


def root_at(text: str | None, place: _Place) -> str | None:
    """What the backward pass that is begun by the call at `place` begins from: `loss` of `loss.backward()`.

    None of a call that begins a pass for what its argument is put into, as `grad(function)(x)` does.
    """
    if not text or _names(text)[2].get(place) not in ("backward", "grad"):
        return None
    return argument_at(text, place, 0)


def _operands_alone(text: str, place: _Place) -> tuple[str | None, ...] | None:
    """The names of the operands of the expression at a place, by that alone; None where it takes more of the text.

    To parse a whole file takes longer than the first steps of many a program.
    """
    line, column, end_line, end_column = place
    lines = [each.encode() for each in lines_of(text)[line - 1 : end_line]] if 0 < line <= end_line else []
    if not lines or "\r" in text:
        return None
    lines[-1] = lines[-1][:end_column]  # first: both may be one
    lines[0] = lines[0][column:]
    expression = _parsed(b"\n".join(lines))
    if expression is None:
        return None
    if isinstance(expression, ast.Call) and isinstance(expression.func, ast.Attribute):
        base = (_plain(expression.func.value) or "").partition(".")[0]
        if base in _beside_imports(text) and not _is_module(expression.func.value, ()):  # it may be a module
            return None
    return _operands(expression, ()) or ()


def _parsed(text: bytes) -> ast.AST | None:
    """What stands there: an expression, which may go over several lines, or a statement."""
    for before, after in ((b"(", b"\n)"), (b"", b"")):
        try:
            (statement,) = module_tree(before + text + after).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        return statement.value if isinstance(statement, ast.Expr) else statement
    return None


@lru_cache(maxsize=64)
def _beside_imports(text: str) -> frozenset[str]:
    """The words on lines that import something, or may."""
    found: set[str] = set()
    place = text.find("import")
    while place >= 0:  # a pattern that may begin anywhere would take many times as long
        line = _IMPORT.match(text, place)
        found.update(_WORD.findall(line[0]) if line else ())
        place = text.find("import", line.end() if line else place + 1)
    return frozenset(found)


_IMPORT: Final = re.compile(r"\bimport\b(?:\\\n|[^\n])*")
_WORD: Final = re.compile(r"\w+")


def _operands(node: ast.AST, modules: Collection[str]) -> tuple[str | None, ...] | None:
    """The names of the operands of an expression; None of what has none."""
    if isinstance(node, ast.BinOp):
        return _plain(node.left), _plain(node.right)
    if isinstance(node, ast.UnaryOp):
        return (_plain(node.operand),)
    if isinstance(node, ast.Subscript):
        return (_plain(node.value),)
    if not isinstance(node, ast.Call):
        return None
    names = [_plain(argument) for argument in node.args]
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value, modules):
        names.insert(0, _plain(node.func.value))
    return tuple(names)


@lru_cache(maxsize=64)
def _names(text: str) -> tuple[dict[_Place, str], dict[_Place, tuple[str | None, ...]], dict[_Place, str]]:
    """By place: the variable that an expression is assigned to, the names of its operands, what a call calls."""
    variables: dict[_Place, str] = {}
    operands: dict[_Place, tuple[str | None, ...]] = {}
    called: dict[_Place, str] = {}
    try:
        tree = module_tree(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return variables, operands, called
    nodes = [*ast.walk(tree)]
    modules = {name for node in nodes for name in _imported(node)}
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            _assign(node.targets[0], node.value, variables)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            _assign(node.target, node.value, variables)
        elif isinstance(node, ast.AugAssign) and (name := _plain(node.target)):
            variables[_place(node)] = name
        elif isinstance(node, ast.expr) and (found := _operands(node, modules)) is not None:
            operands[_place(node)] = found
            if isinstance(node, ast.Call):
                called[_place(node)] = (_plain(node.func) or "").rpartition(".")[2] or getattr(node.func, "attr", "")
    return variables, operands, called


def _assign(target: ast.expr, value: ast.expr, variables: dict[_Place, str]) -> None:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for part, expression in zip(target.elts, value.elts, strict=False):
            _assign(part, expression, variables)
    elif name := _plain(target):
        variables[_place(value)] = name


def _plain(node: ast.expr) -> str | None:
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        names.append(node.id)
        return ".".join(reversed(names))
    return None


def _imported(node: ast.AST) -> list[str]:
    """What a program calls the modules that it imports as a whole."""
    if not isinstance(node, ast.Import):
        return []
    return [each.asname or each.name.partition(".")[0] for each in node.names]


def _is_module(node: ast.expr, modules: Collection[str]) -> bool:
    name = _plain(node) or ""
    return name.partition(".")[0] in modules or name in _MODULES


_MODULES: Final = frozenset({"torch", "gs", "graphscope", "F", "np", "functional", "torch.nn.functional"})
"""What programs call modules, of which a part alone is at hand."""


def _place(node: ast.expr | ast.stmt) -> _Place:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
