"""The extension in a real VS Code: first contact, both passes, both directions of time, what is wrong."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.editors.code_server import ROOT, Installed, missing

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

BROKEN: Final = (ROOT / "samples" / "broken" / "norm_of_zero.py").read_text()


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
        editor.read_graph("6 / 6")
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
        editor.command("graphscope: Open Recording")
        editor.wait("document.querySelector('.quick-input-list')?.innerText.includes('train.gscope')")
        editor.press("Enter")
        editor.stands("PAST", "forward")
        editor.click(".codicon-debug-continue")
        editor.stands("PAST", "backward")


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


TWO_LAYERS: Final = """\
import torch


class Layer(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor([value]))

    def forward(self, x):
        scaled = x * self.weight
        return scaled.tanh()


first, second = Layer(2.0), Layer(3.0)
x = torch.tensor([0.5])
loss = second(first(x)).sum()
loss.backward()
print("gradients", first.weight.grad.item(), second.weight.grad.item())
"""


def test_a_line_in_backward_alone_its_own_values_and_a_gradient_that_is_set(
    installed: Installed, tmp_path: Path
) -> None:
    """In two modules of one class each shows its own tensors; a set gradient reaches the leaf."""
    torch = pytest.importorskip("torch")
    (tmp_path / "layers.py").write_text(TWO_LAYERS)
    with installed.window(tmp_path) as editor:
        editor.open("layers.py")
        editor.add_breakpoint(10, "backward")
        editor.press("F5")
        editor.stands("LIVE")
        editor.press("F5")
        editor.stands("LIVE", "backward")
        editor.stands("Ln 10,")
        first = torch.tanh(torch.tensor([0.5]) * 2.0)
        editor.hover(10, "scaled", f"{(first * 3.0).item():.5f}")  # of the second, which comes by first
        editor.picture("hover")
        editor.press("F5")
        editor.read("scaled = float32 1 [1.]")
        editor.say("set grad = torch.tensor([10.0])")
        editor.press("F5")
        editor.read(f"gradients {10.0 * 0.5} ")


def test_a_tensor_under_the_mouse_in_forward(installed: Installed, tmp_path: Path) -> None:
    """In two modules of one class each shows its own, and what is computed before it is there."""
    torch = pytest.importorskip("torch")
    (tmp_path / "layers.py").write_text(TWO_LAYERS)
    with installed.window(tmp_path) as editor:
        editor.open("layers.py")
        editor.add_breakpoint(11, "forward")
        editor.press("F5")
        editor.stands("LIVE")
        x = torch.tensor([0.5])
        for weight in (2.0, 3.0):
            editor.press("F5")
            editor.stands("LIVE", "forward")
            editor.stands("Ln 11,")
            scaled = x * weight
            editor.read(f"scaled = float32 1 [{round(scaled.item(), 5):g}")
            for word, told in (("scaled", scaled), ("x", x), ("weight", torch.tensor([weight]))):
                editor.hover(10, word, f"[0] =\n{told.numpy()[0]!s}\n")
            x = scaled.tanh()


RAISES: Final = """\
import torch

x = torch.ones(2, requires_grad=True)
y = (x - 1).log()
y.sum().backward()
table = {"a": 1}
print(table["b"])
"""


def test_the_birth_of_an_infinity_and_an_exception_stop_at_their_lines(installed: Installed, tmp_path: Path) -> None:
    """One by a box that is ticked, the other as it is."""
    (tmp_path / "raises.py").write_text(RAISES)
    with installed.window(tmp_path) as editor:
        editor.open("raises.py")
        editor.press("F5")
        editor.stands("LIVE")
        editor.click_text(".debug-breakpoints .monaco-list-row .name", "Birth of a NaN or an Inf")
        editor.click(".debug-breakpoints .monaco-list-row.focused input")
        editor.press("F5")
        editor.stands("LIVE", "forward")
        editor.stands("Ln 4,")
        editor.read("keep what log is given above 0")
        assert editor.text(".exception-widget").count("keep what log is given above 0") == 1
        editor.picture("birth")
        editor.click(".debug-breakpoints .monaco-list-row.focused input")
        editor.press("F5")
        editor.wait("document.querySelector('.exception-widget')?.innerText.includes('KeyError')")
        editor.stands("Ln 7,")
        editor.picture("exception")


FAMILY: Final = """\
import multiprocessing

import torch


def work(number):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * number
    y.sum().backward()
    print("child", x.grad.tolist(), flush=True)


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(3,))
    child.start()
    child.join()
    print("joined", child.exitcode)
"""


def test_a_breakpoint_stops_a_process_that_the_program_starts(installed: Installed, tmp_path: Path) -> None:
    """In a session of its own; then both go on to their ends."""
    (tmp_path / "family.py").write_text(FAMILY)
    with installed.window(tmp_path) as editor:
        editor.open("family.py")
        editor.add_breakpoint(9, "forward")
        editor.press("F5")
        editor.stands("LIVE")
        editor.press("F5")
        editor.stands("Ln 9,")
        editor.stands("LIVE")
        editor.read("number = 3")
        editor.picture("child")
        editor.press("F5")
        editor.read("joined 0")


WAITS: Final = """\
import torch

import graphscope

graphscope.listen()
x = torch.tensor([2.0], requires_grad=True)
y = x * x
y.backward()
print("gradient", x.grad.item())
"""


def test_a_program_that_waits_is_attached_to(installed: Installed, tmp_path: Path) -> None:
    """By the address that it prints, from the folder's launch.json."""
    (tmp_path / "waits.py").write_text(WAITS)
    command = [sys.executable, "waits.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, stdout=pipe, stderr=pipe) as program:
        try:
            assert program.stdout is not None
            assert program.stderr is not None
            address = re.search(r"(unix:\S+)", program.stderr.readline())
            assert address is not None
            attach = {"type": "graphscope", "request": "attach", "name": "waits", "address": address[1]}
            (tmp_path / ".vscode").mkdir()
            (tmp_path / ".vscode" / "launch.json").write_text(json.dumps({"configurations": [attach]}))
            with installed.window(tmp_path) as editor:
                editor.open("waits.py")
                editor.add_breakpoint(7, "backward")
                editor.press("F5")
                editor.stands("LIVE", "backward")
                editor.stands("Ln 7,")
                editor.picture("attached")
                editor.press("F5")
                assert program.stdout.read() == "gradient 4.0\n"
        finally:
            program.kill()
