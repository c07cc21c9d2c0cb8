"""Where a program computes what it hands to a call: followed through names, attributes, entries and arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_MOST_STEPS: Final = 12
_WRAPPING: Final = frozenset({"float", "int", "max", "min", "round", "Decimal"})

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Alias = ast.Name | ast.Attribute | ast.Subscript


class Value(NamedTuple):
    """An expression, and where it stands."""

    file: str
    expression: ast.expr

    @property
    def place(self) -> tuple[str, int]:
        """File and line."""
        return self.file, self.expression.lineno

    @property
    def number(self) -> float | None:
        """The number that it is as it stands; None of what is computed."""
        try:
            found = ast.literal_eval(self.expression)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
        return float(found) if isinstance(found, (int, float)) else None


def argument(log: Log, site: Site, name: str, place: int) -> Value | None:
    """What the call at a site is given under a name, or at a place: where the program computes it.

    None where the source does not say, or names more than one.
    """
    found = given(log, site, name, place)
    return None if found is None else _program(log).origin(found)


def origin(log: Log, value: Value) -> Value | None:
    """Where the program computes a value, and does not only hand it on; None where it may do so at several places."""
    return _program(log).origin(value)


def definition(log: Log, site: Site, name: str) -> Value | None:
    """Where what a line of the program calls by a plain name is computed."""
    for node in ast.walk(tree_of(log.source(site.file))):
        if isinstance(node, ast.Name) and node.id == name and node.lineno == site.line:
            return origin(log, Value(site.file, node))
    return None


def given(log: Log, site: Site, name: str, place: int) -> Value | None:
    """What the call at a site is given under a name, or at a place, as it is written there."""
    for call in _calls_at(log, site):
        found = _given(call, name, place)
        if found is not None:
            return Value(site.file, found)
    return None


def made(log: Log, site: Site, wanted: str) -> Value | None:
    """Where the object that is called at a site is made, of a class whose name in small letters is known."""
    for each in _calls_at(log, site):
        found = origin(log, Value(site.file, each.func)) if isinstance(each.func, _Alias) else None
        call = None if found is None or not isinstance(found.expression, ast.Call) else found.expression
        if call is not None and _name(call.func).lower().removesuffix("loss") == wanted.removesuffix("loss"):
            return found
    return None


def _calls_at(log: Log, site: Site) -> list[ast.Call]:
    """The calls that a site may stand for."""
    calls = [call for call in _program(log).calls(site.file) if call.lineno <= site.line <= (call.end_lineno or 0)]
    return [call for call in calls if (call.lineno, call.col_offset) == (site.line, site.column)] or calls


def _program(log: Log) -> _Program:
    return _Program(
        {str(each["file"]): str(each.get("text", "")) for each in log.table("sources") if isinstance(each, dict)}
    )


def _given(call: ast.Call, name: str, place: int) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if place < len(call.args) and not isinstance(call.args[place], ast.Starred) else None


class _Program:
    """The recorded source of a program."""

    def __init__(self, files: dict[str, str]) -> None:
        self._trees = {file: tree_of(text) for file, text in files.items()}

    def calls(self, file: str) -> list[ast.Call]:
        return (
            [node for node in ast.walk(self._trees[file]) if isinstance(node, ast.Call)] if file in self._trees else []
        )

    def origin(self, value: Value) -> Value | None:
        """Where a value is computed, and not only handed on."""
        for _ in range(_MOST_STEPS):
            expression = value.expression
            if isinstance(expression, ast.Call):
                name = _name(expression.func)
                if name in _WRAPPING and len(expression.args) == 1:
                    found = [Value(value.file, expression.args[0])]
                else:
                    found = [*self._returned(name)]
                    if not found:
                        return value
            elif isinstance(expression, _Alias):
                found = [*self._assigned(value)]
            else:
                return value
            if len(found) != 1:
                return None
            value = found[0]
        return None

    def _assigned(self, value: Value) -> Iterator[Value]:
        """What the program assigns to a name, an attribute or an entry."""
        file, expression = value
        if isinstance(expression, ast.Name):
            yield from self._named(file, expression)
        elif isinstance(expression, ast.Attribute):
            inside = _around(self._trees[file], expression, ast.ClassDef)
            if _name(expression.value) == "self" and inside is not None:
                yield from (Value(file, each) for each in _attributes(inside, expression.attr))
            else:
                for other, tree in self._trees.items():
                    scopes: list[ast.AST] = [tree, *(node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))]
                    scopes = [scope for scope in scopes if scope is not inside]
                    for scope in scopes:
                        yield from (Value(other, each) for each in _names(scope, expression.attr))
                    yield from (Value(other, each) for each in _of_objects(tree, expression.attr, inside))
        elif isinstance(expression, ast.Subscript) and isinstance(expression.slice, ast.Constant):
            for other, tree in self._trees.items():
                yield from (Value(other, each) for each in _entries(tree, expression.slice.value))

    def _named(self, file: str, name: ast.Name) -> Iterator[Value]:
        function = _around(self._trees[file], name, _Function)
        if function is not None:
            here = [*_names(function, name.id)]
            if here:
                yield from (Value(file, each) for each in here)
                return
            if isinstance(function, _Function) and name.id in _parameters(function):
                yield from self._handed(file, function, name.id)
                return
        here = [*_names(self._trees[file], name.id)]
        if here:
            yield from (Value(file, each) for each in here)
            return
        for other, tree in self._trees.items():
            yield from (Value(other, each) for each in _names(tree, name.id))

    def _handed(self, file: str, function: _Function, name: str) -> Iterator[Value]:
        """What calls of a function hand over for a parameter; where they don't, its default."""
        around = _around(self._trees[file], function, ast.ClassDef)
        called = around.name if isinstance(around, ast.ClassDef) and function.name == "__init__" else function.name
        parameters = [each for each in _parameters(function) if around is None or each not in ("self", "cls")]
        if name not in parameters:
            return  # the object itself, which no call hands over
        place = parameters.index(name)
        is_given = False
        for other in self._trees:
            for call in self.calls(other):
                if _name(call.func) == called:
                    given = _given(call, name, place)
                    spread = any(keyword.arg is None for keyword in call.keywords)
                    if given is not None:
                        is_given = True
                        yield Value(other, given)
                    elif spread:
                        is_given = True
                        for each, tree in self._trees.items():
                            yield from (Value(each, entry) for entry in _entries(tree, name))
        default = _default(function, name)
        if not is_given and default is not None:
            yield Value(file, default)

    def _returned(self, name: str) -> Iterator[Value]:
        for file, tree in self._trees.items():
            for node in ast.walk(tree):
                if isinstance(node, _Function) and node.name == name:
                    returns = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
                    yield from (Value(file, each.value) for each in returns if each.value is not None)


def _around(tree: ast.AST, wanted: ast.AST, kind: type | object) -> ast.AST | None:
    """The innermost function or class that holds a node."""
    line = getattr(wanted, "lineno", 0)
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kind) and node is not wanted and node.lineno <= line <= (node.end_lineno or 0)  # type: ignore[arg-type,attr-defined]
    ]
    return max(found, key=lambda node: node.lineno, default=None)  # type: ignore[attr-defined]


def _names(scope: ast.AST, name: str) -> Iterator[ast.expr]:
    """What is assigned to a plain name in a scope itself, not in the functions and classes in it."""
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (_Function, ast.ClassDef, ast.Lambda)):
            continue
        waiting += ast.iter_child_nodes(node)
        for target, value in _pairs(node):
            if isinstance(target, ast.Name) and target.id == name:
                yield value


def _attributes(inside: ast.AST, name: str) -> Iterator[ast.expr]:
    """What is assigned to an attribute of an object, in the body of its class."""
    yield from _names(inside, name)
    for node in ast.walk(inside):
        for target, value in _pairs(node):
            if isinstance(target, ast.Attribute) and target.attr == name:
                yield value


def _of_objects(tree: ast.AST, name: str, aside: ast.AST | None) -> Iterator[ast.expr]:
    """What is assigned to an attribute of any object, or declared as an option of a command line."""
    outside = {id(each) for each in ast.walk(aside)} if aside is not None else set()
    for node in ast.walk(tree):
        if id(node) in outside:
            continue
        for target, value in _pairs(node):
            if isinstance(target, ast.Attribute) and target.attr == name:
                yield value
        if isinstance(node, ast.Call) and _name(node.func) == "add_argument":
            options = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if any(str(option).lstrip("-").replace("-", "_") == name for option in options):
                yield from (keyword.value for keyword in node.keywords if keyword.arg == "default")
        elif isinstance(node, ast.Call) and _name(node.func) in ("SimpleNamespace", "Namespace"):
            yield from (keyword.value for keyword in node.keywords if keyword.arg == name)


def _entries(tree: ast.AST, key: object) -> Iterator[ast.expr]:
    """What is written under a key, in a dict or into one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (value for each, value in pairs if isinstance(each, ast.Constant) and each.value == key)
        elif isinstance(node, ast.Call) and _name(node.func) == "dict":
            yield from (keyword.value for keyword in node.keywords if keyword.arg == key)
        for target, value in _pairs(node):
            if (
                isinstance(target, ast.Subscript)
                and isinstance(target.slice, ast.Constant)
                and target.slice.value == key
            ):
                yield value


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a statement assigns to what."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield from zip(target.elts, node.value.elts, strict=False)
            else:
                yield target, node.value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
        yield node.target, node.value


def _parameters(function: _Function) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _default(function: _Function, name: str) -> ast.expr | None:
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    with_default = dict(zip([each.arg for each in plain[::-1]], given.defaults[::-1], strict=False))
    named = {
        each.arg: value for each, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None
    }
    return with_default.get(name) or named.get(name)


def _name(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")
