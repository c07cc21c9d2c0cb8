"""The measure of memory sees what is held at once, and not what was let go."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.engines import Step
from benchmarks.memory import peak_of_python, peak_of_torch


def step(make):
    def run():
        first = make(1000)
        second = first + 1
        del first
        return second * 2

    return Step(run, dict)


@pytest.mark.slow
def test_python_holds_two_of_three_arrays_at_once():
    assert 2 * 8000 <= peak_of_python(step(np.ones)) < 2.5 * 8000


@pytest.mark.slow
@pytest.mark.torch
def test_torch_holds_two_of_three_tensors_at_once():
    torch = pytest.importorskip("torch")
    assert peak_of_torch(step(lambda size: torch.ones(size, dtype=torch.float64))) == 2 * 8000
