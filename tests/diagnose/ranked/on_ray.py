"""`python -m tests.diagnose.ranked.on_ray PROGRAM WAY...`: each way as four tasks of Ray's, each of which records."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ray

from tests.diagnose.ranked.launch import RANKS, free_port, wait_for_a_hang


@ray.remote(num_cpus=0, max_calls=1)  # a process for each, which ends with it
def train(rank: int, port: int, program: str, way: str, log: str) -> None:
    """What a rank does, as a person writes it."""
    import runpy

    import graphscope as gs

    os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    sys.argv = [program, way]
    with gs.record(log, values="summary"):
        runpy.run_path(program, run_name="__main__")


def run(program: str, way: str) -> None:
    """Run all ranks of one way, in the current folder."""
    port = free_port()
    ranks = [train.remote(rank, port, program, way, str(Path("run.gscope").resolve())) for rank in range(RANKS)]
    if way == "hang":
        wait_for_a_hang()
        for rank in ranks:
            ray.cancel(rank, force=True)
    ray.wait(ranks, num_returns=RANKS)  # those that fail are part of it


if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False)
    program, *ways = sys.argv[1:]
    for way in ways:
        Path(way).mkdir()
        os.chdir(way)
        run(program, way)
        os.chdir("..")
