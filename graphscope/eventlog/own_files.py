"""Which source files are the program's own: neither graphscope's nor Python's nor those of installed packages."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_MOST_MODULES: Final = 256
_INSTALLED: Final = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")

_PYTHON: Final = f"{Path(os.__file__).parent}{os.sep}"
"""Where Python's own modules lie; to ask `sysconfig` takes milliseconds."""

_PACKAGE: Final = str(Path(__file__).resolve().parent.parent) + os.sep


@functools.lru_cache(maxsize=4096)
def is_internal(filename: str) -> bool:
    """Whether a source file is part of graphscope itself."""
    return filename.startswith(_PACKAGE) or filename in ("<frozen runpy>", contextlib.__file__)


@functools.lru_cache(maxsize=4096)
def is_own(file: str) -> bool:
    """Whether a file is the program's: what a person typed in has one as well."""
    if is_internal(file) or file.startswith(("<frozen", _PYTHON)):
        return False
    return not any(part in file for part in _INSTALLED)


def modules_beside(files: Iterable[str]) -> list[tuple[str, dict[str, object]]]:
    """The files of loaded modules in the folders of some files, and below; each with its module's variables."""
    folders = {f"{Path(file).parent}{os.sep}" for file in files if Path(file).is_absolute() and is_own(file)}
    if not folders:
        return []
    near, found = tuple(folders), []
    for module in [*sys.modules.values()]:
        variables = getattr(module, "__dict__", {})
        file = variables.get("__file__")
        if isinstance(file, str) and file.endswith(".py") and file.startswith(near) and is_own(file):
            found.append((file, variables))
    return found[:_MOST_MODULES]
