"""Python expressions of a person at the prompt: compiled once, evaluated over names that are looked up when needed."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType
from typing import Any, Final

import numpy as np

from graphscope.errors import CommandError
from graphscope.eventlog import record as recording

_QUOTED_OR_NUMBER = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|#(\d+)\b""")


def _predicate(name: str) -> Callable[[Any], Any]:
    """A test of numbers by NumPy, or by a tensor's own method of the same name."""
    plainly = getattr(np, name)

    def test(value: Any) -> Any:
        own = getattr(value, name, None)
        return plainly(value) if own is None else own()

    return test


PREDICATES: Final[dict[str, object]] = {
    "np": np,
    **{name: _predicate(name) for name in ("isnan", "isinf", "isfinite")},
}
"""Names at hand in every expression, beside those of the node."""

RAISED: Final = (Exception, SystemExit)
"""What a person's code may raise without ending the program that it looks at; Ctrl-C is not among it."""

Lookup = Callable[[str], object]
"""What a name stands for; raises KeyError for a name that it does not know."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression and the names it mentions."""

    text: str
    code: CodeType
    names: frozenset[str]
    """Without those of Python's own functions that it only calls."""

    def evaluate(self, lookup: Lookup) -> Any:
        """Its value, with names looked up as they are needed; whatever it raises is let through."""
        scope: dict[str, object] = {}
        for name in self.names:
            try:
                scope[name] = lookup(name)
            except KeyError:
                continue
        with np.errstate(all="ignore"), recording.recording_to(None):  # not of the program
            return eval(self.code, scope)  # noqa: S307 - a person typed it

    def holds(self, lookup: Lookup) -> bool:
        """Whether it is true; an array or a tensor is when any of its elements is."""
        result = self.evaluate(lookup)
        return bool(result.any() if hasattr(result, "any") else result)


def parse(text: str) -> Expression:
    """Compile an expression; `#12` in it means node 12.

    Raises:
        CommandError: It is no Python expression.
    """
    source = _QUOTED_OR_NUMBER.sub(lambda found: found[1] or f"nodes[{found[2]}]", text).strip()
    try:
        tree = ast.parse(source, "<expression>", "eval")
        code = compile(tree, "<expression>", "eval")
    except (SyntaxError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        raise CommandError(f"{text.strip()!r} is no Python expression: {reason}") from None
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in found if id(node) not in called or not hasattr(builtins, node.id)}
    return Expression(text.strip(), code, frozenset(names))


def describe(error: BaseException) -> str:
    """An exception as one line: `ValueError: what it says`."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the program's own __str__ may raise anything
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
