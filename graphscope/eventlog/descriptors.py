"""Open files that a recording holds, in a program that may close what it does not know and open files of its own."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from graphscope.eventlog.interruptions import own

SCARCE: Final = (errno.EMFILE, errno.ENFILE)
"""What is said where no more files can be opened, for a while."""


class Descriptor:
    """A number that is ours as long as it means the file that it meant at first."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._file = _identity(os.fstat(number))

    @property
    def is_unchanged(self) -> bool:
        """Whether the file is still open under this number."""
        try:
            return self.number >= 0 and _identity(os.fstat(self.number)) == self._file
        except own(OSError):
            return False

    def is_at(self, path: Path) -> bool:
        """Whether it is the file that is found at a path now."""
        return _identity(path.stat()) == self._file

    def close(self) -> None:
        """Close the file, if it is open, and nothing else."""
        if self.is_unchanged:
            os.close(self.number)
        self.number = -1


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino
