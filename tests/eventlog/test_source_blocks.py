"""Blocks by indentation are those that Python itself parses, and loops in them are found as in the whole text."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import CodeType

import pytest

from graphscope.engine.core import op
from graphscope.eventlog import loops
from graphscope.eventlog.source_blocks import function_block, statement_block

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "samples").glob("*.py"))[:12], *sorted((ROOT / "graphscope" / "eventlog").glob("w*.py"))]


def codes(code: CodeType) -> list[CodeType]:
    """A code and all that stand in it."""
    return [code, *(inner for each in code.co_consts if isinstance(each, CodeType) for inner in codes(each))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_blocks_are_those_that_python_parses(file: Path) -> None:
    lines = file.read_text().split("\n")
    tree = ast.parse("\n".join(lines))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            first = min(node.lineno, *(each.lineno for each in node.decorator_list), node.lineno)
            block = function_block(lines, first)
            assert block is not None
            own = node.end_lineno - first + 1
            assert block[:own] == lines[first - 1 : node.end_lineno]
            assert all(line.strip()[:1] in ("", "#") for line in block[own:])
    for statement in tree.body:
        text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef) and '"""' not in text:
            first, found = statement_block(lines, statement.end_lineno or 0)
            own = (statement.end_lineno or 0) - statement.lineno + 1
            assert (first, found[:own]) == (statement.lineno, lines[first - 1 : statement.end_lineno])


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_loops_of_a_block_are_those_of_the_text(file: Path) -> None:
    text = file.read_text()
    for code in codes(compile(text, str(file), "exec")):
        first = 0 if code.co_name == "<module>" else code.co_firstlineno
        for line in {line for *_, line in code.co_lines() if line}:
            assert loops.counters_at(text, line, first) == _of_whole(text, line)


def _of_whole(text: str, line: int) -> tuple[tuple[loops.Counter, ...], ...]:
    return loops.counters_at(text, line, len(text))  # no function begins behind the end


def test_rules_of_ops_are_told_as_inspect_tells_them() -> None:
    rules = [inspect.unwrap(vjp.joint or vjp.rule) for each in op.OPS.values() for vjp in each.vjps if vjp]
    functions = [
        each for each in rules if getattr(each, "__name__", "<lambda>") != "<lambda>" and inspect.isfunction(each)
    ]
    assert len(functions) > 50
    for each in functions:
        assert op._text(each) == inspect.getsource(each).strip()


def test_no_function_begins_where_none_does() -> None:
    assert function_block(["x = 1", "def f():", "    pass"], 1) is None
    assert function_block([], 1) is None
