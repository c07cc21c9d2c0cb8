"""Networks that a program means as copies of others and that are those themselves: where the source gives two names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.source.trees import tree_of

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

_ITERATING: Final = frozenset({"parameters", "named_parameters"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Alias(NamedTuple):
    """A second name of a network."""

    file: str
    line: int
    name: str
    of: str
    """What it is another name of."""
    is_named_so: bool
    """Whether the program says that it means a copy: by a call that copies, or by the name."""


_COPIES: Final = re.compile(
    "teacher|target|ref|old|ema|frozen|key|moment|copy|prev|slow|clone|orig|snapshot|anchor", re.IGNORECASE
)


def alias_frozen_at(log: Log, site: Site) -> Alias | None:
    """The second name under which a line freezes a network that the program runs under its first name, too.

    None where the line freezes something that has one name alone, or is copied, or a part of what is so named.
    """
    files = {str(each["file"]): str(each.get("text", "")) for each in log.table("sources") if isinstance(each, dict)}
    program = _Program(files)
    for frozen in program.frozen_at(site.file, site.line):
        found = program.alias(frozen)
        if found is not None:
            return found
    return None


def alias_written_at(log: Log, site: Site) -> Alias | None:
    """The second name of a network that a line writes into itself, by two names: `a.load_state_dict(b.state_dict())`.

    None where the line has but one name for it. Where nothing says how the second name came about, it is that line.
    """
    files = {str(each["file"]): str(each.get("text", "")) for each in log.table("sources") if isinstance(each, dict)}
    program = _Program(files)
    for one, other in program.pairs_at(site.file, site.line):
        found = program.alias(one) or program.alias(other)
        names = ast.unparse(one.expression), ast.unparse(other.expression)
        return found or Alias(site.file, site.line, *names, True)
    return None


class _Use(NamedTuple):
    """An expression, and the function that it stands in."""

    file: str
    function: _Function | None
    expression: ast.expr


class _Assignment(NamedTuple):
    file: str
    function: _Function | None
    target: ast.expr
    value: ast.expr


class _Program:
    """The recorded source of a program."""

    def __init__(self, files: dict[str, str]) -> None:
        self._nodes: list[tuple[str, _Function | None, ast.AST]] = []
        for file, text in files.items():
            try:
                self._collect(file, None, tree_of(text))
            except RecursionError:  # a tree so deep that it can't be walked
                continue
        self._assignments = [
            _Assignment(file, function, target, node.value)
            for file, function, node in self._nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
        ]
        calls = (node for _, _, node in self._nodes if isinstance(node, ast.Call))
        self._called = {_last(node.func) for node in calls}

    def _collect(self, file: str, function: _Function | None, node: ast.AST) -> None:
        for each in ast.iter_child_nodes(node):
            self._nodes.append((file, function, each))
            self._collect(file, each if isinstance(each, _Function) else function, each)

    def frozen_at(self, file: str, line: int) -> Iterator[_Use]:
        """The networks whose parameters a line freezes, as callers of its function know them."""
        here = [(function, node) for each, function, node in self._nodes if each == file and _spans(node, line)]
        for function, node in here:
            changed: ast.expr | None = None
            if isinstance(node, ast.Call) and _last(node.func) == "requires_grad_" and node.lineno == line:
                changed = node.func.value if isinstance(node.func, ast.Attribute) else None
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute) and node.lineno == line:
                changed = node.targets[0].value
            if changed is None:
                continue
            loops = [loop for _, loop in here if isinstance(loop, ast.For) and _names(loop.target, changed)]
            network = _iterated(loops[-1].iter) if loops else changed
            if network is not None:
                yield from self._given(_Use(file, function, network))

    def pairs_at(self, file: str, line: int) -> Iterator[tuple[_Use, _Use]]:
        """The two networks that a line takes the weights of, as callers of its function know them."""
        here = [(function, node) for each, function, node in self._nodes if each == file and _spans(node, line)]
        for function, node in here:
            pair: list[ast.expr | None] = []
            if isinstance(node, ast.Call) and _last(node.func) == "load_state_dict" and node.args:
                given = node.args[0].func if isinstance(node.args[0], ast.Call) else None
                is_told = isinstance(given, ast.Attribute) and given.attr == "state_dict"
                pair = [getattr(node.func, "value", None), getattr(given, "value", None)] if is_told else []
            elif isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _last(node.iter.func) == "zip":
                pair = [_iterated(each) for each in node.iter.args]
            if (
                len(pair) == 2
                and pair[0] is not None
                and pair[1] is not None
                and ast.dump(pair[0]) != ast.dump(pair[1])
            ):
                first, second = (self._given(_Use(file, function, each)) for each in pair if each is not None)
                yield from zip(first, second, strict=False)

    def _given(self, use: _Use) -> Iterator[_Use]:
        """An expression; of a parameter that nothing is assigned to, what calls of its function hand over."""
        place = _parameter(use)
        if place is None or any(each.function is use.function for each in self._assigned(use)):
            yield use
            return
        for file, function, node in self._nodes:
            if isinstance(node, ast.Call) and use.function is not None and _last(node.func) == use.function.name:
                method = bool(use.function.args.args) and use.function.args.args[0].arg in ("self", "cls")
                at = place - 1 if method else place
                if 0 <= at < len(node.args):
                    yield _Use(file, function, node.args[at])

    def alias(self, use: _Use) -> Alias | None:
        """The one assignment by which a network got a name, where it had another before, and both are called."""
        made = self._assigned(use)
        if len(made) != 1:
            return None
        (one,) = made
        copied = _shallow(one.value)
        if copied is not None:
            return Alias(one.file, one.target.lineno, ast.unparse(use.expression), ast.unparse(copied), True)
        if not isinstance(one.value, ast.Name | ast.Attribute) or _last(use.expression) not in self._called:
            return None
        source = _Use(one.file, one.function, one.value)
        if not self._is_whole(one):
            return None
        first = {_last(one.value), *(_last(each.expression) for each in self._given(source))}
        others = (each for each in self._assignments if ast.dump(each.value) == ast.dump(one.value) and each != one)
        first |= {_last(each.target) for each in others if (each.file, each.function) == (one.file, one.function)}
        first -= {_last(use.expression), ""}
        if not first & self._called:
            return None
        name = ast.unparse(use.expression)
        return Alias(one.file, one.target.lineno, name, ast.unparse(one.value), _COPIES.search(name) is not None)

    def _is_whole(self, one: _Assignment) -> bool:
        """Whether a name is given to a network as a whole: not to a part of another, which may well be frozen."""
        value = one.value
        if isinstance(value, ast.Attribute):
            owner = one.target.value if isinstance(one.target, ast.Attribute) else None
            return owner is not None and ast.dump(owner) == ast.dump(value.value)
        return isinstance(value, ast.Name)

    def _assigned(self, use: _Use) -> list[_Assignment]:
        """What is assigned to a name in its function, else in the file outside of all; to an attribute anywhere."""
        wanted = use.expression
        if isinstance(wanted, ast.Attribute):
            made = (each for each in self._assignments if isinstance(each.target, ast.Attribute))
            return [each for each in made if _last(each.target) == wanted.attr]
        made = (each for each in self._assignments if each.file == use.file and isinstance(each.target, ast.Name))
        named = [each for each in made if _last(each.target) == _last(wanted)]
        inside = [each for each in named if each.function is use.function]
        return inside or [each for each in named if each.function is None]


def _parameter(use: _Use) -> int | None:
    """Which parameter of its function a name is."""
    if use.function is None or not isinstance(use.expression, ast.Name):
        return None
    names = [each.arg for each in use.function.args.args]
    return names.index(use.expression.id) if use.expression.id in names else None


def _shallow(value: ast.expr) -> ast.expr | None:
    """What is copied without its parts."""
    is_copy = isinstance(value, ast.Call) and ast.unparse(value.func) in ("copy.copy", "copy") and len(value.args) == 1
    return value.args[0] if is_copy and isinstance(value, ast.Call) else None


def _iterated(iterable: ast.expr) -> ast.expr | None:
    """The network whose parameters a loop runs over."""
    for each in ast.walk(iterable):
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _ITERATING:
            return each.func.value
    return None


def _names(target: ast.expr, used: ast.expr) -> bool:
    """Whether a loop's target has a name."""
    names: Iterable[ast.AST] = ast.walk(target)
    return isinstance(used, ast.Name) and any(isinstance(each, ast.Name) and each.id == used.id for each in names)


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    return first is not None and last is not None and first <= line <= last


def _last(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")
