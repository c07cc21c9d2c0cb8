"""Nodes of views and sums hand on the memory of their cotangents: what is told of each is what a look at it finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import Kind

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.torch

SIDE = 64
NAN = float("nan")


def _nothing(cotangent: Any) -> None: ...


def _replace(cotangent: Any) -> Any:
    return torch.full_like(cotangent, NAN)


def _scale(cotangent: Any) -> Any:
    return cotangent * 3


def _write(cotangent: Any) -> None:
    cotangent[0] = NAN


def _write_into_data(cotangent: Any) -> None:
    cotangent.data[0] = NAN


def _by_a_hook(hook: Callable[[Any], Any], place: int) -> None:
    """Both passes through views, sums and what passes a cotangent on to several; one of the tensors has a hook."""
    w = torch.linspace(-1, 1, SIDE * SIDE).reshape(SIDE, SIDE).requires_grad_()
    chain = [w, w.view(-1), w.t().contiguous()]
    chain += [chain[1].reshape(SIDE, SIDE).t(), chain[2].unsqueeze(0).expand(1, SIDE, SIDE)]
    chain += [(chain[3] + chain[4]).squeeze(0)]
    chain += [chain[5] + chain[3].transpose(0, 1), chain[5].permute(1, 0)]
    chain[place].register_hook(hook)
    (chain[6] * 2 + chain[7].exp()).sum().backward()


HOOKS = [_nothing, _replace, _scale, _write, _write_into_data]


def _rows(log: Log, kinds: tuple[Kind, ...]) -> list[int]:
    return [row for row in range(log.first, log.end) if log.event(row).kind in kinds]


@pytest.mark.parametrize("place", range(8))
@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize("capture", ["calls+backward", "ops"])
def test_it_is_said_of_each_row_whether_its_elements_are_finite(
    tmp_path: Path, capture: str, hook: Any, place: int
) -> None:
    logs = {}
    for policy in ("full", "none", "summary"):
        with gs.record(tmp_path / f"{policy}.gscope", values=policy, capture=capture) as logs[policy]:
            _by_a_hook(hook, place)
        logs[policy].refresh()
    whole, flagged, measured = logs["full"], logs["none"], logs["summary"]
    rows = _rows(whole, (Kind.GRAD, Kind.ACCUMULATE))
    assert len(rows) > 12
    assert rows == _rows(flagged, (Kind.GRAD, Kind.ACCUMULATE)) == _rows(measured, (Kind.GRAD, Kind.ACCUMULATE))
    for row in rows:
        value = whole.value(row)
        is_finite = bool(np.isfinite(value).all())
        assert flagged.nonfinite(row) is not is_finite
        summary = measured.summary(row)
        if value.size == 1:
            continue
        kept = value[np.isfinite(value)]
        assert (summary.nan, summary.inf, summary.zero) == (np.isnan(value).sum(), 0, (value == 0).sum())
        if kept.size:
            assert (summary.minimum, summary.maximum) == (kept.min(), kept.max())
            assert np.isclose(summary.mean, kept.mean(dtype=float), rtol=1e-5, atol=1e-7)
            assert np.isclose(summary.std, kept.std(dtype=float), rtol=1e-4, atol=1e-6)
