"""Opening what was kept: a log or a state dict, distinguished by what the file is."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

from graphscope.errors import StateError
from graphscope.eventlog.addresses import is_address


def load(f: Any, map_location: Any = None, **options: Any) -> Any:
    """Open a log, or read what `save` wrote, any other `.safetensors` file, or a file of `torch.save`.

    Args:
        f: The folder or packed file of a log, or the URL of such a file; or a file of tensors, by path or open for
            reading.
        map_location: Where PyTorch would put the tensors; here they are on the CPU.
        **options: Others that PyTorch takes, such as `weights_only`; here no file ever runs code.

    Raises:
        LogError: There is nothing there, or it is a log that can't be read.
        StateError: It holds objects other than tensors, numbers, text and containers of these; it is a bare pickle,
            damaged, or neither a log nor a file of tensors.
    """
    if hasattr(f, "read"):
        return _read(f, getattr(f, "name", "the file"))
    if is_address(f):
        return _log(f)
    where = Path(os.fspath(f))
    if not where.is_file():
        return _log(where)
    with where.open("rb") as file:
        head = file.read(9)
        if head[8:] == b"{" or head[:2] != b"PK" or _holds_pickle(where):
            file.seek(0)
            return _read(file, str(where))
    return _log(where)


def _log(where: str | os.PathLike[str]) -> Any:
    from graphscope.eventlog.reader import load as open_log

    return open_log(where)


def _read(file: Any, name: str) -> Any:
    from graphscope.engine.serialization.archives import read_archive
    from graphscope.engine.serialization.safetensors import read

    start = file.tell()
    head = file.read(9)
    file.seek(start)
    if _is_pickle(head):
        raise StateError(
            f"{name} is a bare pickle, as torch.save wrote it before version 1.6: it could run code, so it is refused",
            hint="where PyTorch is: torch.save(torch.load(old), new), and load that",
        )
    return read_archive(file, name) if head[:2] == b"PK" else read(file, name)


def _is_pickle(head: bytes) -> bool:
    return head[:1] == b"\x80" and head[8:] != b"{"


def _holds_pickle(where: Path) -> bool:
    try:
        with zipfile.ZipFile(where) as archive:
            return any(name.endswith("data.pkl") for name in archive.namelist())
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return False
