"""The rules of the house that no linter knows."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "graphscope").rglob("*.py"))
LONGEST = 400


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_are_short() -> None:
    assert [name(path) for path in MODULES if len(path.read_text(encoding="utf-8").splitlines()) > LONGEST] == []


def test_every_change_fragment_has_a_kind() -> None:
    fragments = [path for path in (ROOT / "changelog.d").glob("*.md") if path.name != "README.md"]
    assert all(path.suffixes[-2] in (".added", ".changed", ".fixed", ".removed") for path in fragments)
