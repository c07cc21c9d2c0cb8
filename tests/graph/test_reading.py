"""What is read of a whole log: as far as the log goes, and no longer than it is there."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose import doctor
from graphscope.graph.series import losses


@pytest.mark.slow
def test_a_log_that_was_judged_is_freed(tmp_path: Path) -> None:
    w = gs.tensor([1.0], requires_grad=True)
    with gs.record(tmp_path / "run.gscope"):
        (w * 2).sum().backward()
    log = gs.load(tmp_path / "run.gscope")
    doctor(log)
    freed = weakref.ref(log)
    del log
    gc.collect()
    assert freed() is None


def test_a_log_that_has_grown_is_read_again(tmp_path: Path) -> None:
    w = gs.tensor([1.0], requires_grad=True)
    with gs.record(tmp_path / "run.gscope") as log:
        counts = []
        for _ in range(3):
            (w * 2).sum().backward()
            log.refresh()
            counts.append(len(losses(log)))
    assert counts == [1, 2, 3]
