"""Recordings with planted faults, and the tables of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from .program import Seen, descend, fly, train

WAYS = {"a": "log", "b": "sqrt", "c": "log"}
"""The runs of a sweep, and the op that makes the first NaN of each."""


@dataclass(frozen=True)
class Recorded:
    """Logs by run and rank, what the programs saw, and the folder of their tables."""

    logs: dict[tuple[str, int], Path]
    seen: dict[tuple[str, int], Seen]
    tables: Path


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """Two ranks of a training, a sweep of three runs, and a flight recorder's, in one folder of tables."""
    pytest.importorskip("pyarrow")
    from graphscope.tables import export_tables

    folder = tmp_path_factory.mktemp("recorded")
    logs = {("train", rank): folder / f"train-rank{rank}.gscope" for rank in (0, 1)}
    seen = {key: train(log, key[1]) for key, log in logs.items()}
    for run, op in WAYS.items():
        key = f"{run}-train", 0
        logs[key] = folder / run / "train.gscope"
        logs[key].parent.mkdir()
        seen[key] = descend(logs[key], op)
    logs["flight", 0] = folder / "flight.gscope"
    seen["flight", 0] = fly(logs["flight", 0])
    export_tables([*logs.values()], folder / "tables")
    return Recorded(logs, seen, folder / "tables")
