"""A packed log says what its folder says, in one file that is mapped in place."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from graphscope.errors import LogError
from graphscope.eventlog import schema
from graphscope.eventlog.pack import pack
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.loading import load as open_any


@pytest.fixture
def recorded(make, append) -> Path:
    writer = make(cap=2000, budget=3 << 20)
    for number in range(3000):
        inputs = [(max(number - 1, 0), 0)] * (number % 5)
        append(writer, np.full(number % 600, number, "f4"), *inputs, attrs=writer.attributes({"name": f"n{number}"}))
    writer.mark(Kind.PRINT, text="the end")
    append(writer, np.zeros(200))
    writer.close()
    return writer.path


def same(one: Log, other: Log, *, moved: bool = False) -> None:
    assert (one.first, one.end, one.closed) == (other.first, other.end, other.closed)
    for name in set(schema.EVENT.names or ()) - ({"value"} if moved else set()):
        assert np.array_equal(one.column(name), other.column(name))
    assert one.rare().tolist() == other.rare().tolist()
    for row in range(one.first, one.end, 7):
        assert one.event(row) == other.event(row)
        mine, theirs = one.value(row), other.value(row)
        assert (mine is None) == (theirs is None)
        assert mine is None or np.array_equal(mine, theirs)
        assert one.summary(row) == other.summary(row)
        assert one.nonfinite(row) == other.nonfinite(row)
    for name in schema.TABLES:
        assert one.table(name) == other.table(name)


def test_the_room_between_small_and_large_values_is_left_out(make, append, tmp_path: Path) -> None:
    writer = make()
    for number in range(300):
        append(writer, np.full(10 if number % 3 else 30_000, number, "f4"))
    both = writer.template(Kind.OP, shape=(3,), dtype=np.dtype("f4"), several=True)
    kept = writer.template(Kind.OP, shape=(3,), dtype=np.dtype("f4")).keep
    writer.append_wide(both, [(np.arange(3, dtype="f4"), kept), (np.ones(40_000, "f4"), kept)], [])
    writer.close()
    packed = pack(writer.path, tmp_path / "small.zip")
    same(load(writer.path), load(packed), moved=True)
    assert packed.stat().st_size < 1.1 * (100 * 120_000 + 160_000) + 300 * 200


def test_it_says_the_same(recorded: Path) -> None:
    packed = pack(recorded)
    assert packed == recorded.with_name("run.gscope.zip")
    same(load(recorded), load(packed))
    last = load(packed)
    assert last.value(last.end - 1).tolist() == [0] * 200, "a value of zeros is no reserve"
    assert not list(recorded.parent.glob("*.part"))


def test_it_holds_what_was_written_and_no_reserve(make, append) -> None:
    writer = make()
    append(writer, np.arange(100.0))
    assert pack(writer.path).stat().st_size < 10_000


@pytest.mark.slow
def test_arrays_are_aligned_and_plain(recorded: Path, tmp_path: Path) -> None:
    packed = pack(recorded, tmp_path / "out.zip")
    content = packed.read_bytes()
    with zipfile.ZipFile(packed) as archive:
        assert archive.testzip() is None
        for member in archive.infolist():
            assert member.compress_type == zipfile.ZIP_STORED
            data = archive.read(member)
            assert content.find(data) % 64 == 0 or member.filename == "log.json"
            if member.filename.endswith(".npy"):
                np.load(io.BytesIO(data))
    value = load(packed).value(2999 // 4)
    assert value is None or value.__array_interface__["data"][0] % schema.ALIGNMENT == 0


def test_the_same_log_gives_the_same_file(recorded: Path, tmp_path: Path) -> None:
    one, other = pack(recorded, tmp_path / "one.zip"), pack(recorded, tmp_path / "two.zip")
    assert hashlib.sha256(one.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest()


def test_a_log_that_still_grows(make, append) -> None:
    writer = make()
    for number in range(100):
        append(writer, np.full(9, number), (max(number - 1, 0), 0))
    packed = load(pack(writer.path))
    append(writer, np.zeros(9))
    assert (packed.end, packed.closed, packed.refresh()) == (100, False, False)
    assert packed.value(99).tolist() == [99] * 9


def test_what_can_not_be_packed(recorded: Path, tmp_path: Path) -> None:
    packed = pack(recorded)
    before = packed.read_bytes()
    with pytest.raises(LogError, match="exists"):
        pack(recorded)
    assert packed.read_bytes() == before
    with pytest.raises(LogError, match="is packed already"):
        pack(packed)
    with pytest.raises(LogError, match=r"is no log: there is no log\.json"):
        pack(tmp_path)
    with pytest.raises(LogError, match="can't write"):
        pack(recorded, tmp_path / "nowhere" / "out.zip")


def test_a_zip_of_a_newer_kind_is_refused_with_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "newer.gscope.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("log.json", "{}")
    content = bytearray(path.read_bytes())
    needed = content.rindex(b"PK\x01\x02") + 6
    content[needed] = 99
    path.write_bytes(content)
    with pytest.raises(LogError, match=r"a zip of a newer kind than Python .* reads: zip file version 9\.9"):
        open_any(path)
