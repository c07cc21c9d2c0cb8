"""Ranks that send what nobody receives, or receive what nobody sends: named with their line and the peer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
from datetime import timedelta
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo")
rank = dist.get_rank()

def hand_on(way, group):
    x = torch.ones(4)
    for step in range(3):
        if rank == 0:
            if way == "later":
                dist.isend(x, 1, group=group).wait()
            else:
                dist.send(x, 1, group=group)
            if way == "two sends" and step == 2:
                dist.send(x, 1, group=group)  # once more
            if way == "both":
                dist.recv(x, 1, group=group)  # an answer
        if rank == 1:
            dist.recv(x, 0, group=group)
            if way.startswith("two receives") and step == 2:
                dist.recv(x, 0, group=group)  # once more
            if way == "wrong peer" and step == 1:
                dist.recv(x, 2, group=group)  # of nobody
            if way == "both" and step < 2:
                dist.send(x, 0, group=group)
            if way == "both" and step == 2:
                dist.recv(x, 0, group=group)  # no answer
    if way != "two receives at the end":
        dist.barrier(group=group)

for way in WAYS:
    group = dist.new_group(timeout=timedelta(seconds=4))
    with gs.record(way.replace(" ", "_") + ".gscope"):
        try:
            hand_on(way, group)
        except RuntimeError as error:
            print(rank, way, error)
    dist.barrier()
dist.destroy_process_group()
"""

LOST = {
    "two sends": ("rank 0", "# once more", "for recv no. 4 of rank 1, which has made 3 and waits in barrier at"),
    "two receives": ("rank 1", "# once more", "for send no. 4 of rank 0, which has made 3 and waits in barrier at"),
    "two receives at the end": ("rank 1", "# once more", "for send no. 4 of rank 0, which has made 3 and has ended"),
    "wrong peer": ("rank 1", "# of nobody", "for send no. 1 of rank 2, which has made none and waits in barrier at"),
}
"""The rank that waits, the end of its line, and what is said of the peer."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways, of three ranks each."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("WAYS", repr([*LOST, "both", "later"])), 3)
    return made


def found(folder: Path, way: str) -> list[dict[str, Any]]:
    """What `graphscope ranks` finds."""
    findings: list[dict[str, Any]] = answered(folder / f"{way.replace(' ', '_')}-rank0.gscope", where=folder)[1][
        "findings"
    ]
    return findings


@pytest.mark.parametrize("way", LOST)
def test_rank_line_and_peer_are_named(folder: Path, way: str) -> None:
    rank, line, said = LOST[way]
    (finding,) = found(folder, way)
    assert finding["verdict"].startswith(f"{rank} waits in ")
    assert finding["source"].endswith(line)
    assert said in finding["verdict"]


def test_two_that_wait_for_each_other_are_named_with_what_they_wait_for(folder: Path) -> None:
    (finding,) = found(folder, "both")
    assert finding["cause"] == "deadlock"
    assert "isend and irecv" in finding["cure"]
    assert re.search(r"rank 0 in recv at train\.py:\d+ for a send of rank 1", finding["verdict"])
    assert re.search(r"rank 1 in recv at train\.py:\d+ for a send of rank 0", finding["verdict"])


def test_what_is_sent_later_and_received_at_once_is_let_be(folder: Path) -> None:
    assert found(folder, "later") == []
