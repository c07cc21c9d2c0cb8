"""Syntax trees that several threads ask for at a time."""

from __future__ import annotations

import ast
import gc
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from graphscope.eventlog.syntax_trees import expression_tree, module_tree

TEXT = "\n".join(f"def f{number}(x):\n    return [(x + {number}) * 2 for _ in range({number})]" for number in range(30))
EXPRESSION = " + ".join(f"(x[{number}] * 2)" for number in range(60))


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads give way to each other in the middle of trees, as what the collector calls there lets them."""

    def give_way(phase: str, facts: dict[str, int]) -> None:
        time.sleep(0)

    before, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    gc.callbacks.append(give_way)
    yield
    gc.callbacks.remove(give_way)
    gc.set_threshold(*threshold)
    sys.setswitchinterval(before)


def _beside(works: list[Callable[[], None]]) -> list[BaseException]:
    found: list[BaseException] = []

    def run(work: Callable[[], None]) -> None:
        try:
            for _ in range(40):
                work()
        except BaseException as error:
            found.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return found


def test_threads_get_whole_trees(impatient: None) -> None:
    module, expression = ast.dump(ast.parse(TEXT)), ast.dump(ast.parse(EXPRESSION, mode="eval"))

    def of_module() -> None:
        assert ast.dump(module_tree(TEXT)) == module

    def of_expression() -> None:
        assert ast.dump(expression_tree(EXPRESSION)) == expression

    assert _beside([of_module, of_module, of_expression, of_expression]) == []


def test_a_program_that_makes_trees_itself_disturbs_none(impatient: None) -> None:
    def of_program() -> None:
        with suppress(SystemError):  # its own fault, or ours: CPython can't tell
            ast.parse(TEXT)

    def ours() -> None:
        assert len(module_tree(TEXT).body) == 30

    assert _beside([of_program, ours, ours]) == []


@pytest.mark.parametrize("text", ["def (", "x = \0", "x" * 10 + "("])
@pytest.mark.parametrize("make", [module_tree, expression_tree])
def test_text_that_is_no_python_is_told(make: Callable[[str], Any], text: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        make(text)
