"""Where the recorded source of a program takes what differs from one run to the next: an order, a time, random numbers.

Names are followed from a line back to all that is assigned to them, through functions, attributes and arguments, in
whatever order that runs.
"""

from __future__ import annotations

import ast
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from graphscope.diagnose.source.chance_calls import Chance, chances_in, imports_of, is_ordering
from graphscope.diagnose.source.trees import parsed

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log

Key = tuple[str, str, str]
"""A variable: file, function and name; an attribute or a function of any object has neither file nor function."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Compound = ast.If | ast.While | ast.For | ast.AsyncFor | ast.With | ast.AsyncWith | ast.Try | ast.Match


class Piece(NamedTuple):
    """A statement, or the head of one that holds others."""

    file: str
    function: str
    node: ast.AST
    parts: tuple[ast.expr, ...]
    """The expressions in it."""
    heads: tuple[Piece, ...]
    """The heads that it stands beneath."""


class Use(NamedTuple):
    """A variable that an expression takes."""

    key: Key
    is_ordered: bool
    """Whether in an order that does not depend on that of what it holds."""


class Program:
    """The recorded source of a program.

    Args:
        files: The text of each file.
    """

    def __init__(self, files: dict[str, str]) -> None:
        self._imports: dict[str, dict[str, str]] = {}
        self._locals: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._parameters: dict[str, list[Key]] = defaultdict(list)
        self.pieces: list[Piece] = []
        trees = {file: tree for file, text in files.items() if (tree := parsed(text)) is not None}
        for file, tree in trees.items():
            self._imports[file] = imports_of(tree)
            self._collect(file, "", "", tree.body, ())
        self._seeded = frozenset(
            found
            for each in self.pieces
            for part in each.parts
            for found in _seeds(part, self._imports[each.file])
        )  # fmt: skip
        self._made: dict[Key, list[Piece]] = defaultdict(list)
        for piece in self.pieces:
            for key in self._makes(piece):
                self._made[key].append(piece)

    def behind(self, starts: Iterable[Piece]) -> Chance | None:
        """The chance that leads to some statements; None where there is none, or more than one kind of it."""
        waiting = deque((each, False) for start in starts for each in (start, *start.heads))
        seen, found = set[tuple[int, bool]](), list[Chance]()
        while waiting:
            piece, is_ordered = waiting.popleft()
            if (id(piece.node), is_ordered) in seen:
                continue
            seen.add((id(piece.node), is_ordered))
            for part in piece.parts:
                found += chances_in(part, piece.file, self._imports[piece.file], self._seeded, is_ordered)
                for use in self._uses(piece, part, is_ordered):
                    waiting += [(each, use.is_ordered) for each in self._made.get(use.key, ())]
        return found[0] if len({each.cause for each in found}) == 1 else None

    def at(self, site: Site) -> list[Piece]:
        """The statements at a line."""
        here = [each for each in self.pieces if each.file == site.file and _spans(each, site.line)]
        return here[-1:]

    def seeding(self) -> list[Piece]:
        """The statements that seed torch."""
        return [each for each in self.pieces if any("manual_seed" in _called(part) for part in each.parts)]

    # Reading ---------------------------------------------------------------------------------------------------------

    def _collect(self, file: str, owner: str, function: str, body: Iterable[ast.AST], heads: tuple[Piece, ...]) -> None:
        for node in body:
            if isinstance(node, _Function):
                names = [each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)]
                inside = f"{function}.{node.name}@{node.lineno}"
                self._locals[file, inside].update(names)
                called = owner if node.name == "__init__" else node.name
                self._parameters[called] += [(file, inside, name) for name in names]
                self._add_defaults(file, inside, node.args)
                self._collect(file, owner, inside, node.body, ())
            elif isinstance(node, ast.ClassDef):
                self._collect(file, node.name, function, node.body, ())
            elif isinstance(node, _Compound):
                head = self._add(file, function, node, tuple(_head(node)), heads)
                for inner in _bodies(node):
                    self._collect(file, owner, function, inner, (*heads, head))
            elif isinstance(node, ast.stmt):
                parts = tuple(each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
                self._add(file, function, node, parts, heads)

    def _add_defaults(self, file: str, function: str, arguments: ast.arguments) -> None:
        """What a function takes where it is given nothing, as if its first statements said so."""
        plain = [*arguments.posonlyargs, *arguments.args]
        given = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
        given += [
            (each, default)
            for each, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default
        ]
        for each, default in given:
            target = ast.copy_location(ast.Name(each.arg, ast.Store()), default)
            statement = ast.copy_location(ast.Assign([target], default), default)
            self._add(file, function, statement, (target, default), ())

    def _add(
        self, file: str, function: str, node: ast.AST, parts: tuple[ast.expr, ...], heads: tuple[Piece, ...]
    ) -> Piece:
        made = Piece(file, function, node, parts, heads)
        self.pieces.append(made)
        if function and not isinstance(node, (ast.Global, ast.Nonlocal)):
            names = (each for part in parts for each in ast.walk(part) if isinstance(each, ast.Name))
            self._locals[file, function].update(each.id for each in names if isinstance(each.ctx, ast.Store))
        return made

    # Relations -------------------------------------------------------------------------------------------------------

    def _key(self, piece: Piece, name: str) -> Key:
        function = piece.function
        while function and name not in self._locals[piece.file, function]:
            function = function.rpartition(".")[0]
        return piece.file, function, name

    def _uses(self, piece: Piece, part: ast.expr, is_ordered: bool) -> Iterator[Use]:
        waiting = [(part, is_ordered)]
        while waiting:
            node, ordered = waiting.pop()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                yield Use(self._key(piece, node.id), ordered)
                yield Use(("", "", node.id), ordered)
            elif isinstance(node, ast.Attribute):
                yield Use(("", "", f".{node.attr}"), ordered)
                yield Use(("", "", node.attr), ordered)
            ordered = ordered or is_ordering(node)
            waiting += [(each, ordered) for each in ast.iter_child_nodes(node)]  # type: ignore[misc]

    def _makes(self, piece: Piece) -> set[Key]:
        """What depends on a statement: the names that it stores or changes, and the function that it is part of."""
        found: set[Key] = set()
        targets: list[ast.AST] = [each for each in piece.parts if isinstance(getattr(each, "ctx", None), ast.Store)]
        if isinstance(piece.node, ast.Expr) and isinstance(piece.node.value, ast.Call):
            targets = [piece.node.value.func, *piece.node.value.args]  # it may change what it is called on or given
        for node in (each for target in targets for each in ast.walk(target)):
            if isinstance(node, ast.Name):
                found.add(self._key(piece, node.id))
            elif isinstance(node, ast.Attribute):
                found.add(("", "", f".{node.attr}"))
        function = piece.function.rpartition(".")[2].partition("@")[0]
        if function:
            found.add(("", "", function))
        for call in (each for part in piece.parts for each in ast.walk(part) if isinstance(each, ast.Call)):
            found.update(self._parameters.get(_name(call.func), ()))
        return found


def chance_behind(log: Log, site: Site | None, *, drawn: bool = False) -> Chance | None:
    """By what chance the numbers at a line differ from run to run, as far as the recorded source says.

    Args:
        log: The log that holds the source.
        site: The line.
        drawn: Whether torch draws the numbers: then it is the seed that differs.
    """
    if site is None:
        return None
    entries = [each for each in log.table("sources") if isinstance(each, dict)]
    program = Program({str(each["file"]): str(each.get("text", "")) for each in entries})
    return program.behind(program.seeding() if drawn else program.at(site))


def _seeds(part: ast.expr, imports: dict[str, str]) -> Iterator[str]:
    """The modules of random numbers that an expression seeds with what is the same in every run."""
    for node in ast.walk(part):
        if (
            isinstance(node, ast.Call)
            and _name(node.func) == "seed"
            and node.args
            and isinstance(node.func, ast.Attribute)
        ):
            given = [found for each in node.args for found in chances_in(each, "", imports, frozenset(), False)]
            if not given:
                yield ast.unparse(node.func.value).replace("np.", "numpy.")


def _called(part: ast.expr) -> set[str]:
    return {_name(each.func) for each in ast.walk(part) if isinstance(each, ast.Call)}


def _name(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _spans(piece: Piece, line: int) -> bool:
    first = getattr(piece.node, "lineno", 0)
    last = max((part.end_lineno or 0 for part in piece.parts), default=first)
    return first <= line <= last


def _head(node: ast.AST) -> Iterator[ast.expr]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.expr):
            yield each
        elif isinstance(each, ast.withitem):
            yield from (part for part in (each.context_expr, each.optional_vars) if part is not None)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for each in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        yield each.body
