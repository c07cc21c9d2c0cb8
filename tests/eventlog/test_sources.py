"""What operands are called: an expression that is parsed alone says the same as the whole text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from graphscope.eventlog import sources

ROOT = Path(__file__).parents[2]
TEXT = """\
import numpy, tools as kit, \\
    shapes as forms


def loss(x, y):
    \"\"\"import y\"\"\"
    ä = kit.norm(x); z = forms.area(x)
    total = (x
             + y)
    total += x
    total = torch.add(x, y).mul(
        y
    )
    assert total.sum() > -y, f"{x.mean()}"
    with kit.closed(x) as v["inner"]: return (yield x[0])
"""


@pytest.mark.parametrize("text", [TEXT, *map(Path.read_text, sorted((ROOT / "samples").glob("*.py"))[:8])])
def test_an_expression_alone_says_what_the_whole_text_does(text: str) -> None:
    whole = sources._names(text)[1]
    places = {sources._place(each) for each in ast.walk(ast.parse(text)) if isinstance(each, ast.expr | ast.stmt)}
    alone = {place: sources._operands_alone(text, place) for place in places}
    assert {place: names for place, names in alone.items() if names} == {
        place: whole[place] for place in whole if alone[place]
    }
    assert sum(names is not None for names in alone.values()) > len(places) / 2


def test_the_first_argument_of_a_method_is_what_it_is_called_on() -> None:
    lines = TEXT.splitlines()
    for written, name in (("torch.add(x, y).mul(", None), ("kit.norm(x)", "x"), ("forms.area(x)", "x")):
        (line,) = (number for number, each in enumerate(lines, 1) if written in each)
        column = lines[line - 1].encode().index(written.encode())
        end = (line + 2, 5) if written.endswith("(") else (line, column + len(written))
        assert sources.argument_at(TEXT, (line, column, *end), 0) == name
