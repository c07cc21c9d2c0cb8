"""Editors step backward through the RNN sample: their requests, in their order, and one that is there in person."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dap.editors import Editor, Neovim, VSCode
from tests.dap.talking import ROOT, Client, check, spoken

RNN = ROOT / "samples" / "rnn_cell.py"
LINE = next(number for number, text in enumerate(RNN.read_text().splitlines(), 1) if "tanh" in text)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Neovim, pytest.param(VSCode, marks=pytest.mark.slow)])
def test_an_editor_steps_backward_through_the_rnn(client: Client, kind: type[Editor]) -> None:
    editor = kind(client)
    editor.begin(RNN, [{"line": LINE}], ["op:mm forward"])
    editor.type("b op:tanh backward")
    stopped = editor.step("continue")
    while "Backward" not in stopped["description"]:
        stopped = editor.step("continue")
    seen = [stopped["description"]]
    for _ in range(3):
        seen.append(editor.step("stepBack", granularity="statement")["description"])
        assert editor.variables["Gradient"]["grad"]
    assert len(set(seen)) == len(seen)
    editor.step("reverseContinue")
    editor.type("rn")  # moves, though the editor has pressed no button
    editor.wait()
    assert editor.leave() == 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs emacs and its package dap-mode")
def test_emacs_steps_backward_through_the_rnn(tmp_path: Path) -> None:
    script = Path(__file__).parent / "client" / "life.el"
    made = subprocess.run(
        ["emacs", "--batch", "-l", script, sys.executable, script.with_name("adapter.py"), RNN],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "SPOKEN": str(tmp_path)},
        timeout=120,
    )
    if "Cannot open load file" in made.stderr:
        pytest.skip("needs dap-mode")
    assert made.returncode == 0, made.stderr
    entry, second, tanh, back, further, first, left = made.stdout.splitlines()
    assert entry == first
    assert second.startswith("8: #1 h")
    assert tanh.startswith(f"{LINE}: ")
    assert "TanhBackward" in tanh
    assert "SumBackward" in back
    assert " sum loss" in further
    assert left == "left: 0"
    for message in spoken((tmp_path / "told").read_bytes()):
        check(message)
