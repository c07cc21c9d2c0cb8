"""Conditions on the names of parameters that no name meets, so that what they guard never runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.definitions import Value, origin
from graphscope.diagnose.source.trees import trees

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_NAMING: Final = frozenset({"named_parameters", "named_modules", "named_children"})
_MOST: Final = 64
"""So many texts that a name is compared with are looked at."""


class Unmatched(NamedTuple):
    """A condition that no name meets."""

    text: Value
    """What names are compared with."""
    texts: tuple[str, ...]
    """The same, as far as it is known."""
    first: int
    last: int
    """The lines of what it guards."""
    file: str
    """The file of these."""


class _Test(NamedTuple):
    """A comparison of a name: with which texts, and how."""

    way: str
    text: Value
    texts: tuple[str, ...]


def unmatched(log: Log, attribute: str, names: Mapping[str, Sequence[str]]) -> Iterator[Unmatched]:
    """The conditions in loops over names that guard an assignment to an attribute, and that none of the names meets.

    Args:
        log: The log that holds the source.
        attribute: What is set in there: `requires_grad`, or by a method of that name and an underscore.
        names: The names of parameters and modules in each class of modules that the program calls from outside.
    """
    for file, tree in trees(log) or ():
        for loop in (each for each in ast.walk(tree) if isinstance(each, ast.For)):
            target, over = loop.target, loop.iter
            if not isinstance(target, ast.Tuple) or not isinstance(target.elts[0], ast.Name) or not _is_named(over):
                continue
            guards = [each for each in ast.walk(loop) if isinstance(each, ast.If)]
            setting = [guard for guard in guards if any(_sets(each, attribute) for each in guard.body)]
            meant = _names_of(log, file, over, names) if setting else ()
            for guard in setting:
                tests = [*_tests(log, file, guard.test, target.elts[0].id, {})]
                if tests and all(not _fits(test, name) for test in tests for name in meant):
                    last = max(each.end_lineno or each.lineno for each in guard.body)
                    yield Unmatched(tests[0].text, tests[0].texts, guard.body[0].lineno, last, file)


def _is_named(over: ast.expr) -> bool:
    return isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr in _NAMING


def _names_of(log: Log, file: str, over: ast.expr, names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The names that a loop goes over: of the module that it names, else of all, and of all parts of them."""
    module = over.func.value if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) else over
    made = origin(log, Value(file, module))
    if made is not None and isinstance(made.expression, ast.Call):
        function = made.expression.func
        known = names.get(getattr(function, "id", "") or getattr(function, "attr", ""))
        if known is not None:
            return known
    whole = {name for each in names.values() for name in each}
    return sorted({name.split(".", depth)[-1] for name in whole for depth in range(name.count(".") + 1)})


def _sets(statement: ast.stmt, attribute: str) -> bool:
    """Whether a statement sets an attribute to True, or may."""
    if isinstance(statement, ast.Assign):
        is_off = isinstance(statement.value, ast.Constant) and not statement.value.value
        return not is_off and any(getattr(each, "attr", "") == attribute for each in statement.targets)
    for call in (each for each in ast.walk(statement) if isinstance(each, ast.Call)):
        is_off = any(isinstance(each, ast.Constant) and not each.value for each in call.args)
        if not is_off and getattr(call.func, "attr", "") == attribute + "_":
            return True
    return any(_sets(each, attribute) for each in ast.iter_child_nodes(statement) if isinstance(each, ast.stmt))


def _tests(
    log: Log, file: str, test: ast.expr, name: str, bound: Mapping[str, tuple[Value, tuple[str, ...]]]
) -> Iterator[_Test]:
    """What a condition compares a name with, one of which must fit; nothing where that can't be told."""
    if isinstance(test, ast.BoolOp):
        parts = [[*_tests(log, file, each, name, bound)] for each in test.values]
        if isinstance(test.op, ast.Or):
            yield from (each for part in parts for each in part if all(parts))
        else:
            yield from next((part for part in parts if part), [])
        return
    if isinstance(test, ast.Call) and getattr(test.func, "id", "") == "any" and test.args:
        inner = test.args[0]
        if isinstance(inner, (ast.GeneratorExp, ast.ListComp)) and len(inner.generators) == 1:
            given = inner.generators[0]
            texts = _texts(log, file, given.iter, bound)
            if isinstance(given.target, ast.Name) and not given.ifs and texts is not None:
                yield from _tests(log, file, inner.elt, name, {**bound, given.target.id: texts})
        return
    way, text = _comparison(test, name)
    found = _texts(log, file, text, bound) if text is not None else None
    if found is not None and found[1]:
        yield _Test(way, *found)


def _comparison(test: ast.expr, name: str) -> tuple[str, ast.expr | None]:
    """How a condition compares a name, and with what."""

    def is_name(node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == name

    if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and is_name(test.func.value) and test.args:
        return test.func.attr, test.args[0]
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        left, right, (op,) = test.left, test.comparators[0], test.ops
        if isinstance(op, ast.In):
            return ("has", left) if is_name(right) else ("in", right) if is_name(left) else ("", None)
        if isinstance(op, ast.Eq):
            return ("in", right) if is_name(left) else ("in", left) if is_name(right) else ("", None)
    return "", None


def _texts(
    log: Log, file: str, text: ast.expr, bound: Mapping[str, tuple[Value, tuple[str, ...]]]
) -> tuple[Value, tuple[str, ...]] | None:
    """The texts that an expression may stand for, and where they are written; None where that can't be told."""
    if isinstance(text, ast.Name) and text.id in bound:
        return bound[text.id]
    if isinstance(text, ast.BinOp) and isinstance(text.op, ast.Add):
        left, right = _texts(log, file, text.left, bound), _texts(log, file, text.right, bound)
        if left is None or right is None:
            return None
        return left[0], tuple(first + second for first, second in product(left[1], right[1]))[:_MOST]
    found = origin(log, Value(file, text))
    if found is None:
        return None
    expression = found.expression
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return found, (expression.value,)
    if isinstance(expression, ast.JoinedStr) and expression.values and isinstance(expression.values[0], ast.Constant):
        return found, (str(expression.values[0].value),)
    if isinstance(expression, (ast.List, ast.Tuple, ast.Set)) and 0 < len(expression.elts) <= _MOST:
        parts = [_texts(log, found.file, each, bound) for each in expression.elts]
        known = [each for each in parts if each is not None]
        return (found, tuple(text for each in known for text in each[1])) if len(known) == len(parts) else None
    return None


def _fits(test: _Test, name: str) -> bool:
    """Whether a name meets a comparison; where only the begin of a text is known, whether it may."""
    is_open = isinstance(test.text.expression, ast.JoinedStr)
    for text in test.texts:
        if test.way == "startswith":
            fits = name.startswith(text) or (is_open and text.startswith(name))
        elif test.way == "endswith":
            fits = is_open or name.endswith(text)
        elif test.way == "has":
            fits = text in name
        elif test.way == "in":
            fits = name == text or (is_open and name.startswith(text))
        else:
            return True
        if fits:
            return True
    return False
