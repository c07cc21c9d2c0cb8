"""Which Graphviz is taken, and what is said when there is none or it fails."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from graphscope.errors import ExportError
from graphscope.exporters import graphviz_program
from graphscope.exporters.graphviz_program import drawn, program


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A PATH with nothing on it, and a Python with nothing beside it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    return tmp_path


def executable(path: Path, text: str) -> None:
    """A small program at a place."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_without_a_system_dot_the_wheel_draws(bare: Path) -> None:
    pytest.importorskip("importlib.metadata").distribution("graphviz-pure")
    found = program()
    assert not found.system
    assert b"<svg" in drawn("digraph { a -> b }", "svg")


def test_the_system_comes_first(bare: Path) -> None:
    executable(bare / "dot", "exit 0")
    assert program() == graphviz_program.Program(shutil.which("dot") or "", system=True)


def test_beside_python(bare: Path) -> None:
    executable(bare / "graphviz-pure", "exit 0")
    assert program().path == str(bare / "graphviz-pure")


def test_no_program_at_all(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphviz_program, "PURE", "no-such-distribution")
    with pytest.raises(ExportError, match="no layout program is installed") as error:
        drawn("digraph {}", "svg")
    assert "pip install graphviz-pure" in str(error.value.hint)


def test_pdf_needs_the_system(bare: Path) -> None:
    with pytest.raises(ExportError, match="does not write PDF") as error:
        drawn("digraph {}", "pdf")
    assert "install Graphviz" in str(error.value.hint)


def test_a_program_that_fails_is_quoted(bare: Path) -> None:
    executable(bare / "dot", "echo out of memory >&2; exit 3")
    with pytest.raises(ExportError, match=r"exit status 3\): out of memory"):
        drawn("digraph {}", "svg")


def test_a_program_that_can_not_start(bare: Path) -> None:
    (bare / "dot").write_bytes(b"\x00not a program")
    (bare / "dot").chmod(0o755)
    with pytest.raises(ExportError, match="can't be started"):
        drawn("digraph {}", "svg")


def test_broken_source_is_an_error_with_its_line() -> None:
    with pytest.raises(ExportError, match="syntax error"):
        drawn("digraph { a -> ", "svg")


def test_who_lays_out_much_is_told_so(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(graphviz_program, "LARGE", 60)
    drawn("digraph { a -> b }", "svg")
    assert not caplog.records
    drawn("digraph {\n" + "a -> b\n" * 10 + "}", "svg")
    (told,) = caplog.records
    assert "can take minutes" in told.getMessage()
    assert "fold" in told.getMessage()
