"""The series of a recording: files that grow no larger, and what they may cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphscope.eventlog import step_series
from graphscope.eventlog.sampling import Sampling
from graphscope.eventlog.step_series import NAME, SERIES, StepSeries


@pytest.mark.parametrize("apart", [1, 2, 3, 16])
def test_a_full_file_is_thinned_out_whichever_steps_it_has(
    apart: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(step_series, "MOST", 64)
    series = StepSeries(tmp_path)
    steps = range(apart, 1000 * apart, apart)
    for step in steps:
        series.append(step, step, float(step), 0.1)
    rows = np.load(tmp_path / NAME)
    assert len(rows) == 64
    assert rows.dtype == SERIES
    kept = rows["step"][rows["step"] > 0]
    assert len(kept) > 30
    assert {*np.diff(kept).tolist()} == {16 * apart}
    assert kept[0] <= 16 * apart
    assert kept[-1] > steps[-1] - 16 * apart
    assert (rows["loss"][rows["step"] > 0] == kept).all()


@pytest.mark.slow
@given(step=st.integers(10_000, 10**9), cost=st.integers(1_000, 10**9))
def test_norms_take_less_than_half_a_percent_of_the_time_of_a_program(step: int, cost: int) -> None:
    sampling, now, spent = Sampling(1, 10), 0, 0
    for _ in range(3000):
        now += step
        if sampling.wants_norm():
            sampling.took_norm(now, now + cost)
            now += cost
            spent += cost
        sampling.ended += 1
    assert spent - 2 * cost <= 0.005 * now  # two are had before it is known what one takes
