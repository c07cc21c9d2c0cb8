"""The subset of Python that is scripted: what it leaves out is said with the line and a mark under it."""

from __future__ import annotations

import ast
import linecache
from typing import Any, Final

from graphscope.errors import StaticError
from graphscope.eventlog.names import Site


class ScriptError(StaticError):
    """A construct that is outside of the subset, or that does not fit; the message shows the line."""


SUBSET: Final = "the page on tracing, scripting and compiling lists what can be used"

REFUSED: Final[dict[type[ast.AST], tuple[str, str]]] = {
    ast.Try: ("try", "let the op raise, or test before it"),
    ast.With: ("with", "take the block out of the function"),
    ast.Lambda: ("a lambda", "define a function, and script it"),
    ast.FunctionDef: ("a function within the function", "define it outside, and script it"),
    ast.ClassDef: ("a class", "define it outside"),
    ast.Import: ("import", "import at the top of the module"),
    ast.ImportFrom: ("import", "import at the top of the module"),
    ast.Global: ("global", "pass it as an argument and return it"),
    ast.Nonlocal: ("nonlocal", "pass it as an argument and return it"),
    ast.Yield: ("yield", "return a tuple of tensors"),
    ast.YieldFrom: ("yield from", "return a tuple of tensors"),
    ast.Await: ("await", "take it out of the function"),
    ast.SetComp: ("a set comprehension", "write the loop out"),
    ast.GeneratorExp: ("a generator", "write the loop out"),
    ast.Set: ("a set", "use a tuple"),
    ast.Delete: ("del", "assign another name"),
    ast.JoinedStr: ("an f-string", "give print the words and the values one by one"),
    ast.NamedExpr: (":=", "assign on a line of its own"),
    ast.Match: ("match", "use if and elif"),
}
"""Constructs that people may well try: what they are called, and what to do in their place."""


def told(error: Exception) -> tuple[str, str]:
    """What an error of an op or of Python means here, and what to do."""
    message = str(error).splitlines()[0]
    if isinstance(error, TypeError) and "NoneType" in message:
        return "a size that this takes is not known before the graph runs", "make it of the tensor: x * 0, x + 1"
    return message, SUBSET


class Source:
    """A function's syntax tree, and where it stands in its file.

    Args:
        tree: Its definition.
        file: The file.
        first: The line in the file at which the text begins that the tree was made of.
        indent: Columns that were taken off that text.
        function: Its name.
    """

    def __init__(self, tree: ast.FunctionDef, file: str, first: int, indent: int, function: str) -> None:
        self.tree = tree
        self.file = file
        self._first = first
        self._indent = indent
        self._function = function

    def site(self, node: Any) -> Site:
        """Where a piece of syntax is."""
        line, end = node.lineno + self._first - 1, (node.end_lineno or node.lineno) + self._first - 1
        column, end_column = node.col_offset + self._indent, (node.end_col_offset or 0) + self._indent
        return Site(self.file, line, column, end, end_column, self._function)

    def error(self, node: Any, message: str, hint: str) -> ScriptError:
        """An error at a piece of syntax: the line, and a mark under it."""
        site = self.site(node)
        line = linecache.getline(self.file, site.line).rstrip("\n")
        width = max(site.end_column - site.column, 1) if site.end_line == site.line else max(len(line) - site.column, 1)
        text = f"{self.file}:{site.line}: {message}\n    {line}\n    {' ' * site.column}{'^' * width}"
        return ScriptError(text, hint=hint)

    def refused(self, node: ast.AST) -> ScriptError:
        """The error of a construct that is outside of the subset."""
        called, hint = REFUSED.get(type(node), (type(node).__name__, SUBSET))
        return self.error(node, f"{called} can't be scripted", hint)
