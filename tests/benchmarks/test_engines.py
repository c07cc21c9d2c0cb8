"""Every candidate runs every workload once, and its gradients are those of the hand-derived backward."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import engines
from benchmarks.engines import CANDIDATES, Step, UnavailableError, torch_eager
from benchmarks.workloads import WORKLOADS, Workload


@pytest.fixture(autouse=True)
def unsettled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is timed here, so that no recording need run for a while first."""
    monkeypatch.setattr(engines, "SETTLING", 0.0)


def built(name: str, workload: Workload) -> Step:
    """A candidate's step, or a skip that says why there is none."""
    try:
        return CANDIDATES[name](workload)
    except UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("name", [name for name in CANDIDATES if name != "hand"])
def test_candidate_agrees_with_hand(name: str, workload: Workload) -> None:
    step, expected = built(name, workload), CANDIDATES["hand"](workload)
    for _ in range(2):  # the second step starts from gradients and, where there is an update, from new parameters
        with step.session():
            step.run()
        expected.run()
    found, wanted = step.gradients(), expected.gradients()
    step.close()
    assert set(found) == set(wanted)
    for parameter, gradient in wanted.items():
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(found[parameter], gradient, rtol=1e-3, atol=1e-5 * scale, err_msg=parameter)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)
def test_hand_derivation_agrees_with_torch(workload: Workload) -> None:
    pytest.importorskip("torch")
    step, expected = CANDIDATES["hand"](workload), torch_eager(workload)
    step.run()
    expected.run()
    for parameter, gradient in expected.gradients().items():
        np.testing.assert_allclose(step.gradients()[parameter], gradient, rtol=1e-3, atol=1e-6)


@pytest.mark.slow
@pytest.mark.torch
def test_pytorch_beside_a_recording_is_pytorch_alone() -> None:
    torch = pytest.importorskip("torch")
    own = torch.Tensor.backward
    step = engines.recording(WORKLOADS["W1"])
    try:
        assert torch.Tensor.backward is own
        assert torch._C._len_torch_function_stack() == 0
    finally:
        step.close()
