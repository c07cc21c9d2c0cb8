"""What a log lets go of: old steps under `steps`, old values under `budget`; and how much disk it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphscope as gs
from graphscope.eventlog import retention
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.graph.outline.steps import steps
from graphscope.graph.series.every_step import every_step


def disk(path: Path) -> int:
    return sum(found.stat().st_blocks * 512 for found in path.rglob("*") if found.is_file())


def test_a_small_recording_takes_little_disk(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope"):
        a = gs.tensor([1.0, 2.0], requires_grad=True)
        (a * 2.0).sum().backward()
    assert disk(tmp_path) < 2_000_000


@pytest.mark.parametrize("size", [100, 10_000])
def test_a_first_segment_takes_the_disk_that_its_values_fill(make, append, size: int) -> None:
    writer = make()
    held = []
    for number in range(2000):
        append(writer, np.full(size, number, "f4"))
        if (number + 1) * size * 4 > len(held) << 21:
            held.append((len(held) << 21, disk(writer.path / "segments" / f"{0:012d}")))
        if number * size * 4 > 20 << 20:
            break
    assert all(filled < taken < filled + (8 << 20) for filled, taken in held)
    log = load(writer.path)
    assert len(list(log.chunks())) == 1
    assert all(np.all(log.value(row) == row) for row in range(log.end))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "rows", "size"), [(1, 5, 10), pytest.param(3, 8, 300, marks=pytest.mark.slow), (20, 3, 1)]
)
def test_the_newest_steps_are_kept_on_a_disk_that_stays_flat(make, append, steps: int, rows: int, size: int) -> None:
    writer = make(keep_last=steps)
    used = []
    for step in range(10_000):
        for _ in range(rows):
            append(writer, np.full(size, step, "f4"))
        writer.step()
        if step % 500 == 499:
            used.append(disk(writer.path))
    assert max(used) < 8_000_000
    assert used[-1] <= max(used[: len(used) // 2])
    log = load(writer.path)
    ends = np.flatnonzero(log.column("kind") == Kind.STEP) + log.first
    assert len(ends) >= steps
    for back in range(steps):
        end = int(ends[-1 - back])
        for row in range(end - rows, end):
            assert np.all(log.value(row) == 9999 - back)
    assert not list((writer.path / "segments").glob("*.*"))


@pytest.mark.slow
def test_a_step_larger_than_a_segment_is_kept_whole(make, append) -> None:
    writer = make(keep_last=2)
    for step in range(5):
        for _ in range(3000):
            append(writer, np.full(100, step, "f4"))
        writer.step()
    log = load(writer.path)
    kinds = log.column("kind")
    ends = np.flatnonzero(kinds == Kind.STEP) + log.first
    assert log.first <= ends[-1] - 2 * 3001
    for row in range(int(ends[-1]) - 2 * 3001 + 1, int(ends[-1]), 100):
        value = log.value(row)
        assert value is None or value[0] in (3, 4)


@pytest.mark.slow
def test_the_budget_takes_the_oldest_values_and_no_event(make, append) -> None:
    writer = make(budget=8 << 20, cap=1 << 20)
    rows = [append(writer, np.full(10_000, number, "f4")) for number in range(2000)]
    values = sum(found.stat().st_size for found in writer.path.rglob("values.npy"))
    assert values <= 8 << 20
    log = load(writer.path)
    assert len(log) == len(rows)
    kept = [log.value(row) is not None for row in rows]
    assert kept == sorted(kept), "the oldest go first"
    assert 100 < sum(kept) < 210
    assert all(np.all(log.value(row) == number) for number, row in enumerate(rows) if kept[number])
    assert log.event(rows[0]).shape == (10_000,)


@pytest.mark.slow
def test_budget_and_steps_together(make, append) -> None:
    writer = make(budget=1 << 22, keep_last=2)
    for _ in range(200):
        for number in range(20):
            append(writer, np.full(1000, number, "f4"))
        writer.step()
    assert disk(writer.path) < 7_000_000
    log = load(writer.path)
    assert np.count_nonzero(log.column("kind") == Kind.STEP) >= 2
    assert log.first > 0


@pytest.mark.slow
def test_a_ring_holds_no_more_than_its_budget_and_says_where_that_is_less_than_a_step(make, append, capfd) -> None:
    writer = make(budget=1 << 23, keep_last=2)
    most = 0
    for step in range(64):
        for number in range(20 if step < 60 else 600):
            append(writer, np.append(np.full(4999, step, "f4"), np.float32(number)))
        writer.step()
        most = max(most, disk(writer.path / "segments"))
        if step == 59:
            assert capfd.readouterr().err == ""
    assert most <= 1 << 23
    told = "graphscope: the newest 2 steps take more than the budget of 8,388,608 bytes: the log has the newest part of"
    assert capfd.readouterr().err == f"{told} them\n"
    log = load(writer.path)
    assert np.all(log.value(log.end - 2)[:-1] == 63)


@pytest.mark.slow
def test_a_request_while_segments_are_dropped_is_heard(make, append, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = make(keep_last=1)
    remove = retention._remove

    def asks(folder: Path) -> None:  # as a signal does that comes in the middle
        monkeypatch.setattr(retention, "_remove", remove)
        writer.remark()
        remove(folder)

    monkeypatch.setattr(retention, "_remove", asks)
    kept = 0
    for _ in range(60):
        for _ in range(300):
            append(writer, np.zeros(1000, "f4"))
        writer.step()
        if retention._remove is remove:
            kept = kept or load(writer.path).first
    assert kept
    assert load(writer.path).first == kept


def test_a_value_larger_than_the_budget(make, append) -> None:
    writer = make(budget=1000, cap=1 << 30)
    rows = [append(writer, np.full(1 << 20, number)) for number in range(3)]
    log = load(writer.path)
    assert [log.value(row) is None for row in rows] == [True, True, False]
    assert np.all(log.value(rows[-1]) == 2)


def test_rows_beside_values_larger_than_the_budget_take_little_room(make, append) -> None:
    writer = make(budget=1 << 20, cap=1 << 20)
    for number in range(200):
        append(writer, np.full(1 << 16, number, np.float64))
    files = [path for path in writer.path.rglob("*") if path.is_file()]
    assert sum(512 * path.stat().st_blocks for path in files) < 16 << 20  # of 100 MiB that were written


@pytest.mark.slow
def test_a_small_budget_of_a_program_with_large_parameters_keeps_few_segments_that_tell_the_truth(
    tmp_path: Path,
) -> None:
    numbers = np.random.default_rng(0).standard_normal((128, 40_000), np.float32)  # 20 MB
    with gs.record(tmp_path / "run.gscope", budget=1 << 20) as log:
        weights = [gs.tensor(each, requires_grad=True) for each in numbers]
        for step in range(200):
            for each in range(4):
                weights[(4 * step + each) % 128].sum().backward()
            gs.step()
    log.refresh()
    assert len(list(log.chunks())) < 10
    held = sum(found.stat().st_size for found in (tmp_path / "run.gscope").rglob("values.npy"))
    assert held <= 1 << 20
    forward = [node for node in log.graph.select("op:sum") if node.graph_pass == "forward"]
    sums = [node for node in forward if node.row >= log.dropped]
    assert len(sums) > 100
    means = numbers.mean(axis=1, dtype=np.float64)
    for node in sums:
        leaf = node.inputs[0].source
        statistics = log.summary(leaf.row)
        assert log.value(leaf.row) is None
        assert statistics is not None
        which = np.argmin(np.abs(numbers.max(axis=1) - statistics.maximum) + np.abs(means - statistics.mean))
        assert (statistics.minimum, statistics.maximum) == (numbers[which].min(), numbers[which].max())
        assert float(node.value) == pytest.approx(float(numbers[which].sum(dtype=np.float64)), abs=1e-2)


@pytest.mark.slow
def test_leaves_are_written_again_in_each_segment(tmp_path: Path) -> None:
    with gs.record(tmp_path / "run.gscope", keep_last=3) as log:
        weight = gs.tensor([1.0, 2.0], requires_grad=True)
        for _ in range(2000):
            (weight * 3.0).sum().backward()
            gs.step()
    log.refresh()
    assert log.first > 0
    firsts = [first for first, _ in log.chunks()]
    for row in range(log.first, log.end):
        event = log.event(row)
        segment = max(first for first in firsts if first <= row)
        if event.kind == Kind.OP and log.op(event.op).name == "mul":
            ((source, _),) = event.inputs[:1]
            assert source >= segment, "the leaf is in the same segment"
            assert log.event(source).kind == Kind.LEAF
            assert log.attrs(log.event(source).attrs)["name"] == "weight"
            assert log.value(source).tolist() == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("size", "budget"), [(100, 4 << 20), (30_000, 8 << 20)])
def test_a_reader_of_a_log_that_grows_never_sees_newer_values_in_old_rows(make, append, size: int, budget: int) -> None:
    writer = make(budget=budget, cap=1 << 20)
    log = load(writer.path)
    far = 2 * budget // (4 * size) // 7
    held = []
    seen = dropped = 0
    for number in range(min(20 * budget // (4 * size), 30_000)):
        row = append(writer, np.full(size, number, "f4"))
        if number % 7 == 0:
            log.refresh()
            held.append((row, number, log.value(row)))
        if number % 31 == 0:
            row, number_then, array = held[max(len(held) - 1 - number * 7919 % far, 0)]
            again = log.value(row)
            assert np.all(array == number_then), "what a reader holds stays as it was"
            assert again is None or np.all(again == number_then)
            seen += again is not None
            dropped += again is None
    assert seen > 10
    assert dropped > 10
    assert disk(writer.path) < 60 << 20


def test_room_that_is_written_again_and_again_holds_what_was_written_last(make, append) -> None:
    writer = make(budget=4 << 20, cap=1 << 20)
    sizes = [7, 1_000, 50_000, 200_000]
    rows = [append(writer, np.full(sizes[number % 4], number, "f4")) for number in range(400)]
    log = load(writer.path)
    values = {number: log.value(row) for number, row in enumerate(rows)}
    kept = [number for number, value in values.items() if value is not None and sizes[number % 4] > 7]
    assert len(kept) > 5
    assert kept[0] > 300, "the budget went round many times"
    for number in kept:
        assert np.array_equal(values[number], np.full(sizes[number % 4], number, "f4"))


@pytest.mark.slow
def test_the_step_behind_rows_that_have_gone_does_not_begin_with_what_was_held(make, append) -> None:
    writer = make(keep_last=2)
    for step in range(2500):
        for _ in range(7):
            append(writer, np.full(3, step, "f4"))
        writer.step()
        if step == 100:
            writer.remark()
    log = load(writer.path)
    (gap,) = log.gaps()
    found = steps(log)
    assert not np.any((found.first < gap) & (found.last >= gap))
    for first, last in zip(found.first.tolist(), found.last.tolist(), strict=True):
        told = {float(value[0]) for row in range(first, last) if (value := log.value(row)) is not None}
        assert len(told) == 1


@pytest.mark.slow
def test_the_series_knows_losses_of_steps_that_fill_more_than_a_segment(tmp_path: Path) -> None:
    losses = []
    with gs.record(tmp_path / "run.gscope", keep_last=1, budget=1 << 23, cap=1 << 20) as log:
        weight = gs.tensor(np.linspace(0.5, 1.5, 60_000), requires_grad=True)
        optimizer = gs.optim.SGD([weight], lr=0.1)
        for step in range(12):
            optimizer.zero_grad()
            loss = ((weight * weight).exp().log() * weight).sum()
            for _ in range(step % 6):  # a segment may end between the loss and its backward pass, too
                weight.detach() * 2.0
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    log.refresh()
    assert log.first > 0
    assert every_step(log)["loss"].tolist() == losses
