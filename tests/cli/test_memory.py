"""`graphscope record --memory` and `graphscope memory`, as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Run, run_in

PROGRAM = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
optimizer = torch.optim.Adam(model.parameters())
for step in range(2):
    loss = model(torch.randn(512, 64)).exp().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
SVG = "{http://www.w3.org/2000/svg}"
ACTIVATION = 512 * 256 * 4


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording of PROGRAM with its memory."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "train.py").write_text(PROGRAM)
    result = run_in(folder, "-m", "graphscope", "record", "--memory", "train.py")
    assert result.returncode == 0, result.stderr
    return folder / "train.gscope"


@pytest.mark.slow
@pytest.mark.torch
def test_the_peak_and_what_was_saved_are_told(recorded: Path, read: Run) -> None:
    pytest.importorskip("torch")
    result = read("memory", str(recorded))
    assert result.returncode == 0, result.stderr
    first, *rest = result.stdout.splitlines()
    assert first.startswith("peak: ")
    assert "train.py:" in first
    assert any("saved for backward" in line and "train.py:8" in line for line in rest)
    assert max(map(len, result.stdout.splitlines())) <= 80


@pytest.mark.torch
def test_bytes_are_summed_up_by_what_is_asked_for(recorded: Path, read: Run) -> None:
    pytest.importorskip("torch")
    found = {}
    for way in ("line", "module", "op"):
        facts = json.loads(read("memory", "--json", "--by", way, str(recorded)).stdout)
        assert facts["peak_bytes"] == sum(facts["kinds"].values()) == sum(each["bytes"] for each in facts["held"])
        found[way] = {each["place"]: each["bytes"] for each in facts["saved"]}
    assert found["op"]["relu"] == found["module"]["1 (ReLU)"] == ACTIVATION
    assert len({sum(places.values()) for places in found.values()}) == 1


@pytest.mark.torch
def test_what_is_alive_is_drawn(recorded: Path, read: Run, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert read("memory", str(recorded), "-o", "lines.svg").returncode == 0
    assert "train.py:8" in (tmp_path / "lines.svg").read_text()
    assert read("export", str(recorded), "--view", "memory", "--by", "kind", "-o", "memory.svg").returncode == 0
    drawn = ElementTree.parse(tmp_path / "memory.svg").getroot()
    _, _, width, height = map(float, drawn.attrib["viewBox"].split())
    groups = [each for each in drawn.iter(f"{SVG}g") if each.find(f"{SVG}polygon") is not None]
    bands = {each[0].text: each[1].attrib["points"].split() for each in groups}
    assert {"parameters", "gradients", "optimizer state", "saved for backward"} <= bands.keys()
    for points in bands.values():
        for across, down in (map(float, point.split(",")) for point in points):
            assert 0 <= across <= width
            assert 0 <= down <= height
    assert any("peak " in (text.text or "") for text in drawn.iter(f"{SVG}text"))


@pytest.mark.slow
def test_a_log_that_does_not_tell_of_memory_says_how_to_record_it(read: Run, tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("import graphscope as gs\ngs.ones(3).sum()\n")
    assert run_in(tmp_path, "-m", "graphscope", "record", "plain.py").returncode == 0
    result = read("memory")
    assert result.returncode == 2
    assert "recorded without" in result.stderr
    assert "graphscope record --memory" in result.stderr


@pytest.mark.slow
def test_a_program_that_computes_nothing_held_nothing(read: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("")
    assert run_in(tmp_path, "-m", "graphscope", "record", "--memory", "empty.py").returncode == 0
    result = read("memory")
    assert result.returncode == 0
    assert "no memory was held" in result.stdout
    assert json.loads(read("memory", "--json").stdout)["peak_bytes"] == 0
