"""Python programs that a program starts by `subprocess`: each waits for a debugger of its own ahead of its work."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from graphscope.eventlog.own_files import is_own

Told = Callable[[str, int, str], None]
"""Hears of a process that was started: its name, its number, and where it waits."""

_FLAGS: Final = frozenset({"-B", "-O", "-OO", "-b", "-d", "-q", "-u", "-v"})
"""Options of Python ahead of a program that are passed on; with any other the program is left alone."""

_ROOT: Final = str(Path(__file__).resolve().parents[2])

_BEGIN: Final = f"import sys; sys.path.append({_ROOT!r}); from graphscope.cli import main; sys.exit(main())"
"""Runs graphscope in a Python that may have been given another path; it hides nothing that the program may import."""


@contextmanager
def held(told: Told, kept: Mapping[str, Any]) -> Iterator[None]:
    """For the time of a block, let Python programs of a person's own wait that are started in this interpreter.

    Args:
        told: Hears of each that was started.
        kept: What is recorded of them.
    """
    init, parent = subprocess.Popen.__init__, os.getpid()

    def opened(self: subprocess.Popen[Any], args: Any, *more: Any, **named: Any) -> None:
        program = _program(args, named) if os.getpid() == parent and not more else None
        if program is None:
            init(self, args, *more, **named)
            return
        folder = tempfile.mkdtemp(prefix="graphscope-")
        at = len(args) - len(program)
        options = [f"--{name}={value}" for name, value in kept.items()]
        begin = ["-c", _BEGIN, "debug", "--hold", folder, *options, *program]
        try:
            init(self, [*args[:at], *begin], **named)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.args = args
        told(Path(program[1 if program[0] == "-m" else 0]).name, self.pid, f"unix:{folder}/socket")

    subprocess.Popen.__init__ = opened  # type: ignore[method-assign]
    try:
        yield
    finally:
        subprocess.Popen.__init__ = init  # type: ignore[method-assign]


def _program(args: object, named: Mapping[str, Any]) -> list[str] | None:
    """The words of a command from a program of a person's own on; None where it runs no such program."""
    if not isinstance(args, Sequence) or isinstance(args, str | bytes) or not args:
        return None
    if named.get("shell") or named.get("executable") is not None or not all(isinstance(each, str) for each in args):
        return None
    if not _is_this_python(args[0], named.get("env") or os.environ):
        return None
    at = 1
    while at < len(args) and args[at] in _FLAGS:
        at += 1
    folder, words = Path(named.get("cwd") or ".").absolute(), list(args[at:])
    if len(words) > 1 and words[0] == "-m":
        module = folder / words[1].replace(".", "/")
        files = [module.with_name(f"{module.name}.py"), module / "__main__.py"]
    else:
        files = [folder / word for word in words[:1] if word.endswith(".py") and not word.startswith("-")]
    return words if any(file.is_file() and is_own(str(file)) for file in files) else None


def _is_this_python(word: str, environment: Mapping[str, str]) -> bool:
    """Whether a word of a command starts this interpreter, in the same virtual environment."""
    found = shutil.which(word, path=environment.get("PATH"))
    if found is None or not sys.executable:
        return False
    same = Path(found).absolute().parent == Path(sys.executable).parent
    return same and Path(found).samefile(sys.executable)
