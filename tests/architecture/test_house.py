"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "graphscope").rglob("*.py"))
LONGEST = 400


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """What each module consists of."""
    return {name(path): ast.parse(path.read_text(encoding="utf-8")) for path in MODULES}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_are_short() -> None:
    assert [name(path) for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST] == []


def test_each_module_says_in_a_line_what_it_is(trees: dict[str, ast.Module]) -> None:
    assert [module for module, tree in trees.items() if not ast.get_docstring(tree)] == []


def test_public_things_have_a_docstring(trees: dict[str, ast.Module]) -> None:
    bare = [
        f"{module}:{node.lineno} {node.name}"
        for module, tree in trees.items()
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
