"""Damage logs at random and read all of each: it opens in part, or is refused with a LogError; nothing else happens."""

import contextlib
import json
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import traceback
import warnings
import zipfile
from pathlib import Path

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import arguments, retention, schema, writer
from graphscope.eventlog.pack import pack
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.typed import Dtype, Input, spelled

EXTREMES = (0, 1, 2, 3, 127, 255, 256, 4096, *(1 << bits for bits in (31, 47, 62, 63)), 65535, 2**32 - 1, 2**64 - 1)
HOSTILE = (
    b"[" * 100_000,
    b"[" + b"9" * 5000 + b"]",
    b"[-1]",
    b"[1e400, NaN]",
    b"[" + b"1," * 5000 + b"1]",
    b"[9223372036854775807, 9223372036854775807]",
    b"[0, 4611686018427387903]",
    b"[4611686018427387903, 0]",
    b'{"name": ["x"], "vjp": 7, "inputs": {"a": 1}, "parent": 1, "line": "x", "file": null}',
    b'{"name": "\\u0000\\ud800../../etc", "parent": -5, "type": {}}',
    b'{"file": "/etc/passwd", "line": 1e99, "function": "__import__(\'os\').system(\'x\')"}',
    b"null",
    b"\xff\xfe",
    b"",
)
NAMES = ("999999999999", "000000000001", "000000000023", "000016777000", "00000000000x", "٠" * 12, "0", "-00000000001")
METADATA = (
    b"",
    b"[]",
    b"null",
    b"7",
    b"{}",
    b'{"format": "1"}',
    b'{"format": 99}',
    b'{"format": -1}',
    b'{"format": true}',
    b'{"format": 1}',
    b'{"format": 1e400}',
    b'{"format": 1, "finished": {"a": []}, "argv": 7, "created": "now"}',
    b"\xff\xff",
    b"[" * 100_000,
    b'{"format": ' + b"1" * 5000 + b"}",
)


def record(path: Path) -> None:
    """A small log with all there is: two segments, edges, several slots, summaries, marks."""
    retention.FIRST_ROWS = retention.MOST_ROWS = 24
    log = writer.Writer(path, cap=64)
    dtypes = ["f4", "f8", "f2", "i8", "u1", "?", "c8"]
    rows = [0]
    for number in range(40):
        shape = [(), (2,), (3, 2), (40,), (0,)][number % 5]
        value = (np.arange(np.prod(shape, dtype=int)).reshape(shape) + number).astype(dtypes[number % 7])
        if number % 11 == 3:
            value = np.full((5, 5), np.nan)
        given = (1, Input(0), (slice(0, number), ..., np.arange(3)), Dtype("int8"), 1e9 * number)
        told = arguments.entry(given, {"dim": number, "how": {"x": [2.5, None]}}, range(number % 4))
        attrs = log.attributes({"name": f"n{number}", **told})
        site = log.intern("sites", number, {"file": "a.py", "line": number, "column": 1, "function": "f"})
        op = log.intern("ops", number % 3, {"name": f"op{number % 3}", "formula": "x", "vjp": ["g"], "inputs": ["x"]})
        scope = log.intern("scopes", number % 4, {"name": f"s{number % 4}", "type": "T", "parent": number % 4})
        fields = {"attrs": attrs, "site": site, "op": op, "scope": scope}
        kind = (Kind.OP, Kind.GRAD, Kind.ACCUMULATE, Kind.LEAF)[number % 4]
        one = log.template(kind, shape=value.shape, dtype=value.dtype, input_count=number % 6, **fields)
        if number % 5 == 2:
            several = log.template(kind, shape=value.shape, dtype=value.dtype, several=True, **fields)
            row = log.append_wide(several, [(value, one.keep), (value, one.keep)], [(rows[-1], 1)])
        elif number % 6 > 3:
            row = log.append_wide(
                one, [(value, one.keep)], [(rows[-1 - back % len(rows)], 0) for back in range(number % 6)]
            )
        else:
            row = log.append(one, value, 1, 2, rows[-1], rows[-1], rows[0])
        rows.append(row)
        if number % 9 == 0:
            log.mark(Kind.PRINT, text="hello", inputs=(row,))
    log.intern("sources", "a.py", {"file": "a.py", "text": "x = 1\n"})
    log.close()


def base() -> dict[str, bytes]:
    """The files of that log, without what was only reserved."""
    with tempfile.TemporaryDirectory() as folder:
        record(Path(folder) / "log")
        with zipfile.ZipFile(pack(Path(folder) / "log")) as archive:
            return {member: archive.read(member) for member in archive.namelist()}


def a_file(files: dict[str, bytes], *words: str) -> str:
    return random.choice([name for name in files if not words or any(word in name for word in words)] or ["log.json"])


def flip(files: dict[str, bytes]) -> None:
    name = a_file(files)
    data = bytearray(files.get(name, b""))
    for _ in range(random.choice((1, 3, 30))):
        if data:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    files[name] = bytes(data)


def cut(files: dict[str, bytes]) -> None:
    name = a_file(files)
    files[name] = files.get(name, b"")[: random.randrange(len(files.get(name, b"")) + 1)]


def lengthen(files: dict[str, bytes]) -> None:
    name = a_file(files)
    files[name] = files.get(name, b"") + random.choice((b"\0" * 5000, b"\xff" * 5000, random.randbytes(3000)))


def fill(files: dict[str, bytes]) -> None:
    name = a_file(files)
    data = files.get(name, b"")
    start = random.randrange(len(data) + 1)
    size = min(random.choice((1, 8, 96, 1000)), len(data) - start)
    files[name] = data[:start] + random.choice((b"\0", b"\xff")) * size + data[start + size :]


def swap(files: dict[str, bytes]) -> None:
    one, other = a_file(files), a_file(files)
    files[one], files[other] = files.get(other, b""), files.get(one, b"")


def lose(files: dict[str, bytes]) -> None:
    files.pop(a_file(files), None)


def foreign(files: dict[str, bytes]) -> None:
    files[a_file(files)] = random.choice((b"", b"\x7fELF" * 99, b"PK\x03\x04" * 9, b"\x80\x04cos\nsystem\n", b"{}"))


def rename(files: dict[str, bytes]) -> None:
    old = a_file(files, "segments/").split("/")[1]
    new = random.choice(NAMES)
    for name in [name for name in files if f"/{old}/" in name]:
        files[name.replace(f"/{old}/", f"/{new}/")] = files.pop(name) if random.random() < 0.7 else files[name]


def header(files: dict[str, bytes]) -> None:
    name = a_file(files, ".npy")
    data = files.get(name, b"")
    text = data[10:128]
    text = random.choice(
        (
            text.replace(b"(", b"(" * 60),
            b"{'descr': '|O', 'fortran_order': False, 'shape': (9,), }\n",
            b"{'descr': '<f4', 'fortran_order': False, 'shape': (9,), }\n",
            text.replace(b"False", b"True "),
            b"(" * 3000,
            b"__import__('os').system('false')\n",
            text.replace(b"(", b"(-"),
            text.replace(b",)", b"99999999,)"),
            text.replace(b",)", b"9" * 40 + b",)"),
            text.replace(b",)", b",2,)"),
        )
    )
    start = random.choice((b"\x93NUMPY\x01\x00", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00", b"\x93NUMPY\x01\x01"))
    length = random.choice((len(text), len(text), 0, 65535))
    files[name] = start + struct.pack("<H", length) + text + data[128:]


def field(files: dict[str, bytes]) -> None:
    name = a_file(files, "events.npy", "edges.npy", "outputs.npy", "rare.npy")
    dtypes = {"events": schema.EVENT, "edges": schema.EDGE, "outputs": schema.OUTPUT, "rare": schema.ROW_NUMBER}
    dtype = dtypes.get(name.split("/")[-1].split(".")[0], schema.BYTE)
    data = bytearray(files.get(name, b""))
    start = data.find(b"\n") + 1
    array = np.frombuffer(data, dtype, (len(data) - start) // dtype.itemsize, start)
    for _ in range(random.choice((1, 5, 40))):
        if len(array):
            chosen = array if dtype.names is None else array[random.choice(dtype.names)]
            place = chosen.reshape(len(array), -1)[random.randrange(len(array))]
            place[random.randrange(len(place))] = random.choice(EXTREMES) & ((1 << (8 * place.itemsize)) - 1)
    del array
    files[name] = bytes(data)


def entries(files: dict[str, bytes]) -> None:
    name = a_file(files, "tables/")
    data = files.get(name, b"")
    start = data.find(b"\n") + 1
    made = b""
    for _ in range(random.choice((1, 5, 30))):
        text = random.choice(HOSTILE)
        made += struct.pack("<I", random.choice((len(text), len(text), len(text), 1 << 31, 0))) + text
    body = made + data[start:] if random.random() < 0.5 else data[start:] + made
    head = np.lib.format.header_data_from_array_1_0(np.zeros(len(body), "u1"))
    files[name] = data[:10] + repr(head).encode().ljust(117) + b"\n" + body if random.random() < 0.1 else npy(body)


def npy(body: bytes) -> bytes:
    text = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(body)},), }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def metadata(files: dict[str, bytes]) -> None:
    files["log.json"] = random.choice(METADATA)


DAMAGES = (
    flip,
    flip,
    cut,
    lengthen,
    fill,
    swap,
    lose,
    foreign,
    rename,
    header,
    header,
    *(field, entries) * 3,
    metadata,
)


def as_folder(files: dict[str, bytes], path: Path) -> None:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    if random.random() < 0.1:
        victim = path / a_file(files)
        victim.unlink(missing_ok=True)
        victim.parent.mkdir(parents=True, exist_ok=True)
        act = random.choice((os.mkfifo, os.mkdir, lambda it: it.symlink_to(it), lambda it: it.symlink_to("/dev/zero")))
        act(victim)


def as_zip(files: dict[str, bytes], path: Path) -> None:
    how = random.choice((zipfile.ZIP_STORED,) * 6 + (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(path, "w", how) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
            if random.random() < 0.02:
                archive.writestr("/" + name, data)
                archive.writestr("../../" + name, data)
    data = bytearray(path.read_bytes())
    what = random.random()
    if what < 0.3:  # the directory at the end, where the sizes and places of the members are
        for _ in range(random.choice((1, 3, 10))):
            data[random.randrange(max(len(data) - 2500, 0), len(data))] = random.randrange(256)
    elif what < 0.45:
        data = data[: random.randrange(len(data) + 1)]
    elif what < 0.6:
        data = bytearray(random.randbytes(random.randrange(300))) + data
    elif what < 0.7:
        place = data.find(b"PK\x01\x02")
        data[place + 20 : place + 28] = b"\xff" * 8
    path.write_bytes(data)
    if random.random() < 0.02:
        warnings.simplefilter("ignore")  # of a member that is there already
        with contextlib.suppress(Exception), zipfile.ZipFile(path, "a") as archive:  # it may be no zip by now
            archive.writestr(a_file(files), b"again")


def read_all(log: Log, folder: bool) -> None:
    assert isinstance(log.metadata, dict)
    assert isinstance(repr(log) + str(log.closed), str)
    assert 0 <= log.first <= log.end
    assert len(log) == log.end - log.first
    for name in schema.EVENT.names:
        assert len(log.column(name)) == len(log)
    assert all(log.first <= row < log.end for row in log.rare().tolist())
    log.first_nonfinite()
    rows = {
        *range(log.first, min(log.first + 80, log.end)),
        *range(max(log.end - 20, log.first), log.end + 2),
        -1,
        1 << 70,
    }
    for row in rows:
        try:
            event = log.event(row)
        except LogError:
            continue
        assert log.inputs(row) == event.inputs
        assert all(isinstance(length, int) and length >= 0 for length in event.shape)
        for number in (event.op, event.site, event.scope, event.attrs, event.thread):
            log.op(number), log.site(number), log.scope(number), log.scope_path(number), log.shape(number)
            assert isinstance(log.attrs(number), dict)
            assert isinstance(log.thread(number), dict)
        told = log.arguments(row)
        spelled([told.operands, dict(told.attributes)])
        for slot in range(min(len(log.outputs(row)), 3)):
            value = log.value(row, slot)
            assert value is None or (
                isinstance(value, np.ndarray) and not value.flags.writeable and value.sum() is not None
            )
            log.summary(row, slot)
        log.nonfinite(row)
        with contextlib.suppress(LogError):
            log.value(row, 7)
    for row in random.sample(sorted(rows), min(6, len(rows))):
        log.users(row)
    for name in schema.TABLES:
        log.table(name)
    log.source("a.py")
    log.refresh()
    if folder and random.random() < 0.3:
        with contextlib.suppress(LogError):
            load(pack(log.path)).column("kind")


def main() -> None:
    seed, start, count = map(int, sys.argv[1:4])
    np.seterr(all="ignore")
    intact = base()
    opened = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(start, start + count):
            random.seed(f"{seed}/{number}")
            files = dict(intact)
            for _ in range(random.choice((1, 1, 2, 4))):
                random.choice(DAMAGES)(files)
            path = Path(folder) / f"{number}.gscope"
            packed = random.random() < 0.35
            (as_zip if packed else as_folder)(files, path)
            signal.alarm(120)  # ends the process: that is a hang
            Path("last.txt").write_text(f"{seed}/{number}")
            try:
                read_all(load(path), not packed)
                opened += 1
            except LogError:
                pass
            except Exception:
                traceback.print_exc()
                raise SystemExit(f"log {number} of seed {seed}") from None
            finally:
                signal.alarm(0)
            for made in (path, Path(folder) / f"{number}.gscope.zip"):
                shutil.rmtree(made, ignore_errors=True)
                made.unlink(missing_ok=True)
    print(json.dumps({"opened": opened, "refused": count - opened}))


main()
