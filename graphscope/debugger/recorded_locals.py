"""What the variables of a function were at a recorded node, as far as the log can tell: of that call, and of no other.

A log holds no frames. That two rows are of one call is known where the lines between them leave no choice: a statement
ahead of the node, in the same block or one around it, has run in the same call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.debugger.source_blocks import (
    MODULE,
    Block,
    ahead_of,
    bindings,
    block_at,
    is_plain,
    last_line,
    names_read,
    operand_names,
    own_names,
    statement_lines,
)
from graphscope.errors import LogError
from graphscope.eventlog.schema import Kind, Pass

if TYPE_CHECKING:
    from graphscope.debugger.results import Place
    from graphscope.graph import Graph, Node

_REACH: Final = 1 << 18
"""So many rows ahead of the node are looked at."""

_OPS: Final = 16
"""So many of the ops of one expression are looked at."""


class RecordedLocals:
    """The variables of the function at a line.

    Args:
        graph: The graph where one stands.
        place: The line that ran.
        row: When it ran: the node that it made, or the mark.
    """

    def __init__(self, graph: Graph, place: Place, row: int) -> None:
        self._graph = graph
        self.place = place
        self._row = row

    @property
    def lines(self) -> tuple[int, int] | None:
        """The first and the last line of the function; None where it is not known."""
        block = self._block
        if block is None:
            return None
        return (
            (1, max(self._text.count("\n"), 1)) if isinstance(block, ast.Module) else (block.lineno, last_line(block))
        )

    def __getitem__(self, name: str) -> Node:
        return self._found[name]

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def __bool__(self) -> bool:
        return bool(self._found)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    @cached_property
    def _text(self) -> str:
        return self._graph.log.source(self.place.file) or ""

    @cached_property
    def _block(self) -> Block | None:
        return block_at(self._text, self.place.function, self.place.line)

    @cached_property
    def _found(self) -> dict[str, Node]:
        block = self._block
        if block is None:
            return {}
        made = self._made(self.place.function)
        start = self._graph.log.first if isinstance(block, ast.Module) else self._start(block, made)
        found = {} if start is None else self._named(block, made, start)
        if start is not None:
            found = self._given(block, made, start) | found
        if not isinstance(block, ast.Module) and "<locals>" not in self.place.function:
            module = block_at(self._text, MODULE, 1)
            assert module is not None
            for name, node in self._named(module, self._made(MODULE), self._graph.log.first).items():
                if name in names_read(block) and name not in own_names(block):
                    found.setdefault(name, node)
        return found

    def owns(self, name: str) -> bool:
        """Whether a name is a variable of the function, known or not."""
        block = self._block
        return block is not None and not isinstance(block, ast.Module) and name in own_names(block)

    def _made(self, function: str) -> dict[int, np.ndarray]:
        """The rows of the forward pass that a function made up to the node, ascending, by the number of their site."""
        log = self._graph.log
        first = max(log.first, self._row + 1 - _REACH)
        sites = log.column("site", first, self._row + 1)
        forward = log.column("graph_pass", first, self._row + 1) == Pass.FORWARD
        own = [number for number in np.unique(sites).tolist() if self._is_of(number, function)]
        found = {number: first + np.flatnonzero((sites == number) & forward) for number in own}
        return {number: rows for number, rows in found.items() if len(rows)}

    def _is_of(self, number: int, function: str) -> bool:
        site = self._graph.log.site(number) if number else None
        return site is not None and site.file == self.place.file and site.function == function

    def _start(self, block: Block, made: dict[int, np.ndarray]) -> int | None:
        """A row from which on all rows of the function are of this call; None where none is known to be."""
        newest = [self._row] if any(self._row in rows for rows in made.values()) else []
        for statement in ahead_of(block, self.place.line):
            lines = range(statement.lineno, last_line(statement) + 1)
            ran = [int(rows[-1]) for site, rows in made.items() if self._line(site) in lines]
            newest += [max(ran)] if ran and is_plain(statement) else []
        return max(min(newest), self._entered()) if newest else None

    def _entered(self) -> int:
        """When the module that the line belongs to was entered last."""
        graph = self._graph
        scope = graph.index.event(self._row).scope
        marks = graph.log.rare()
        for row in marks[marks < self._row][::-1].tolist() if scope else ():
            event = graph.index.event(row)
            if event.kind == Kind.SCOPE_ENTER and event.scope == scope:
                return int(row)
        return graph.log.first

    def _line(self, number: int) -> int:
        """The line of a site."""
        site = self._graph.log.site(number)
        return 0 if site is None else site.line

    def _named(self, block: Block, made: dict[int, np.ndarray], start: int) -> dict[str, Node]:
        """The newest node of each variable since a row; one that may have been bound to something else has none."""
        lines = statement_lines(block)
        found: dict[str, tuple[int, Node]] = {}
        bound_here: dict[str, set[int]] = {}
        for number, rows in made.items():
            name = self._graph.names.variable(number)
            node = self._newest_of(name, rows[rows >= start]) if name.isidentifier() else None
            if node is None:
                continue
            line = lines.get(self._line(number), 0)
            bound_here.setdefault(name, set()).add(line)
            if name not in found or found[name][1].row < node.row:
                found[name] = line, node
        here = lines.get(self.place.line, self.place.line)
        return {
            name: self._at_that_time(node)
            for name, (line, node) in found.items()
            if all(
                bound in bound_here[name] or (bound < line and (line < here or node.row == self._row))
                for bound in bindings(block).get(name, ())
            )
        }

    def _given(self, block: Block, made: dict[int, np.ndarray], start: int) -> dict[str, Node]:
        """The variables that are read and never bound, as parameters are: what stood for them in an expression."""
        found: dict[str, Node] = {}
        bound = bindings(block)
        for number, rows in made.items():
            site, late = self._graph.log.site(number), rows[rows >= start]
            node = self._node(int(late[-1])) if len(late) else None
            if node is None or site is None or node.kind != "op":
                continue
            operands = node.operands
            for name, operand in zip(operand_names(self._text, site, node.op, len(operands)), operands, strict=False):
                if operand.edge is not None and not operand.edge.slot and name and name not in bound:
                    found[name] = operand.edge.source
        return found

    def _node(self, row: int) -> Node | None:
        try:
            return self._graph.node(row)
        except LogError:  # a mark
            return None

    def _newest_of(self, name: str, rows: np.ndarray) -> Node | None:
        """The newest node of a name among those that one expression made: its last op bears the name."""
        for row in rows[-_OPS:][::-1].tolist():
            node = self._node(row)
            if node is not None and node.name == name:
                return node
        return None

    def _at_that_time(self, node: Node) -> Node:
        """The newest version of a node's tensor when the line ran."""
        versions = self._graph.index.versions(node.tensor, self._row + 1)
        return self._graph.node(versions[-1]) if versions else node
