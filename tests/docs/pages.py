"""Reads the code blocks of a Markdown page, and runs them as a reader would."""

from __future__ import annotations

import doctest
import math
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[2]
PROMPT = re.compile(r"\(gs(?: PAST #\d+ of #\d+)?\) ")
"""What the console prints before it reads a command."""

_BLOCK = re.compile(r"^```(\w+)( torch| \w+\.py)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LIKE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line where it begins."""

    language: str
    text: str
    line: int
    torch: bool
    """Whether it takes PyTorch to run it."""
    file: str | None
    """What the file is called that the block is; it is not run by itself."""


_NOISE: Final = re.compile(
    r"^(?:\[Gloo\] |WARNING: All log messages before absl|[IW]0000 |To enable the following instr).*\n", re.MULTILINE
)
"""What some versions of PyTorch, and TensorFlow, print by themselves."""


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(found[1], found[3], text.count("\n", 0, found.start()) + 1, found[2] == " torch", _file(found[2]))
        for found in _BLOCK.finditer(text)
    ]


def _file(mark: str | None) -> str | None:
    return mark.strip() if mark is not None and mark.endswith(".py") else None


def assert_like(wanted: str, got: str, where: str) -> None:
    """Compare output as doctest does: `...` stands for anything, blanks count as one.

    The last digits of numbers may differ, as they do from processor to processor.
    """
    wanted, got = _stripped(wanted), _stripped(got)
    is_like = doctest.OutputChecker().check_output(wanted, got, _LIKE) or _is_close(wanted, got)
    assert is_like, f"{where}\n--- wanted\n{wanted}\n--- got\n{got}"


_NUMBER: Final = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")


def _is_close(wanted: str, got: str) -> bool:
    """Whether the texts are alike but for numbers with a point, and these about the same: sums are rounded."""
    pattern = "".join(_pattern(part) for part in re.split(rf"({_NUMBER.pattern}|\.\.\.|\s+)", wanted))
    found = re.fullmatch(pattern, got, re.DOTALL)
    numbers = map(float, _NUMBER.findall(wanted))
    return found is not None and all(
        math.isclose(one, float(other), rel_tol=2e-6, abs_tol=1e-7)
        for one, other in zip(numbers, found.groups(), strict=True)
    )


def _pattern(part: str) -> str:
    if part == "...":
        return ".*?"
    if _NUMBER.fullmatch(part):
        return rf"({_NUMBER.pattern})"
    return r"\s+" if part.isspace() else re.escape(part)


def run_console(block: Block, folder: Path, where: str) -> None:
    """Run each `$ command` of a block and compare what it prints. Lines behind a prompt of the debugger are typed."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, wanted = part.partition("\n")
        typed = [text[shown.end() :] for text in wanted.splitlines() if (shown := PROMPT.match(text))]
        result = subprocess.run(
            _words(line),
            cwd=folder,
            input="".join(f"{text}\n" for text in typed),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(folder), "COLUMNS": "100", "NO_COLOR": "1"},
        )
        assert_like(wanted, _NOISE.sub("", result.stdout), f"{where}: $ {line}")


def _words(line: str) -> list[str]:
    program, *rest = shlex.split(line, comments=True)
    commands = {"graphscope": [sys.executable, "-m", "graphscope"], "python": [sys.executable]}
    return [*commands[program], *rest]


def _stripped(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"
