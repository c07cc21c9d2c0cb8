"""The samples: the doctor finds the faulty line of each broken one, first of all, and nothing in the others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import Finding

SAMPLES = Path(__file__).parents[2] / "samples"

BROKEN = {
    "digits_session": ("nan", 40),
    "nan_spreads": ("nan", 10),
    "broken/argmax_gate": ("missing", 14),
    "broken/broadcast": ("broadcast", 9),
    "broken/dead_relu": ("vanished", 8),
    "broken/detached": ("missing", 9),
    "broken/exploding_rnn": ("nan", 8),
    "broken/forgotten_zero_grad": ("zero_grad", 12),
    "broken/graph_kept": ("graph_kept", 12),
    "broken/item_as_loss": ("missing", 9),
    "broken/leaf_replaced": ("missing", 13),
    "broken/log_of_zero": ("nan", 7),
    "broken/norm_of_zero": ("nan", 8),
    "broken/softmax_in_half": ("nan", 6),
    "broken/unused_in_ddp": ("never_used", 13),
    "broken/written_before_backward": ("overwritten", 7),
}
"""What is to be found first, and the line to change."""

HEALTHY = ["broadcasting", "chain", "char_rnn", "digits", "digits_conv", "digits_session --fixed", "neuron", "no_grad",
           "pinn", "product", "rnn_cell", "rnn_unrolled", "transformer", "two_paths", "two_ways", "vae"]  # fmt: skip
"""All others, with their arguments; but for the one that opens a screen, and the one that runs by the clock."""


def findings(program: Path, values: str, folder: Path, *arguments: str) -> tuple[Finding, ...]:
    """What the doctor finds in a program that ran in a process of its own, as it is run for a person."""
    log, options = folder / "run.gscope", ["--values", values, "--log", str(folder / "run.gscope")]
    command = [sys.executable, "-m", "graphscope", "record", *options, str(program), *arguments]
    subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
    return gs.doctor(log).findings


def test_every_sample_is_judged() -> None:
    programs = {str(path.relative_to(SAMPLES).with_suffix("").as_posix()) for path in SAMPLES.glob("**/*.py")}
    assert programs == {*BROKEN, *(each.split()[0] for each in HEALTHY), "demo", "same_network"}


@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("name", BROKEN)
def test_the_faulty_line_of_a_broken_sample_is_found_first(name: str, values: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = SAMPLES / f"{name}.py"
    first, *_ = findings(program, values, tmp_path)
    assert (first.kind, first.line, Path(first.file)) == (*BROKEN[name], program)
    assert first.cure


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary"])
@pytest.mark.parametrize("call", HEALTHY)
def test_nothing_is_found_in_the_others(call: str, values: str, tmp_path: Path) -> None:
    name, *arguments = call.split()
    assert findings(SAMPLES / f"{name}.py", values, tmp_path, *arguments) == ()
