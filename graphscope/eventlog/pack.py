"""Packing: one file of a log to send, with nothing in it that was only reserved."""

from __future__ import annotations

import contextlib
import math
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import schema, step_series
from graphscope.eventlog.addresses import is_address
from graphscope.eventlog.files import FolderFiles
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import ELEMENTS, Flag

_ALIGNMENT: Final = 64
"""Every member begins at a multiple of so many bytes: a mapped array is aligned, as numpy's own header sees to it."""

_ZIP64_FROM: Final = 1 << 31
_PADDING_ID: Final = 0xD935
"""Extra field of padding, as Android's zipalign uses it; readers skip it."""

_ROWS: Final = {
    "edges.npy": schema.EDGE,
    "outputs.npy": schema.OUTPUT,
    "rare.npy": schema.ROW_NUMBER,
}

_SERIES: Final = {step_series.NAME: step_series.SERIES, step_series.NORMS_NAME: step_series.NORMS}


def pack(source: Path, target: Path | None = None) -> Path:
    """Store a recorded log in one zip file, uncompressed, so that it can be mapped as it is.

    Args:
        source: The folder of the log; it may still grow.
        target: The file to make; it appears when it is complete. None: the log's name and `.zip`, beside it.

    Returns:
        The file made.

    Raises:
        LogError: `source` is no log or packed already, or `target` exists or can't be written.
    """
    if source.is_file() or is_address(source):
        raise LogError(f"{source} is packed already", hint="only the folder of a recording can be packed")
    files = FolderFiles(source)
    log = Log(files)
    out = source.with_name(f"{source.name}.zip") if target is None else target
    if out.exists():
        raise LogError(f"{out} exists", hint="remove it, or name another file with -o")
    part = out.with_name(f"{out.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            _store(archive, "log.json", (source / "log.json").read_bytes())
            for _, folder in files.segments():
                _store_segment(archive, log, files, folder)
            for name, dtype in _SERIES.items():
                if files.exists(name):
                    _store(archive, name, _used(files.array(name, dtype)).copy())
            for table in sorted((source / "tables").glob("*.npy")):  # last: rows name only what is there already
                name = f"tables/{table.name}"
                _store(archive, name, _used(files.array(name, schema.BYTE)))
        part.replace(out)
    except OSError as error:
        raise LogError(f"can't write {out}: {error.strerror or error}", hint="name another place with -o") from error
    finally:
        with contextlib.suppress(OSError):  # of a disk that can't be written
            part.unlink(missing_ok=True)
    return out


def _store_segment(archive: zipfile.ZipFile, log: Log, files: FolderFiles, folder: str) -> None:
    # One copy of the rows decides what goes with them, because more may be appended meanwhile.
    events = _used(files.array(f"{folder}/events.npy", schema.event_of(log.metadata["format"]))).copy()
    others = {name: _used(files.array(f"{folder}/{name}", dtype)).copy() for name, dtype in _ROWS.items()}
    values = files.array(f"{folder}/values.npy", schema.BYTE)
    stored = [
        *_stored(log, events, np.where((events["several"] == 0) & (events["kind"] != 0), events["flags"], 0)),
        *_stored(log, others["outputs.npy"], others["outputs.npy"]["storage"]),
    ]
    gap, end = _gap(stored)
    values = np.concatenate([values[: gap.start], values[gap.stop : end]])  # a copy: they may be dropped meanwhile
    if files.exists(f"{folder}/values.npy"):  # else the budget has dropped them
        for records, places, _ in stored:
            behind = places[records["value"][places] >= gap.stop]
            records["value"][behind] -= np.uint64(len(gap))
        _store(archive, f"{folder}/values.npy", values)
    _store(archive, f"{folder}/events.npy", events)
    for name, array in others.items():
        _store(archive, f"{folder}/{name}", array)


def _store(archive: zipfile.ZipFile, name: str, content: bytes | np.ndarray) -> None:
    """Add a member; its date is fixed, so that the same log gives the same file."""
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o644 << 16
    large = len(content) * (1 if isinstance(content, bytes) else content.itemsize) >= _ZIP64_FROM
    begin = archive.fp.tell() if archive.fp is not None else 0
    # Local header (30), name, zip64 field (20), and the padding with its own 4 bytes of id and length.
    padding = -(begin + 30 + len(name) + (20 if large else 0) + 4) % _ALIGNMENT
    member.extra = _PADDING_ID.to_bytes(2, "little") + padding.to_bytes(2, "little") + bytes(padding)
    with archive.open(member, "w", force_zip64=large) as file:
        if isinstance(content, bytes):
            file.write(content)
        else:
            np.lib.format.write_array(file, content, version=(1, 0), allow_pickle=False)


def _used(array: np.ndarray) -> np.ndarray:
    """The array without the zeroed elements at its end: no committed element is all zero."""
    memory = array.view(np.uint8)
    end = len(memory)
    while end > 0 and not memory[max(end - 65536, 0) : end].any():
        end -= 65536
    if end <= 0:
        return array[:0]
    start = max(end - 65536, 0)
    last = start + int(np.flatnonzero(memory[start:end])[-1])
    return array[: last // array.dtype.itemsize + 1]


Stored = tuple[Any, np.ndarray, np.ndarray]
"""Records, the places of those whose values lie in `values.npy`, and how many bytes each of these takes."""


def _stored(log: Log, records: Any, storage: np.ndarray) -> list[Stored]:
    places = np.flatnonzero(storage & int(Flag.KEPT | Flag.SUMMARY))
    chosen = records[places]
    shapes, which = np.unique(chosen["shape"], return_inverse=True)
    counts = np.array([math.prod(log.shape(int(shape))) for shape in shapes], np.int64)
    itemsizes = np.array([each.itemsize for each in ELEMENTS], np.int64)
    codes = np.minimum(chosen["dtype"], len(ELEMENTS) - 1)
    sizes = counts[which] * itemsizes[codes] if len(places) else np.zeros(0, np.int64)
    summaries = (storage[places] & int(Flag.SUMMARY)) != 0
    return [(records, places, np.where(summaries, schema.SUMMARY.itemsize, sizes))]


def _gap(stored: list[Stored]) -> tuple[range, int]:
    """The widest stretch between values, and where the last one ends: values fill a segment from both sides."""
    starts = np.concatenate([records["value"][places].astype(np.int64) for records, places, _ in stored])
    sizes = np.concatenate([sizes for _, _, sizes in stored])
    if len(starts) == 0:
        return range(0), 0
    order = np.argsort(starts, kind="stable")
    starts, ends = np.append(0, starts[order]), np.append(0, starts[order] + sizes[order])
    reached = np.maximum.accumulate(-(-ends // schema.ALIGNMENT) * schema.ALIGNMENT)
    widest = int(np.argmax(starts[1:] - reached[:-1]))
    begin, end = int(reached[widest]), int(starts[widest + 1])
    return range(begin, max(begin, end)), int(ends.max())
