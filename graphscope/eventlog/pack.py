"""Packing: one file of a log to send, with nothing in it that was only reserved."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.errors import LogError
from graphscope.eventlog import schema
from graphscope.eventlog.files import FolderFiles
from graphscope.eventlog.reader import Log
from graphscope.eventlog.schema import DTYPES, Flag

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
    if source.is_file():
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
            for table in sorted((source / "tables").glob("*.npy")):  # last: rows name only what is there already
                name = f"tables/{table.name}"
                _store(archive, name, _used(files.array(name, schema.BYTE)))
        part.replace(out)
    except OSError as error:
        raise LogError(f"can't write {out}: {error.strerror or error}", hint="name another place with -o") from error
    finally:
        part.unlink(missing_ok=True)
    return out


def _store_segment(archive: zipfile.ZipFile, log: Log, files: FolderFiles, folder: str) -> None:
    # One copy of the rows decides what goes with them, because more may be appended meanwhile.
    events = _used(files.array(f"{folder}/events.npy", schema.EVENT)).copy()
    _store(archive, f"{folder}/events.npy", events)
    others = {name: _used(files.array(f"{folder}/{name}", dtype)) for name, dtype in _ROWS.items()}
    for name, array in others.items():
        _store(archive, f"{folder}/{name}", array)
    values = files.array(f"{folder}/values.npy", schema.BYTE)
    if len(values):  # else the budget has dropped them
        _store(archive, f"{folder}/values.npy", values[: _values_end(log, events, others["outputs.npy"])])


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


def _values_end(log: Log, events: np.ndarray, outputs: np.ndarray) -> int:
    """Where the values end: that of the last value is known by its shape, for it may well end in zeros."""
    single = events[(events["several"] == 0) & (events["kind"] != 0)]
    return max(_end(log, single, single["flags"]), _end(log, outputs, outputs["storage"]))


def _end(log: Log, records: Any, storage: np.ndarray) -> int:
    # Values do not overlap: the one that begins last ends last.
    stored = (storage & int(Flag.KEPT | Flag.SUMMARY)) != 0
    if not stored.any():
        return 0
    records, storage = records[stored], storage[stored]
    latest = int(np.argmax(records["value"]))
    record = records[latest]
    if int(storage[latest]) & Flag.SUMMARY:
        size = schema.SUMMARY.itemsize
    else:
        code = int(record["dtype"])
        name = DTYPES[code] if code < len(DTYPES) else ""
        itemsize = 2 if name == "bfloat16" else np.dtype(name or "u1").itemsize
        size = math.prod(log.shape(int(record["shape"]))) * itemsize
    return int(record["value"]) + size
