"""The readme of the extension: its pictures are made here, and show where it is read.

`GRAPHSCOPE_PICTURES=editors/vscode/images` makes them anew: look at each before it is committed.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from tests.editors.code_server import EXTENSION, Installed, missing

pytestmark = [pytest.mark.torch, pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]

MOST: Final = 200_000
"""Bytes of a picture."""

TRAIN: Final = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x):
        drive = self.first(x)
        hidden = drive.tanh()
        return self.second(hidden)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, target = torch.randn(2, 2), torch.randn(2)

for step in range(3):
    loss = (net(x) - target).pow(2).mean()
    loss.backward()
    optimizer.step()
"""


def test_what_its_pictures_show(installed: Installed, tmp_path: Path) -> None:
    """Stopped in backward, with values behind the lines; the graph beside; what the doctor finds."""
    folder = tmp_path / "training"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    with installed.window(folder) as editor:
        editor.open("train.py")
        editor.add_breakpoint(12, "backward")
        editor.press("F5")
        editor.stands("LIVE")
        editor.press("F5")
        editor.stands("LIVE", "backward")
        editor.stands("Ln 12,")
        editor.read("drive = float32 2x2")
        editor.command("View: Hide Panel")
        editor.picture("backward")
        editor.command("graphscope: Show Graph")
        editor.read_graph("TanhBackward")
        editor.command("View: Close Primary Side Bar")
        editor.picture("graph")
        editor.click(".codicon-debug-stop")
        editor.stands("graphscope")
        editor.command("View: Close All Editors")
        editor.click(".activitybar .codicon-explorer-view-icon")
        editor.open("train.py")
        editor.command("graphscope: Record This File")
        editor.wait("document.querySelectorAll('.markers-panel .monaco-list-row').length > 2")
        editor.picture("problems")


def test_it_shows_its_pictures_where_it_is_read(installed: Installed, tmp_path: Path) -> None:
    """The page of an extension loads no picture from its folder."""
    (tmp_path / "train.py").write_text(TRAIN)
    named = re.findall(r"\]\((images/.+)\)", (EXTENSION / "README.md").read_text())
    assert named
    assert all((EXTENSION / each).stat().st_size < MOST for each in named)
    with installed.window(tmp_path, talks=False) as editor:
        editor.command("Extensions: Show Enabled Extensions")
        editor.click_text(".extensions-list .monaco-list-row", "graphscope")
        frames = "document.querySelector('iframe.webview')?.contentDocument?.querySelector('#active-frame')"
        images = f"[...{frames}?.contentDocument?.images ?? []]"
        editor.wait(f"{images}.filter(image => image.naturalWidth > 500).length == {len(named)}")
        editor.picture("page-of-the-extension")
