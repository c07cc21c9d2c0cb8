"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "graphscope").rglob("*.py"))
LONGEST = 400


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_has_one_subject(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    doc = ast.get_docstring(ast.parse(text))
    assert doc, "a module says in a line what it is"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_public_things_have_a_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = [
        node.name
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and not any("overload" in ast.unparse(decorator) for decorator in node.decorator_list)
        and not ast.get_docstring(node)
    ]
    assert bare == []


def test_every_change_fragment_has_a_kind() -> None:
    fragments = [path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    assert all(path.suffixes[-2] in (".added", ".changed", ".fixed", ".removed") for path in fragments)
