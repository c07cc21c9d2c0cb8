"""Messages from whoever sends, messages with tags, and those that nobody waits for: of three ranks over gloo."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from graphscope.eventlog.reader import load
from graphscope.graph import Graph
from tests.diagnose import two_ranks
from tests.diagnose.ranked.answers import answered

pytestmark = [pytest.mark.torch, pytest.mark.slow]

TRAIN = """\
from datetime import timedelta
import torch, torch.distributed as dist
import graphscope as gs

dist.init_process_group("gloo")
rank = dist.get_rank()
x, kept = torch.ones(4), []

def receive(x, group):
    dist.recv(x, group=group)  # of any

def whoever(group, receive=receive, sends=3, receives=6):
    for step in range(sends):
        if rank:
            dist.send(torch.full((4,), float(rank)), 0, group=group)  # of each
    if rank == 0:
        for step in range(receives):
            receive(x, group)
            kept.append(x.clone())
            assert x[0] in (1, 2)
    dist.barrier(group=group)

def whoever_later(group):
    whoever(group, lambda x, group: dist.irecv(x, group=group).wait())

def whoever_once_more(group):
    whoever(group, receives=7)

def whoever_once_less(group):
    whoever(group, sends=4 if rank == 1 else 3)

def whoever_then_one(group):
    for step in range(3):
        if rank == 1:
            dist.send(x, 0, group=group)
        if rank == 0:
            dist.recv(x, group=group) if step < 2 else dist.recv(x, 1, group=group)
    dist.barrier(group=group)

def tagged(group):
    for step in range(3):
        if rank == 0:
            for each in [dist.isend(x, 1, group=group, tag=tag) for tag in (1, 2)]:
                each.wait()
        if rank == 1:
            dist.recv(torch.ones(4), 0, group=group, tag=2)
            dist.recv(torch.ones(4), 0, group=group, tag=1)
    dist.barrier(group=group)

def tags_apart(group):
    for step in range(3):
        if rank == 0:
            dist.send(x, 1, group=group, tag=step)  # its tag
        if rank == 1:
            dist.recv(x, 0, group=group, tag=min(step, 1))
    dist.barrier(group=group)

def tags_of_whoever_apart(group):
    if rank == 0:
        dist.send(x, 1, group=group, tag=2)  # its tag
    if rank == 1:
        dist.recv(x, group=group, tag=9)
    dist.barrier(group=group)

def tags_apart_later(group):
    if rank == 0:
        kept.append(dist.isend(x, 1, group=group, tag=2))
    if rank == 1:
        dist.recv(x, 0, group=group, tag=9)  # another one
    dist.barrier(group=group)

def unreceived(group, most=2):
    for step in range(3):
        if rank == 0:
            kept.append(dist.isend(x, 1, group=group))  # for nobody
        if rank == 1 and step < most:
            dist.recv(x, 0, group=group)

def waited_for_at_the_end(group):
    unreceived(group, 3)
    while kept:
        kept.pop().wait()

def let_go(group):
    if rank == 0:
        dist.isend(x, 1, group=group)
    dist.barrier(group=group)
    if rank == 1:
        dist.recv(x, 0, group=group)  # what is never sent

for way in WAYS:
    group = dist.new_group(timeout=timedelta(seconds=4))
    kept.clear()
    with gs.record(way + ".gscope"):
        x + 1
        try:
            globals()[way](group)
        except RuntimeError as error:
            print(rank, way, error)
    if way == "whoever" and rank == 0:
        print(*[int(each[0]) for each in kept], file=open("came.txt", "w"))
    dist.barrier()
dist.destroy_process_group()
"""

LOST = {
    "whoever_once_more": (
        "rank 0",
        "# of any",
        "for what any rank sends, and none does: ranks 1 and 2 wait in barrier",
    ),
    "whoever_once_less": ("rank [12]", "# of each", "of rank 0, which has made"),  # which of the two, gloo decides
    "tags_apart": ("rank 0", "# its tag", "sends with tag 2 in send at"),
    "tags_of_whoever_apart": ("rank 0", "# its tag", "what rank 1 is to receive with tag 9 in recv at"),
    "tags_apart_later": (
        "rank 1",
        "# another one",
        "which has made none, but 1 send with tag 2 that rank 1 never rece",
    ),
    "unreceived": ("rank 0", "# for nobody", "3 messages were sent to it, of which it has received 2 when"),
    "let_go": ("rank 1", "# what is never sent", "of rank 0, which has made 1 and has ended at"),
}
"""The rank, the end of its line, and what is said of it."""
HEALTHY = ["whoever", "whoever_later", "whoever_then_one", "tagged", "waited_for_at_the_end"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The logs of all ways, of three ranks each."""
    made = tmp_path_factory.mktemp("ranks")
    two_ranks.run(made, TRAIN.replace("WAYS", repr([*HEALTHY, *LOST])), 3)
    return made


def found(folder: Path, way: str) -> list[dict[str, Any]]:
    """What `graphscope ranks` finds."""
    findings: list[dict[str, Any]] = answered(folder / f"{way}-rank0.gscope", where=folder)[1]["findings"]
    return findings


@pytest.mark.parametrize("way", LOST)
def test_rank_line_peer_and_tags_are_named(folder: Path, way: str) -> None:
    rank, line, said = LOST[way]
    (finding,) = found(folder, way)
    assert re.match(f"{rank} ", finding["verdict"])
    assert finding["source"].endswith(line)
    assert said in finding["verdict"]


@pytest.mark.parametrize("way", HEALTHY)
def test_messages_that_arrive_are_let_be(folder: Path, way: str) -> None:
    assert found(folder, way) == []


def test_who_has_sent_is_told_of_what_comes_from_whoever_sends(folder: Path) -> None:
    """As the program has seen: each rank sends its own number."""
    nodes = Graph(load(folder / "whoever-rank0.gscope")).nodes
    senders = [node.event.attrs for node in nodes if node.op == "recv" and node.value is not None]
    log = load(folder / "whoever-rank0.gscope")
    assert [str(log.attrs(each)["ranks"][0]) for each in senders] == (folder / "came.txt").read_text().split()
