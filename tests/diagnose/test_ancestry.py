"""What a node was computed from, found in bulk: the same as row by row, over stretches, steps and segments."""

from __future__ import annotations

import random
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.paths import leaf_of, made_of
from graphscope.eventlog.reader import Log
from graphscope.graph import walk


def training(steps: int, depth: int, folder: Path) -> Log:
    """Ops of values chosen by chance, old ones among them; parameters are written between the steps."""
    chance = random.Random(depth)
    with gs.record(folder / "run.gscope", values="none"):
        weights = [gs.tensor([1.0, 2.0], requires_grad=True) for _ in range(3)]
        mask = gs.tensor([1.0, 0.5]) * 2
        sgd = gs.optim.SGD(weights, lr=1e-3)
        for _ in range(steps):
            made = [*weights, mask]
            for _ in range(depth):
                made.append(chance.choice(made[-8:]) * 0.5 + chance.choice(made))
            gs.stack([chance.choice(made) for _ in range(5)]).sum().backward()
            sgd.step()
    return gs.load(folder / "run.gscope")


@pytest.mark.slow
def test_it_is_what_a_walk_from_row_to_row_finds(tmp_path: Path) -> None:
    log = training(6, 400, tmp_path)
    graph = log.graph
    for row in [*graph.index.nodes(log.end)[::211].tolist(), *graph.index.nodes(log.end)[-3:].tolist()]:
        found = ancestry(log, row)
        rows = sorted([row, *walk.reach(row, partial(made_of, graph))])
        assert found.rows.tolist() == rows
        assert found.leaves.tolist() == [each for each in rows if leaf_of(graph, graph.index.event(each)) is not None]
        edges = {(each, source) for each in rows for source, _ in graph.index.event(each).inputs}
        assert set(zip(found.users.tolist(), found.sources.tolist(), strict=True)) == edges
        assert found.holds(row)
        assert not found.holds(row + 1)


def test_a_row_that_is_gone_has_nothing_behind_it(tmp_path: Path) -> None:
    log = training(1, 3, tmp_path)
    found = ancestry(log, log.end + 5)
    assert (found.rows.tolist(), len(found.sources)) == ([log.end + 5], 0)
    assert np.array_equal(ancestry(log, log.first).rows, [log.first])
