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

_ROWS: Final = {
    "events.npy": schema.EVENT,
    "edges.npy": schema.EDGE,
    "outputs.npy": schema.OUTPUT,
    "rare.npy": schema.ROW_NUMBER,
}


def pack(path: Path, out: Path) -> int:
    """Store a recorded log in one zip file, uncompressed, so that it can be mapped as it is.

    Args:
        path: The folder of the log.
        out: The file to make; it appears when it is complete.

    Returns:
        The size of the file in bytes.

    Raises:
        LogError: The log is packed already, or `out` exists or can't be written.
    """
    if not path.is_dir():
        raise LogError(f"{path} is packed already", hint="only the folder of a recording can be packed")
    if out.exists():
        raise LogError(f"{out} exists", hint="remove it, or name another file with -o")
    files = FolderFiles(path)
    log = Log(files)
    part = out.with_name(f"{out.name}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_STORED) as archive:
            archive.write(path / "log.json", "log.json")
            for table in sorted((path / "tables").glob("*.npy")):
                name = f"tables/{table.name}"
                _store(archive, name, _used(files.array(name, schema.BYTE)))
            for _, folder in files.segments():
                for name, dtype in _ROWS.items():
                    _store(archive, f"{folder}/{name}", _used(files.array(f"{folder}/{name}", dtype)))
                _store(archive, f"{folder}/values.npy", _used_values(log, files, folder))
        part.replace(out)
    except OSError as error:
        raise LogError(f"can't write {out}: {error.strerror or error}", hint="name another place with -o") from error
    finally:
        part.unlink(missing_ok=True)
    return out.stat().st_size


def _store(archive: zipfile.ZipFile, name: str, array: np.ndarray) -> None:
    with archive.open(name, "w", force_zip64=True) as member:
        np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


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


def _used_values(log: Log, files: FolderFiles, folder: str) -> np.ndarray:
    """The bytes of values up to the end of the last value: a value may well end in zeros."""
    values = files.array(f"{folder}/values.npy", schema.BYTE)
    events = files.array(f"{folder}/events.npy", schema.EVENT)
    outputs = files.array(f"{folder}/outputs.npy", schema.OUTPUT)
    single = events[events["several"] == 0]
    ends = [_end(log, single, single["flags"]), _end(log, outputs, outputs["storage"])]
    return values[: max(ends)]


def _end(log: Log, records: Any, storage: np.ndarray) -> int:
    """Where the values end that lie in `values.npy`. Values do not overlap: the one that begins last ends last."""
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
