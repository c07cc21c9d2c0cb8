"""Where a program writes a number that reaches a call: through names, attributes, entries, options and defaults."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.trees import trees

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_MOST: Final = 64
"""So many names are followed."""

_CONVERTING: Final = frozenset({"float", "int", "abs", "tensor", "Decimal", "field", "getattr", "get", "pop"})
"""Calls whose arguments are the number, or name it."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Place = tuple[str, int]


class _Bound(NamedTuple):
    """What is written under a name."""

    file: str
    function: ast.AST | None
    """The function whose own name it is; None for what can be seen from outside."""
    value: ast.expr


def written_number(log: Log, site: Site, name: str, place: int, number: float) -> _Place | None:
    """File and line of the one literal of this number that the call at a site may be given; None if there are several.

    Args:
        log: The log that holds the source.
        site: The line of the call.
        name: What the argument is called.
        place: Where it stands among those without names.
        number: What was given, as the log knows it.
    """
    known = trees(log)
    tree = dict(known or ()).get(site.file)
    if known is None or tree is None:
        return None
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and _holds(each, site.line)]
    here = [each for each in calls if (each.lineno, each.col_offset) == (site.line, site.column)] or calls
    given = [value for call in here for value in _given(call, name, place)]
    if not given:
        return None
    found = _Search(known, number).found(site.file, given, name)
    return found.pop() if len(found) == 1 else None


def is_written(log: Log, site: Site, number: float) -> bool:
    """Whether the program writes a number as it is, in the expression at a site or where a name in it gets its value.

    Where the log does not hold the source of all of the program, that can't be ruled out.
    """
    known = trees(log)
    tree = dict(known or ()).get(site.file)
    if known is None or tree is None:
        return True
    at = (site.line, site.column)
    here = [each for each in ast.walk(tree) if isinstance(each, _COMPUTING) and (each.lineno, each.col_offset) == at]
    search = _Search(known, number)
    return not here or any(search.found(site.file, [given], _last(given)) for each in here for given in _parts(each))


_COMPUTING: Final = (ast.BinOp, ast.Call, ast.AugAssign)


def _parts(node: ast.AST) -> list[ast.expr]:
    """What an expression computes with: both sides, or the arguments and what has the method."""
    if isinstance(node, ast.Call):
        return [*([node.func.value] if isinstance(node.func, ast.Attribute) else []), *node.args]
    found = (getattr(node, name, None) for name in ("left", "right", "value"))
    return [each for each in found if isinstance(each, ast.expr)]


def _given(call: ast.Call, name: str, place: int) -> list[ast.expr]:
    """What a call is given under a name: as an argument, within groups of parameters, or by what is spread over it."""
    named = [each.value for each in call.keywords if each.arg == name]
    inside = [
        value
        for each in call.args
        for node in ast.walk(each)
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value == name
    ]
    at = [each for each in call.args[place : place + 1] if not isinstance(each, ast.Starred)]
    spread = [each.value for each in call.keywords if each.arg is None]
    return named or inside or at or spread


class _Search:
    """Follows names to literals of one number, in the recorded source of a program."""

    def __init__(self, known: list[tuple[str, ast.Module]], number: float) -> None:
        self._known = known
        self._number = number
        self._bound: dict[str, list[_Bound]] = {}
        self._texts: list[tuple[str, ast.Constant]] = []
        for file, tree in known:
            self._read(file, tree, None)

    def found(self, file: str, given: list[ast.expr], name: str) -> set[_Place]:
        """Where the number stands."""
        places = {(file, each.lineno) for whole in given for each in _branches(whole) if self._is_number(each)}
        if places:
            return places
        waiting, seen = [(file, each) for each in given], set[str]()
        while waiting and len(seen) < _MOST:
            at, expression = waiting.pop()
            for wanted in _names(expression, name):
                if not wanted or wanted in seen:
                    continue
                seen.add(wanted)
                for each in self._bindings(at, expression, wanted):
                    for value in _branches(each.value):
                        if self._is_number(value):
                            places.add((each.file, value.lineno))
                        else:
                            waiting.append((each.file, value))
                places |= set(self._in_texts(wanted))
        return places

    def _bindings(self, file: str, expression: ast.expr, name: str) -> list[_Bound]:
        """What is written under a name; in the function itself, where it has such a name of its own."""
        found = self._bound.get(name, [])
        if isinstance(expression, ast.Name):
            inside = [each for each in found if each.function is not None and each.file == file]
            own = [each for each in inside if each.function is not None and _holds(each.function, expression.lineno)]
            return own or [each for each in found if each.function is None]
        return [each for each in found if each.function is None]

    def _is_number(self, value: ast.expr) -> bool:
        found = _literal(value)
        return found is not None and (found == self._number or abs(found - self._number) <= 1e-6 * abs(found))

    def _in_texts(self, name: str) -> Iterator[_Place]:
        """Where texts, as of a configuration or a command line, give the number a name."""
        pattern = re.compile(rf"(?<![\w]){re.escape(name)}['\"]?\s*[:=]\s*([-+.\deE]+)")
        for file, text in self._texts:
            for match in pattern.finditer(str(text.value)):
                try:
                    is_meant = abs(float(match[1]) - self._number) <= 1e-6 * abs(self._number)
                except ValueError:
                    continue
                if is_meant:
                    yield file, text.lineno + str(text.value)[: match.start(1)].count("\n")

    def _read(self, file: str, node: ast.AST, function: ast.AST | None) -> None:
        for each in ast.iter_child_nodes(node):
            for name, value, is_own in _bound(each):
                owner = function if is_own else None
                self._bound.setdefault(name, []).append(_Bound(file, owner, value))
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and _ASSIGNING.search(each.value):
                self._texts.append((file, each))
            if isinstance(each, ast.Call):
                self._read_call(file, each)
            if isinstance(each, ast.Return) and each.value is not None and isinstance(function, _Function):
                self._bound.setdefault(function.name, []).append(_Bound(file, None, each.value))
            inner = each if isinstance(each, _Function) else None if isinstance(each, ast.ClassDef) else function
            self._read(file, each, inner)

    def _read_call(self, file: str, call: ast.Call) -> None:
        """What functions and classes of the program are given at places, by the names of their parameters."""
        called = _last(call.func)
        for _, tree in self._known:
            for node in tree.body if call.args else ():
                for name, value in zip(_parameters(node, called), call.args, strict=False):
                    self._bound.setdefault(name, []).append(_Bound(file, None, value))


_ASSIGNING: Final = re.compile(r"\w['\"]?\s*[:=]\s*[-+.\d]")


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr, bool]]:
    """The names that a node gives to values, and whether that is a name of the function that it stands in."""
    for target, value in _pairs(node):
        if isinstance(target, ast.Name):
            yield target.id, value, True
        elif isinstance(target, ast.Attribute):
            yield target.attr, value, False
        elif isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            yield str(target.slice.value), value, False
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), value, False
    elif isinstance(node, ast.Call):
        yield from ((each.arg, each.value, False) for each in node.keywords if each.arg is not None)
        texts = [str(each.value) for each in node.args if isinstance(each, ast.Constant)]
        if _last(node.func) in ("add_argument", "option"):
            defaults = [each.value for each in node.keywords if each.arg == "default"]
            yield from ((_option(text), value, False) for text in texts for value in defaults)
        elif _last(node.func) in ("get", "getattr", "pop", "setdefault") and texts:
            yield texts[0], node.args[-1], False
    elif isinstance(node, _Function):
        given = node.args
        plain = [*given.posonlyargs, *given.args]
        yield from ((each.arg, value, False) for each, value in zip(plain[::-1], given.defaults[::-1], strict=False))
        named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
        yield from ((each.arg, value, False) for each, value in named if value is not None)
    elif isinstance(node, (ast.List, ast.Tuple)):
        for option, value in zip(node.elts, node.elts[1:], strict=False):
            if isinstance(option, ast.Constant) and str(option.value).startswith("--"):
                yield _option(str(option.value)), value, False


def _branches(value: ast.expr) -> list[ast.expr]:
    """What an expression may be: both sides of a condition, else itself."""
    return [*_branches(value.body), *_branches(value.orelse)] if isinstance(value, ast.IfExp) else [value]


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement assigns to what."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value


def _names(expression: ast.expr, name: str) -> list[str]:
    """The names under which the value of an expression is written; of a whole dict, the one that is looked for."""
    if isinstance(expression, ast.Name):
        return [expression.id, name]
    if isinstance(expression, ast.Attribute):
        return [expression.attr]
    if isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
        return [str(expression.slice.value), name]
    if isinstance(expression, ast.Call) and _last(expression.func) in _CONVERTING:
        texts = [str(each.value) for each in expression.args if isinstance(each, ast.Constant)]
        inner = [text for each in expression.args for text in _names(each, name)]
        return [*texts, *inner, *(text for each in expression.keywords for text in _names(each.value, name))]
    return [_last(expression.func), name] if isinstance(expression, ast.Call) else []


def _literal(value: ast.expr) -> float | None:
    """The number that an expression is, if nothing but numbers stands in it; also a text of one."""
    if isinstance(value, ast.Call) and _last(value.func) in _CONVERTING and len(value.args) + len(value.keywords) == 1:
        value = value.args[0] if value.args else value.keywords[0].value
    if isinstance(value, ast.BinOp):
        left, right = _literal(value.left), _literal(value.right)
        return None if left is None or right is None else _computed(value.op, left, right)
    try:
        found = ast.literal_eval(value)
        return float(found) if isinstance(found, (int, float, str)) else None
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _computed(op: ast.operator, left: float, right: float) -> float | None:
    try:
        if isinstance(op, ast.Mult):
            return left * right
        if isinstance(op, ast.Div):
            return left / right
        return float(left**right) if isinstance(op, ast.Pow) else None
    except (ArithmeticError, TypeError):
        return None


def _parameters(node: ast.AST, called: str) -> list[str]:
    """The parameters of a function, or of a class with an `__init__` or fields, where it is the one that is called."""
    if getattr(node, "name", "") != called:
        return []
    if isinstance(node, _Function):
        return [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
    if isinstance(node, ast.ClassDef):
        made = next((each for each in node.body if isinstance(each, _Function) and each.name == "__init__"), None)
        if made is not None:
            return [each.arg for each in made.args.args[1:]]
        fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
        return [each.id for each in fields if isinstance(each, ast.Name)]
    return []


def _option(text: str) -> str:
    return text.lstrip("-").replace("-", "_")


def _holds(node: ast.AST, line: int) -> bool:
    return bool(node.lineno <= line <= (node.end_lineno or 0))  # type: ignore[attr-defined]


def _last(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")
