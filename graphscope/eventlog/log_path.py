"""Where a log is made: in the place of a finished one, which is moved aside, or beside one that is written."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from graphscope.errors import LogError
from graphscope.eventlog import ownership, schema, unbegun
from graphscope.eventlog.interruptions import own


def make_room(path: Path) -> Path:
    """Where a log can be made: at `path`, from which a finished log is moved aside to `NAME-1.gscope` and so on; where
    another process records there, under such a name.

    Raises:
        LogError: Something that is no log is in the way, or can't be moved.
    """
    if not (path.exists() or path.is_symlink()):
        return path
    if not path.name:  # the folder that one is in, or the root
        raise _in_the_way(path)
    number = 1
    while (beside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
        number += 1
    if ownership.may_be_live(path):
        return beside
    try:
        names = {entry.name for entry in path.iterdir()} if path.is_dir() else {""}
        if "log.json" in names:
            path.rename(beside)
        elif names <= unbegun.PARTS and _holds_nothing(path):  # of one that was killed as it began
            shutil.rmtree(path)
        else:
            raise _in_the_way(path)
    except own(FileNotFoundError):  # another process was quicker
        return make_room(path)
    except own(OSError) as error:
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY):
            return make_room(path)
        raise LogError(
            f"can't record to {path}: {error.strerror or error}", hint="name another place with --log PATH"
        ) from error
    return path


def _holds_nothing(folder: Path) -> bool:
    """Whether there is nothing in the parts of a log but tables and segments of ours: no files of a person's."""
    tables, segments = ([*part.iterdir()] if part.exists() else [] for part in (folder / "tables", folder / "segments"))
    are_tables = all(each.suffix == ".npy" and each.name.partition("-")[0] in schema.TABLES for each in tables)
    return are_tables and not segments


def _in_the_way(path: Path) -> LogError:
    return LogError(f"{path} exists and is no log", hint="give another name with --log PATH")
