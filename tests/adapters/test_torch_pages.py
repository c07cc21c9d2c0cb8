"""The page on PyTorch does what it says, and every program of the gallery goes wrong as it is told there."""

from __future__ import annotations

import types
from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch

from tests.docs.pages import ROOT, Block, assert_like, blocks, run_console
from tests.docs.test_pages import _run

pytestmark = [pytest.mark.torch, pytest.mark.slow]
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))
PAGE = ROOT / "docs" / "how-to" / "pytorch.md"
MEMORY = ROOT / "docs" / "how-to" / "memory.md"
COMPILED = ROOT / "docs" / "how-to" / "torch-compile.md"


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program, printed = (block for block in blocks(PAGE) if block.language in ("python", "text"))
    assert_like(printed.text, _run(program, types.ModuleType("__main__"), PAGE.name), PAGE.name)


@pytest.mark.parametrize(
    "block", [block for block in blocks(PAGE) if block.language == "console"], ids=lambda block: str(block.line)
)
def test_transcript(block: Block, tmp_path: Path) -> None:
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    run_console(block, tmp_path, f"{PAGE.name}:{block.line}")


@pytest.mark.skipif(VERSION < (2, 13), reason="what the compiler tells is told as torch 2.13 tells it")
def test_the_page_on_compiled_programs(tmp_path: Path) -> None:
    for block in blocks(COMPILED):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        else:
            run_console(block, tmp_path, f"{COMPILED.name}:{block.line}")


def test_the_page_on_memory(tmp_path: Path) -> None:
    for block in blocks(MEMORY):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        else:
            run_console(block, tmp_path, f"{MEMORY.name}:{block.line}")


def test_every_program_of_the_gallery_is_told_of() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for program in (ROOT / "samples" / "broken").glob("*.py"):
        assert f"samples/broken/{program.name}" in text
