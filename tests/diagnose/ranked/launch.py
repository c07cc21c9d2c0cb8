"""`python -m tests.diagnose.ranked.launch PROGRAM WAY...`: each way on four ranks, recorded, as torchrun starts them.

All are forked off one process that has PyTorch already: starting forty takes minutes otherwise. Ranks that hang are
killed once all others wait for one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # what is imported here is so once

from graphscope.adapters.torch import session  # noqa: F401
from graphscope.cli import main
from graphscope.errors import LogError
from graphscope.eventlog.reader import load
from graphscope.graph.arrivals import arrivals

RANKS = 4


def start(program: Path, way: str, rank: int, port: int) -> int:
    """Fork one rank; its process."""
    child = os.fork()
    if child:
        return child
    with contextlib.suppress(BaseException):
        os.environ |= {"RANK": str(rank), "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1"}
        os.environ |= {"MASTER_PORT": str(port), "LOCAL_RANK": str(rank)}
        main(["record", "--values", "summary", str(program), way])
    os._exit(0)


def free_port() -> int:
    """One for the ranks to meet at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def stuck() -> tuple[int, list[int]]:
    """How many ranks of this folder wait for others, and how far their logs are."""
    found, lengths = 0, []
    for path in sorted(Path().glob("*-rank?.gscope")):
        with contextlib.suppress(LogError):
            log = load(path)
            found += bool(arrivals(log)[1]["waits"].any())
            lengths.append(len(log))
    return found, lengths


def wait_for_a_hang() -> None:
    """Return when all ranks but one wait, and none goes on."""
    before, now = (0, [0]), stuck()
    while before != now or now[0] < RANKS - 1:
        time.sleep(1)
        before, now = now, stuck()


def run(program: Path, way: str) -> None:
    """Run all ranks of one way, in the current folder."""
    port = free_port()
    ranks = [start(program, way, rank, port) for rank in range(RANKS)]
    if way == "hang":
        wait_for_a_hang()
    for rank in ranks:
        if way == "hang":
            os.kill(rank, signal.SIGKILL)
        os.waitpid(rank, 0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    program, *ways = sys.argv[1:]
    place = Path(program).resolve()
    for way in ways:
        Path(way).mkdir()
        os.chdir(way)
        run(place, way)
        os.chdir("..")
