"""Addresses of logs that lie elsewhere, `s3://bucket/run.gscope.zip`, in the place of paths."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]+):/+", re.IGNORECASE)  # a drive of Windows has one letter


class Address(type(Path())):  # type: ignore[misc]
    """A path that reads as a URL: paths keep one slash of several."""

    def __str__(self) -> str:
        return _SCHEME.sub(_with_slashes, super().__str__(), count=1)

    def __fspath__(self) -> str:
        return str(self)


def _with_slashes(scheme: re.Match[str]) -> str:
    return f"{scheme[1]}:{'///' if scheme[1] == 'file' else '//'}"  # a host's name stands between the second and third


def is_address(path: str | os.PathLike[str]) -> bool:
    """Whether a path names something that does not lie in a file system of this machine."""
    text = os.fspath(path)
    return _SCHEME.match(text) is not None and not Path(text).exists()
