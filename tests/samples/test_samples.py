"""Every sample runs alone, under graphscope, and (where no random number is drawn) in PyTorch, with the same output."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
APART = ("demo.py", "same_network.py")
"""Those with a test of their own."""
SAMPLES = sorted(path for path in (ROOT / "samples").glob("*.py") if path.name not in APART)
SURE = ("product", "chain", "no_grad", "neuron", "two_paths", "broadcasting", "nan_spreads")
"""Those that draw no random numbers."""

SESSIONS = ("digits_session", "two_ways")
"""Those that define their graph first: programs of TensorFlow's words."""

LONG = ("char_rnn", "digits_conv", "pinn", "transformer")
"""Those that train for more than a moment; `test_twins` runs their first steps."""


def run(folder: Path, *words: str) -> str:
    """What a program prints; it must succeed and say nothing on stderr but our one line."""
    result = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert all(line.startswith("graphscope: ") for line in result.stderr.splitlines()), result.stderr
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "sample", [pytest.param(path, marks=pytest.mark.slow if path.stem in LONG else ()) for path in SAMPLES],
    ids=[path.stem for path in SAMPLES],
)  # fmt: skip
def test_sample_ends_with_a_question_and_recording_changes_nothing(sample: Path, tmp_path: Path) -> None:
    alone = run(tmp_path, str(sample))
    recorded = run(tmp_path, "-m", "graphscope", "record", str(sample))
    assert recorded == alone
    assert re.match(r"Question: .*\?$", alone.splitlines()[-1])
    assert (tmp_path / f"{sample.stem}.gscope" / "log.json").is_file()
    assert sample.stem not in RIGHT or RIGHT[sample.stem](alone)


def learnt(printed: str) -> bool:
    """Whether at last almost all digits were told apart."""
    return float(re.findall(r"accuracy ([\d.]+) %", printed)[-1]) > 95.0


RIGHT = {
    "product": lambda printed: printed.splitlines()[1:3] == ["a.grad = 20.0", "b.grad = 15.0"],
    "chain": lambda printed: printed.splitlines()[2] == "x.grad = 8.0",
    "digits": learnt,
}
"""What is known of the output of some samples."""


@pytest.mark.parametrize("sample", [path for path in SAMPLES if path.stem not in SESSIONS], ids=lambda path: path.stem)
def test_sample_begins_as_a_torch_program(sample: Path) -> None:
    assert re.search(r"^import graphscope as torch$", sample.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("name", SURE)
def test_torch_prints_the_same(name: str, tmp_path: Path) -> None:
    text = (ROOT / "samples" / f"{name}.py").read_text(encoding="utf-8")
    (tmp_path / "in_torch.py").write_text(text.replace("import graphscope as torch", "import torch"))
    assert run(tmp_path, "in_torch.py") == run(tmp_path, str(ROOT / "samples" / f"{name}.py"))


def test_data_is_what_its_source_says() -> None:
    file = ROOT / "samples" / "data" / "digits.npz"
    with np.load(file, allow_pickle=False) as data:
        images, labels = data["images"], data["labels"]
    assert (images.shape, images.dtype, int(images.max())) == ((1797, 8, 8), np.uint8, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    # Of the pixels and labels as scikit-learn's text file has them, row by row.
    rows = np.column_stack([images.reshape(-1, 64), labels])
    assert (
        hashlib.sha256(rows.tobytes()).hexdigest() == "68aea062d35a127749050fa0e52dca09d6569ac08092c925610e0954e172dde2"
    )
    assert "CC BY 4.0" in (file.parent / "SOURCE.md").read_text(encoding="utf-8")


def test_text_is_what_its_source_says() -> None:
    text = (ROOT / "samples" / "data" / "alice.txt").read_text(encoding="ascii")
    assert text.startswith("Alice was beginning to get very tired of sitting by her sister on the bank")
    assert len(text.split("\n\n")) == 7
    about = (ROOT / "samples" / "data" / "SOURCE.md").read_text(encoding="utf-8").split("# alice.txt")[1]
    assert "public domain" in about
    assert "1865" in about
