"""Files that nodes lead to and fro between are coloured once."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.syntax import Syntax

import graphscope as gs
from tests.tui.screens import Screen, drive

FILES = {"one": "def made(x):\n    return x * 2.0\n", "two": "def made(x):\n    return x + 1.0\n"}


@pytest.fixture
def led_to_and_fro(tmp_path: Path) -> Path:
    """A log of nodes that two files make by turns."""
    modules = []
    for name, text in FILES.items():
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        modules.append(importlib.util.module_from_spec(spec))
        spec.loader.exec_module(modules[-1])
    with gs.record(tmp_path / "run.gscope"):
        x = gs.tensor(1.0)
        for _ in range(4):
            for module in modules:
                x = module.made(x)
    return tmp_path / "run.gscope"


def test_a_file_is_coloured_once(led_to_and_fro: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    coloured: Counter[str] = Counter()
    highlight = Syntax.highlight

    def counted(syntax: Syntax, code: str, *given: Any) -> Any:
        coloured[code.strip()] += 1
        return highlight(syntax, code, *given)

    monkeypatch.setattr(Syntax, "highlight", counted)
    texts = {text.strip() for text in FILES.values()}

    async def body(screen: Screen) -> None:
        for key in ("n", "n"):
            await screen.press(key)
            await screen.until(lambda: texts & {*coloured}, "the colours")
        await screen.until(lambda: texts <= {*coloured}, "the colours of both files")
        before = screen.now
        for key in ("n", "n", "n", "p", "p", "n"):
            row = screen.now
            await screen.press(key)
            await screen.until(lambda row=row: screen.now != row, "another node")
            shown = screen.main.query_one("#source")
            assert Path(shown._file).stem in screen.part("#source").split("\n")[0]
            assert any(segment.style and segment.style.color for segment in shown._parts(1)), "its lines have colours"
        assert screen.now > before

    drive(led_to_and_fro, body, size=(160, 40))
    assert [coloured[text] for text in sorted(texts)] == [1, 1]
