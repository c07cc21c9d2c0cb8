"""Typed lines: parts, aliases, and which command a first word names."""

from __future__ import annotations

import pytest

import graphscope.debugger.commands  # noqa: F401 - fills the table
from graphscope.debugger.command_line import expand, resolve, split
from graphscope.errors import CommandError


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("n", ["n"]),
        ("n ;; p x", ["n", "p x"]),
        ("p ';;' ;; n", ["p ';;'", "n"]),
        ('p "a\\";;b"', ['p "a\\";;b"']),
        ("p it's ;; n", ["p it's", "n"]),
        ("", [""]),
    ],
)
def test_split(line: str, parts: list[str]) -> None:
    assert split(line) == parts


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("pg", ["p grad"]),
        ("pg.max()", ["pg.max()"]),
        ("pg = 3", ["pg = 3"]),
        ("add 1 2", ["p 1 + 2"]),
        ("all a b", ["p [a b]"]),
        ("two", ["n", "p grad"]),
        ("alias x n ;; n", ["alias x n ;; n"]),
    ],
)
def test_expand(line: str, parts: list[str]) -> None:
    aliases = {"pg": "p grad", "add": "p %1 + %2", "all": "p [%*]", "two": "n ;; pg"}

    assert expand(line, aliases) == parts


def test_an_alias_without_its_arguments() -> None:
    with pytest.raises(CommandError, match="needs 2 arguments and got 1"):
        expand("add 1", {"add": "p %1 + %2"})


@pytest.mark.parametrize(
    ("line", "name", "text"),
    [
        ("n 3", "next", "3"),
        ("  c", "continue", ""),
        ("b op:mul, value.max() > 3", "break", "op:mul, value.max() > 3"),
        ("set value = 3", "set", "value = 3"),
        ("p (1)", "p", "(1)"),
        ("?break", "help", "break"),
        ("#12", "info", "#12"),
        ("l .", "list", "."),
        ("n = 3", None, "n = 3"),
        ("c.grad", None, "c.grad"),
        ("!n", None, "n"),
        ("x + 1", None, "x + 1"),
        ("p == 3", "p", "== 3"),
    ],
)
def test_resolve(line: str, name: str | None, text: str) -> None:
    found, rest = resolve(line)

    assert (found.name if found else None, rest) == (name, text)
