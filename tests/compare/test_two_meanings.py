"""`diff` of two logs, and of a tensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import graphscope as gs


def test_diff_of_a_tensor_is_that_of_numpy() -> None:
    numbers = np.array([[1.0, 4.0, 9.0], [2.0, 2.0, 5.0]])
    assert np.array_equal(gs.diff(gs.tensor(numbers), dim=0).numpy(), np.diff(numbers, axis=0))
    assert np.array_equal(gs.diff(input=gs.tensor(numbers), n=2).numpy(), np.diff(numbers, n=2))


def test_diff_of_two_logs_says_where_they_part(tmp_path: Path) -> None:
    for name, factor in (("one", 2.0), ("other", 3.0)):
        with gs.record(tmp_path / name):
            x = gs.tensor([1.0, 2.0], requires_grad=True)
            (x * factor).sum().backward()
    found = gs.diff(tmp_path / "one", str(tmp_path / "other"))
    assert found.first is not None
    assert found.first.a is not None
    assert found.first.a.op == "mul"
