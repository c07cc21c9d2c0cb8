"""What a recording keeps of nodes with several slots, in a loop, against the tensors themselves."""

# ruff: noqa: E402 - what is imported below needs PyTorch

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import graphscope as gs
from graphscope.eventlog.schema import Kind

pytestmark = pytest.mark.torch

TURNS = 6
BROKEN = 4
"""The turn whose tensor holds a NaN, in the second of its parts."""
SHAPES = ((2, 3), (40, 30), (100, 300), (3,), (120, 30), (300, 3))
"""In the row itself (a part of one element), small, large, of an odd number of elements, and in many parts."""


def parted(wanted: list[list[Any]]) -> None:
    """Take tensors apart, use all parts but the first of each, and note them and what comes back to them."""
    for shape in SHAPES:
        for turn in range(TURNS):
            x = torch.full(shape, float(turn + 1), requires_grad=True)
            with torch.no_grad():
                x += torch.arange(x.numel()).reshape(shape)
                if turn == BROKEN:
                    x[-1] = torch.nan
            parts = (x * 2).split(1, 0) if shape[0] < 4 or shape[0] > 100 else (x * 2).split([shape[0] - 7, 4, 3])
            wanted.append([each.detach().clone() for each in parts])
            sum((each * place).sum() for place, each in enumerate(parts) if place).backward()


@pytest.mark.slow
@pytest.mark.parametrize("values", ["full", "summary", "none"])
def test_each_slot_holds_its_part_and_says_whether_it_is_finite(values: str, tmp_path: Path) -> None:
    wanted: list[list[Any]] = []
    with gs.record(tmp_path / "run.gscope", values=values) as log:
        parted(wanted)
    log.refresh()
    rows = [row for row in range(log.end) if len(log.outputs(row)) > 1]
    forward = [row for row in rows if log.event(row).kind is Kind.OP]
    assert len(forward) == len(wanted) == TURNS * len(SHAPES)
    for row, parts in zip(forward, wanted, strict=True):
        assert log.outputs(row) == tuple((tuple(each.shape), "float32") for each in parts)
        assert log.nonfinite(row) is any(bool(each.isnan().any()) for each in parts)
        for slot, each in enumerate(parts):
            kept = log.value(row, slot)
            if values == "full" or (values == "summary" and each.numel() * 4 <= 4096):
                np.testing.assert_array_equal(kept, each.numpy())
            else:
                assert kept is None
    backward = [row for row in rows if log.event(row).kind is Kind.GRAD]
    assert len(backward) == len(forward)
    for row, of in zip(backward, forward, strict=True):
        assert log.event(row).forward == of
        shapes = [shape for shape, _ in log.outputs(row)]
        assert shapes == [(0,), *(shape for shape, _ in log.outputs(of)[1:])]  # nothing came back to the first
        for slot in range(1, len(shapes)) if values == "full" else ():
            np.testing.assert_array_equal(log.value(row, slot), np.full(shapes[slot], float(slot), np.float32))
