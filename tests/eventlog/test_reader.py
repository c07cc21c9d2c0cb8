"""Reading: a log that grows in another process, rows that are missing, users, tables, and plain numpy."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from graphscope.errors import LogError
from graphscope.eventlog import rows, schema
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.writer import Writer

PROGRAMS = Path(__file__).parent / "programs"


@pytest.mark.slow
@pytest.mark.parametrize("steps", [0, 3])
def test_a_reader_follows_a_log_that_grows_in_another_process(tmp_path: Path, steps: int) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(PROGRAMS / "growing.py"), str(tmp_path / "run.gscope"), str(steps)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as producer:
        assert producer.stdout is not None
        assert producer.stdin is not None
        producer.stdout.readline()
        log = load(tmp_path / "run.gscope")
        assert (len(log), log.refresh(), log.closed) == (0, False, False)
        firsts = set()
        for count in (1, 1, 62, 1, 64, 900, 5000, 0, 12_000, 3):
            producer.stdin.write(f"{count}\n")
            producer.stdin.flush()
            end = int(producer.stdout.readline())
            assert log.refresh() == (count > 0)
            assert log.end == end
            firsts.add(log.first)
            kinds = log.column("kind")
            ops = np.flatnonzero(kinds == Kind.OP) + log.first
            steps_ended = np.flatnonzero(kinds == Kind.STEP) + log.first
            assert len(steps_ended) + len(ops) == len(log)
            assert log.rare().tolist() == steps_ended.tolist()
            for row in (ops[0], ops[len(ops) // 2], ops[-1]):
                assert np.all(log.value(int(row)) == row)
                assert log.event(int(row)).tensor == row
            if steps:
                assert len(steps_ended) >= min(steps, end // 11)
        assert (len(firsts) > 2) == bool(steps), "the ring lets go of old rows, and only the ring"
        producer.stdin.close()


@pytest.mark.slow
def test_a_reader_in_the_middle_keeps_what_it_holds_when_the_ring_drops_it(make, append) -> None:
    writer = make(keep_last=1, cap=1 << 20)
    append(writer, np.full(1000, 7.0))
    log = load(writer.path)
    value = log.value(0)
    for number in range(3000):
        append(writer, np.full(1000, float(number)))
        writer.step()
    assert log.first == 0
    assert np.all(value == 7)
    assert log.value(0) is None
    assert log.refresh()
    assert log.first > 0
    with pytest.raises(LogError, match="there is no row #0") as caught:
        log.event(0)
    assert caught.value.hint == f"rows are #{log.first} to #{log.end - 1}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "read",
    [
        lambda log, row: log.column("kind", row, row + 1),
        lambda log, row: log.pick("kind", np.array([row, 1, 4000])),
        lambda log, row: log.value(row),
    ],
    ids=["stretch", "scattered", "value"],
)
def test_memory_is_given_back_to_the_system_while_one_reads_bit_by_bit(make, append, monkeypatch, read) -> None:
    writer = make()
    for number in range(5000):
        append(writer, np.float32(number))
    log, released = load(writer.path), []
    monkeypatch.setattr(log, "release", lambda: released.append(None))
    monkeypatch.setattr(rows, "MOST_SEEN", 100 * rows.AROUND)
    for row in range(5000):
        read(log, row)
    assert not released, "all of it is little"
    monkeypatch.setattr(rows, "_LITTLE", 0)
    monkeypatch.setattr(rows, "AROUND", 1 << 10)
    monkeypatch.setattr(rows, "MOST_SEEN", 100 << 10)
    for row in range(5000):
        read(log, row)
    assert 40 <= len(released) <= 500


def hole(writer, count: int = 1) -> None:
    """Reserve rows as a thread does that is stopped before it writes them."""
    writer.segment.next_row += count


def test_holes(make, append) -> None:
    writer = make()
    for number in range(64):
        append(writer, np.float32(number))
    log = load(writer.path)
    hole(writer)
    assert not log.refresh(), "a row that is reserved is not there"
    after = append(writer, np.float32(7))
    assert log.refresh()
    assert log.end == after + 1
    assert log.value(after) == 7
    for unwritten in (64, -1, log.end, 1 << 40):
        with pytest.raises(LogError, match=f"there is no row #{unwritten}"):
            log.event(unwritten)
    assert log.column("kind").tolist() == [Kind.OP] * 64 + [0, Kind.OP]
    hole(writer, 900)
    last = append(writer, np.float32(8))
    hole(writer, 5)
    assert log.refresh()
    assert log.end == last + 1
    assert load(writer.path).end == last + 1


@pytest.mark.parametrize("seed", range(5))
def test_the_end_is_found_whatever_the_holes(make, append, seed: int) -> None:
    random.seed(seed)
    writer = make()
    follower = load(writer.path)
    last = -1
    for _ in range(200):
        for _ in range(random.choice((1, 5, 64, 130))):
            if random.random() < 0.1:
                hole(writer, random.choice((1, 2, 70)))
            else:
                last = append(writer, np.float32(1))
        follower.refresh()
        assert follower.end == last + 1
    assert load(writer.path).end == last + 1


def test_a_field_is_picked_out_of_any_rows(make, append) -> None:
    writer = make()
    for number in range(9000):
        append(writer, np.float32(number))
        if number % 1000 == 7:
            hole(writer, 3)
    log = load(writer.path)
    tensors = log.column("tensor").tolist()
    random = np.random.default_rng(1)
    for near in (9000, 300, 20):  # all over the log, and some far from the others, as leaves are
        rows = random.integers(log.end - near, log.end + 5, 200)
        rows[::9] = random.choice([-3, 0, 5, 4095, 4096, 1 << 40], len(rows[::9]))
        expected = [tensors[row] if 0 <= row < log.end else 0 for row in rows.tolist()]
        assert log.pick("tensor", rows).tolist() == expected
    assert log.pick("kind", rows[:0]).dtype == np.uint8


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True])
def test_users_are_all_that_take_a_row(make, append, wide: bool) -> None:
    random.seed(1)
    writer = make()
    taken: dict[int, list[tuple[int, int, int]]] = {}
    rows = [append(writer, np.float32(0))]
    for _ in range(9000):
        count = random.choice((0, 1, 2, 3, 4, 9) if wide else (0, 1, 2, 3))
        inputs = [(random.choice(rows[-50:] + rows[:3]), random.choice((0, 0, 1, 5))) for _ in range(count)]
        row = append(writer, np.float32(0), *inputs)
        for argument, (source, slot) in enumerate(inputs):
            taken.setdefault(source, []).append((row, slot, argument))
        rows.append(row)
    log = load(writer.path)
    for row in [*rows[:5], *random.sample(rows, 50), *rows[-3:]]:
        assert log.users(row) == taken.get(row, [])


def test_every_field_of_a_row(make) -> None:
    writer = make()
    site = writer.intern("sites", "s", {"file": "a.py", "line": 3, "column": 4, "end_line": 3, "end_column": 9})
    scope = writer.intern("scopes", "a", {"name": "model", "type": "Net", "parent": 0})
    inner = writer.intern("scopes", "b", {"name": "fc1", "type": "Linear", "parent": scope})
    op = writer.intern(
        "ops", "mul", {"name": "mul", "formula": "out = x · y", "vjp": ["g * y", "g * x"], "inputs": ["x", "y"]}
    )
    template = writer.template(
        Kind.GRAD,
        op=op,
        site=site,
        scope=inner,
        shape=(2, 3),
        dtype=np.dtype("f4"),
        attrs=writer.attributes({"dim": 1, "name": "c"}),
        version=5,
        graph_pass=1,
        input_count=2,
        flags=Flag.IN_PLACE | Flag.REQUIRES_GRAD,
    )
    value = np.arange(6, dtype="f4").reshape(2, 3)
    writer.append(template, value, 11)
    row = writer.append(template, value, 12, 34, 0, 0, (1 << 48) | 0, tensor=0)
    before = writer.clock()
    end = writer.finish(row, before - 99)
    assert before <= end <= writer.clock()
    log = load(writer.path)
    event = log.event(row)
    assert (event.kind, event.op, event.site, event.scope, event.version) == (Kind.GRAD, op, site, inner, 5)
    assert (event.shape, event.dtype, event.graph_pass, event.tensor, event.forward) == ((2, 3), "float32", 1, 0, 0)
    assert (event.time, event.duration) == (12, end - before + 99)
    assert (event.inputs, event.output_count) == (((0, 0), (0, 1)), 1)
    assert event.flags == Flag.IN_PLACE | Flag.REQUIRES_GRAD | Flag.KEPT
    assert log.op(op).vjp == ("g * y", "g * x")
    assert log.site(site).end_column == 9
    assert log.scope_path(inner) == "model.fc1"
    assert log.attrs(event.attrs) == {"dim": 1, "name": "c"}
    assert (log.op(0).name, log.site(0), log.scope(0), log.attrs(0), log.scope_path(0)) == ("", None, None, {}, "")
    with pytest.raises(LogError, match="row #1 has no slot 1"):
        log.value(row, 1)


def test_attributes_of_any_kind(make) -> None:
    writer = make()
    circular: dict[str, object] = {}
    circular["self"] = circular
    given = [
        {"x": float("nan")},
        {"x": {1, 2}},
        {1: 2, "a": 3},
        circular,
        {"x": "\ud800 ü"},
        {"x": 10**5000},
        {"x": b"\xff"},
    ]
    numbers = [writer.attributes(attrs) for attrs in given]
    assert len(set(numbers)) == len(given)
    log = load(writer.path)
    assert all(log.attrs(number) for number in numbers)
    assert log.attrs(numbers[4])["x"] == "? ü"


def test_attributes_whose_text_fails(make) -> None:
    class Mute:
        def __str__(self) -> str:
            raise RuntimeError

    writer = make()
    number = writer.attributes({"x": Mute(), "y": 1})
    assert load(writer.path).attrs(number) == {"x": "<Mute>", "y": 1}


@pytest.mark.slow
def test_plain_numpy_reads_a_log(make, append) -> None:
    writer = make(cap=5000)
    values = [np.random.default_rng(number).normal(size=(number % 40, 3)).astype("f4") for number in range(6000)]
    rows = [append(writer, value, *[(max(number - 1, 0), 0)] * 5) for number, value in enumerate(values)]
    writer.close()
    seen = 0
    for folder in sorted((writer.path / "segments").iterdir()):
        events = np.load(folder / "events.npy", mmap_mode="r")
        edges = np.load(folder / "edges.npy", mmap_mode="r")
        bytes_of_values = np.load(folder / "values.npy", mmap_mode="r")
        assert events.dtype == schema.EVENT
        assert np.load(folder / "rare.npy", mmap_mode="r").dtype == np.uint64
        assert np.load(folder / "outputs.npy", mmap_mode="r").dtype == schema.OUTPUT
        for index in np.flatnonzero(events["kind"]):
            row, event = int(folder.name) + int(index), events[index]
            start, count = event["inputs"][:2]
            assert edges[start : start + count]["node"].tolist() == [max(row - 1, 0)] * 5
            if event["flags"] & 64:
                size = values[row].nbytes
                found = bytes_of_values[event["value"] : event["value"] + size].view("f4").reshape(-1, 3)
                assert np.array_equal(found, values[row])
            seen += 1
    assert seen == len(rows)


def test_a_log_without_segments_is_empty(make) -> None:
    writer = make()
    for name in schema.SEGMENT_FILES:
        (writer.path / "segments/000000000000" / name).unlink()
    log = load(writer.path)
    assert isinstance(log, Log)
    assert (len(log), list(log.chunks()), log.first_nonfinite(), log.rare().tolist()) == (0, [], None, [])
    with pytest.raises(LogError, match="holds no events yet"):
        log.event(0)


def test_threads_that_read_one_log_find_what_it_says(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "run.gscope")
    shapes = [(number, number + 1) for number in range(400)]
    numbers = [writer.intern("shapes", shape, list(shape)) for shape in shapes]
    writer.close()
    expected = dict(zip(numbers, shapes, strict=True))
    found: list[dict[int, tuple[int, ...]]] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(10):
            log, together = load(tmp_path / "run.gscope"), threading.Barrier(4)

            def look(log: Log = log, together: threading.Barrier = together) -> None:
                together.wait()
                found.append({number: log.shape(number) for number in reversed(numbers)})

            threads = [threading.Thread(target=look) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(before)
    assert all(each == expected for each in found)
    assert len(found) == 40
