"""A real Neovim with nvim-dap steps through a program of two modules of one class; each message is held to the schema.

`GRAPHSCOPE_NVIM_DAP` names the folder of the plugin.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.dap.talking import ROOT, check, spoken

PLUGIN = os.environ.get("GRAPHSCOPE_NVIM_DAP", "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PLUGIN or shutil.which("nvim") is None, reason="needs nvim, and GRAPHSCOPE_NVIM_DAP"),
]

TWINS = """\
import graphscope as torch
from graphscope import nn


class Layer(nn.Module):
    def forward(self, x, depth):
        h = x * depth
        y = h.tanh()
        return y


x = torch.tensor([1.0, 2.0], requires_grad=True)
first, second = Layer(), Layer()
loss = second(first(x, 0.5), 3.0).sum()
loss.backward()
"""


def test_neovim_steps_forward_and_back_by_lines(write: Callable[[str], Path], tmp_path: Path) -> None:
    script = Path(__file__).parent / "client" / "life.lua"
    seen = tmp_path / "seen"
    environment = {
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "SPOKEN": str(tmp_path),
        "NVIM_DAP": PLUGIN,
        "PYTHON": sys.executable,
        "ADAPTER": str(script.with_name("adapter.py")),
        "SEEN": str(seen),
        "PROGRAM": str(write(TWINS)),
        "LINE": "8",
    }
    command = ["nvim", "--headless", "-u", "NONE", "-S", str(script)]
    subprocess.run(command, env={**os.environ, **environment}, check=True, timeout=300, capture_output=True)
    told = seen.read_text().splitlines()
    places = (re.match(r"at (\d+) cursor (\d+)", line) for line in told)
    at = [(int(found[1]), int(found[2])) for found in places if found is not None]
    assert at == [(8, 8), (9, 9), (8, 8), (8, 8), (8, 8), (7, 7), (8, 8)]
    hovers = [line for line in told if line.startswith("hover")]
    assert hovers[0] == "hover depth 0.5"
    assert "1.386" in hovers[1]  # of the second layer, where backward begins
    assert hovers[2] == "hover depth unknown"
    assert "0.5" in hovers[3]
    assert "A step is a line" in next(line for line in told if line.startswith("console"))
    assert told[-1] == "over true"
    for name in ("asked", "told"):
        for message in spoken((tmp_path / name).read_bytes()):
            check(message)
