"""Names from source text: which variable a line assigns an expression to, and what an argument is called."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Final

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
    operands = _names(text)[1].get(place, ())
    return operands[argument] if argument < len(operands) else None


def root_at(text: str | None, place: _Place) -> str | None:
    """What the backward pass that is begun by the call at `place` begins from: `loss` of `loss.backward()`.

    None of a call that begins a pass for what its argument is put into, as `grad(function)(x)` does.
    """
    if not text or _names(text)[2].get(place) not in ("backward", "grad"):
        return None
    return argument_at(text, place, 0)


@lru_cache(maxsize=64)
def _names(text: str) -> tuple[dict[_Place, str], dict[_Place, tuple[str | None, ...]], dict[_Place, str]]:
    """By place: the variable that an expression is assigned to, the names of its operands, what a call calls."""
    variables: dict[_Place, str] = {}
    operands: dict[_Place, tuple[str | None, ...]] = {}
    called: dict[_Place, str] = {}
    try:
        tree = ast.parse(text)
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
        elif isinstance(node, ast.BinOp):
            operands[_place(node)] = (_plain(node.left), _plain(node.right))
        elif isinstance(node, ast.UnaryOp):
            operands[_place(node)] = (_plain(node.operand),)
        elif isinstance(node, ast.Subscript):
            operands[_place(node)] = (_plain(node.value),)
        elif isinstance(node, ast.Call):
            names = [_plain(argument) for argument in node.args]
            if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value, modules):
                names.insert(0, _plain(node.func.value))
            operands[_place(node)] = tuple(names)
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


def _is_module(node: ast.expr, modules: set[str]) -> bool:
    name = _plain(node) or ""
    return name.partition(".")[0] in modules or name in _MODULES


_MODULES: Final = frozenset({"torch", "gs", "graphscope", "F", "np", "functional", "torch.nn.functional"})
"""What programs call modules, of which a part alone is at hand."""


def _place(node: ast.expr | ast.stmt) -> _Place:
    return (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
