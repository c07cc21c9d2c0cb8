"""Expressions over words, the program's names and tensors of the log."""

from __future__ import annotations

import numpy as np
import pytest

from graphscope.debugger.expressions import parse
from graphscope.errors import CommandError


def lookup(name: str) -> object:
    return {"value": np.array([1.0, np.nan]), "isnan": np.isnan, "nodes": {12: "twelve"}, "max": "mine"}[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("value[0] + 1", 2.0),
        ("isnan(value).sum()", 1),
        ("#12", "twelve"),
        ("'#12'", "#12"),
        ("[v for v in value][0]", 1.0),
        ("(lambda k: k * value[0])(3)", 3.0),
        ("max(1, 2)", 2),
        ("max", "mine"),
        ("len(value)", 2),
    ],
)
def test_evaluate(text: str, expected: object) -> None:
    assert parse(text).evaluate(lookup) == expected


def test_only_what_is_named_is_looked_up() -> None:
    asked: list[str] = []

    def spy(name: str) -> object:
        asked.append(name)
        raise KeyError(name)

    parse("abs(-1) + len([word.value for word in []])").evaluate(spy)

    assert asked == ["word"]


def test_an_array_holds_when_any_element_does() -> None:
    assert parse("isnan(value)").holds(lookup)
    assert not parse("value > 2").holds(lookup)


@pytest.mark.parametrize("text", ["", "(", "a = 1", "a b", "\0"])
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(CommandError, match="is no Python expression"):
        parse(text)
