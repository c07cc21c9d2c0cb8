"""Every way to run a graph that was defined first gives the gradients of the hand-derived backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from benchmarks.compiled import CANDIDATES
from benchmarks.engines import UnavailableError
from benchmarks.workloads import WORKLOADS

OURS = [name for name in CANDIDATES if name.startswith("graphscope, ") and name != "graphscope, recording"]
LONG = ("W2", "W4")


@pytest.mark.parametrize(
    "workload", [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in WORKLOADS]
)
@pytest.mark.parametrize("name", OURS)
def test_candidate_agrees_with_hand(name: str, workload: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    try:
        step = CANDIDATES[name](WORKLOADS[workload])
    except UnavailableError as reason:
        pytest.skip(str(reason))
    expected = CANDIDATES["hand"](WORKLOADS[workload])
    for _ in range(2):
        step.run()
        expected.run()
    found, wanted = step.gradients(), expected.gradients()
    assert set(found) == set(wanted)
    for parameter, gradient in wanted.items():
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(found[parameter], gradient, rtol=1e-3, atol=1e-5 * scale, err_msg=parameter)
