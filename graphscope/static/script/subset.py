"""The subset of Python that is scripted: what it leaves out is said with the line and a mark under it."""

from __future__ import annotations

import ast
import linecache
from typing import Any, Final

from graphscope.errors import StaticError
from graphscope.eventlog.names import Site


class ScriptError(StaticError):
    """A construct that is outside of the subset, or that does not fit; the message shows the line."""


INSTEAD: Final[dict[type[ast.AST], str]] = {
    ast.Try: "let the op raise, or test before it",
    ast.With: "take the block out of the function",
    ast.Lambda: "define a function, and script it",
    ast.FunctionDef: "define it outside, and script it",
    ast.ClassDef: "define it outside",
    ast.Import: "import at the top of the module",
    ast.ImportFrom: "import at the top of the module",
    ast.Global: "pass it as an argument and return it",
    ast.Nonlocal: "pass it as an argument and return it",
    ast.Yield: "return a tuple of tensors",
    ast.YieldFrom: "return a tuple of tensors",
    ast.Await: "take it out of the function",
    ast.ListComp: "write the loop out",
    ast.DictComp: "write the loop out",
    ast.SetComp: "write the loop out",
    ast.GeneratorExp: "write the loop out",
    ast.Dict: "use a tuple",
    ast.Set: "use a tuple",
    ast.Delete: "assign another name",
    ast.JoinedStr: "give print the words and the values one by one",
    ast.NamedExpr: "assign on a line of its own",
    ast.Match: "use if and elif",
}
"""What to do in the place of constructs that people may well try."""


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
        hint = INSTEAD.get(type(node), "see the page on scripting for what can be used")
        return self.error(node, f"{type(node).__name__} can't be scripted", hint)
