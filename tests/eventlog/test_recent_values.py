"""A large value that a segment holds already lies there once, and every row reads the value that it was given."""

from __future__ import annotations

import random

import numpy as np

from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.segment import LARGE

SIZE = 3 * LARGE


def test_the_same_value_lies_there_once(make, append) -> None:
    writer = make()
    before = writer.segment.value_end
    value = np.random.default_rng(0).standard_normal(SIZE)
    rows = [append(writer, value), append(writer, np.ones(4)), append(writer, value.reshape(2, -1))]
    assert value.nbytes <= before - writer.segment.value_end < 2 * value.nbytes
    log = load(writer.path)
    assert log.event(rows[0]).shape != log.event(rows[2]).shape
    for row in rows[::2]:
        np.testing.assert_array_equal(log.value(row).reshape(-1), value)
    places = log.column("value")
    assert places[rows[0]] == places[rows[2]]


def test_slots_of_a_node_lie_where_the_same_values_do(make, append) -> None:
    writer = make()
    first, second = np.random.default_rng(1).standard_normal((2, SIZE))
    append(writer, first)
    before = writer.segment.value_end
    template = writer.template(Kind.OP, shape=first.shape, dtype=first.dtype, several=True)
    keep = writer.template(Kind.OP, shape=first.shape, dtype=first.dtype).keep
    row = writer.append_wide(template, [(first, keep), (second, keep)], [])
    assert before - writer.segment.value_end == second.nbytes
    log = load(writer.path)
    np.testing.assert_array_equal(log.value(row, 0), first)
    np.testing.assert_array_equal(log.value(row, 1), second)


def test_values_that_differ_in_a_byte_or_in_their_size_are_told_apart(make, append) -> None:
    writer, pick = make(), random.Random(0)
    content = bytearray(np.random.default_rng(2).integers(0, 256, SIZE, np.uint8).tobytes())
    given = {}
    for _ in range(400):
        if pick.random() < 0.7:
            content[pick.randrange(SIZE)] ^= 1 << pick.randrange(8)
        value = np.frombuffer(bytes(content), np.uint8)[: SIZE - pick.randrange(2)]
        given[append(writer, value)] = value
    log = load(writer.path)
    for row, value in given.items():
        np.testing.assert_array_equal(log.value(row), value)


def test_segments_share_no_values(make, append) -> None:
    writer = make()
    value = np.random.default_rng(3).standard_normal(SIZE)
    first = append(writer, value)
    while writer.segment.first <= first:
        append(writer, None)
    last = append(writer, value)
    log = load(writer.path)
    np.testing.assert_array_equal(log.value(last), value)
    next(writer.path.glob("segments/000000000000/values.npy")).unlink()
    np.testing.assert_array_equal(load(writer.path).value(last), value)


def test_large_values_begin_where_pages_do_if_that_leaves_little_empty(make, append) -> None:
    writer, pick = make(), np.random.default_rng(4)
    sizes = [LARGE + 8, 1 << 16, 100_000, LARGE + 24, 1 << 14, LARGE + 8, 3 << 15, 40_000]
    given = [pick.integers(0, 256, size, np.uint8) for size in sizes]
    before = writer.segment.value_end
    rows = [append(writer, value) for value in given]
    template = writer.template(Kind.OP, shape=given[1].shape, dtype=given[1].dtype, several=True)
    keep = writer.template(Kind.OP, shape=given[1].shape, dtype=given[1].dtype).keep
    slots = [given[1][::-1].copy(), given[2][::-1].copy()]
    several = writer.append_wide(template, [(slot, keep) for slot in slots], [])
    taken = before - writer.segment.value_end
    assert taken <= (sum(sizes) + sum(slot.nbytes for slot in slots)) * 9 / 8 + 16 * len(sizes)
    log = load(writer.path)
    content = np.load(writer.path / "segments" / f"{0:012d}" / "values.npy", mmap_mode="r")
    ahead = content.offset
    for row, value in zip(rows, given, strict=True):
        place = int(log.column("value")[row])
        np.testing.assert_array_equal(content[place : place + value.size], value)
        assert (place + ahead) % 4096 == 0 or value.nbytes < 8 * 4096
    for number, slot in enumerate(slots):
        np.testing.assert_array_equal(log.value(several, number), slot)
