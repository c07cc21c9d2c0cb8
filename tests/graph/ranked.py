"""Logs of a run of several ranks, which meet once a step; between two meetings, some do more than others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.graph.conftest import Tape

STEPS = 3


def write_ranks(folder: Path, count: int = 2) -> list[Tape]:
    """Write `run-rankN.gscope`. A step: two `mul` (line 4), a collective (line 6), `tanh` (line 7), once more a rank.

    Rank 1 alone adds at line 2 before its first step, so that its rows are others.
    """
    tapes = []
    for rank in range(count):
        tape = Tape(folder / f"run-rank{rank}.gscope")
        x = tape.leaf(np.full(2, rank + 1.0), "x")
        if rank == 1:
            x = tape.op("add", x, x, line=2)
        for step in range(STEPS):
            x = tape.op("mul", tape.op("mul", x, x, line=4), x, line=4)
            x = tape.op("add", x, x, line=6, group="all", number=step, ranks=list(range(count)))
            for _ in range(rank + 1):
                x = tape.op("tanh", x, line=7)
        tape.writer.close()
        tapes.append(tape)
    return tapes
