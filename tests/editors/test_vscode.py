"""The extension in a real VS Code: first contact, both passes, both directions of time, what is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import pytest

from tests.editors.code_server import ROOT, Installed, missing

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

BROKEN: Final = (ROOT / "samples" / "broken" / "norm_of_zero.py").read_text()


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("editor")
    return Installed(folder, Path(os.environ.get("GRAPHSCOPE_PICTURES") or folder / "pictures"))


def test_a_fresh_folder_both_passes_and_back(installed: Installed, tmp_path: Path) -> None:
    """F5 without a launch.json, steps, a step back, and the graph beside, which follows."""
    (tmp_path / "a program.py").write_text(BROKEN)
    with installed.window(tmp_path) as editor:
        editor.open("a program.py")
        editor.press("F5")
        editor.stands("LIVE")
        for line in (3, 5, 6, 7, 8, 9):
            editor.press("F10")
            editor.stands(f"Ln {line},")
        editor.read("difference = float32 2 [0., 0.]")
        editor.picture("forward")
        editor.command("graphscope: Show Graph")
        editor.read_graph("sqrt", "forward")
        editor.press("F11")
        editor.stands("LIVE", "backward")
        editor.stands("Ln 8,")
        editor.read_graph("SqrtBackward")
        editor.picture("backward")
        editor.click(".codicon-debug-step-back")
        editor.stands("PAST", "forward")
        editor.picture("back")


def test_what_is_wrong_is_a_problem_at_its_line(installed: Installed, tmp_path: Path) -> None:
    """Record This File: the line, the words of the doctor, the cure."""
    (tmp_path / "train.py").write_text(BROKEN)
    with installed.window(tmp_path) as editor:
        editor.open("train.py")
        editor.command("graphscope: Record This File")
        editor.wait("document.querySelectorAll('.markers-panel .monaco-list-row').length > 1")
        line = BROKEN.splitlines().index("distance = difference.pow(2).sum().sqrt()") + 1
        told = editor.text(".markers-panel")
        assert f"[Ln {line}, " in told
        assert "sqrt at 0 is infinite" in told
        assert "Cure: " in told
        editor.picture("problems")


def test_where_graphscope_is_missing_it_is_said_and_offered(installed: Installed, tmp_path: Path) -> None:
    """No session begins in silence."""
    (tmp_path / "train.py").write_text(BROKEN)
    bare = tmp_path / "bare"
    bare.write_text('#!/bin/sh\nexec python3 -I -S "$@"\n')
    bare.chmod(0o755)
    with installed.window(tmp_path, python=str(bare)) as editor:
        editor.open("train.py")
        editor.press("F5")
        editor.read(f"it is not installed for {bare}")
        editor.read("Install")
        editor.picture("missing-package")
