"""A lesson: a text beside a page that plays, both of one recording of a sample."""

from __future__ import annotations

import io
import re
import runpy
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal

import graphscope as gs
from graphscope.eventlog.reader import Log

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent

_PROGRAM: Final = re.compile(r"```python (samples/\w+\.py)\n.*?^```$", re.MULTILINE | re.DOTALL)
"""The block of a text that its program stands in."""
_VIEW: Final = re.compile(r"\]\(([\w-]+\.(\w+)-(\w+)\.svg)\)")
"""A picture of another view, of one name of the program: `a-sum.chain-x.svg`."""
_SHOWN: Final = re.compile(r'""".*?"""\n+(.*?)\n+(?=print\()', re.DOTALL)
"""What of a sample a lesson shows: not what it is about, and not how it says what came out."""
_IMPORT: Final = "import graphscope as torch"

Framework = Literal["graphscope", "torch"]
"""Whose engine runs a program."""


@dataclass(frozen=True)
class Lesson:
    """A text in this folder that names a sample."""

    file: Path
    sample: str

    @property
    def name(self) -> str:
        """What its picture and its page are called."""
        return self.file.stem

    @property
    def text(self) -> str:
        """The text as it stands in its file."""
        return self.file.read_text(encoding="utf-8")

    def with_program(self) -> str:
        """The text with the program as the sample has it now."""
        shown = _SHOWN.match((ROOT / self.sample).read_text(encoding="utf-8"))
        if shown is None:
            raise ValueError(f"{self.sample} is to begin with a docstring and to print what came out")
        return _PROGRAM.sub(lambda _: f"```python {self.sample}\n{shown[1]}\n```", self.text)

    def draw(self, log: Log, folder: Path) -> None:
        """Write the pictures of the text."""
        gs.export(log, folder / f"{self.name}.svg", overlay=True)
        for file, view, name in _VIEW.findall(self.text):
            gs.export(log, folder / file, view=view, select=f"name:{name}")

    @contextmanager
    def recorded(self, framework: Framework = "graphscope") -> Iterator[Log]:
        """Its sample, recorded for as long as somebody looks at it."""
        program = (ROOT / self.sample).read_text(encoding="utf-8")
        with TemporaryDirectory() as folder:
            file = Path(folder, self.sample)
            file.parent.mkdir()
            file.write_text(program.replace(_IMPORT, "import torch") if framework == "torch" else program, "utf-8")
            # By a relative path, so that no page bears those of this machine.
            with chdir(folder), gs.record("run.gscope") as log, redirect_stdout(io.StringIO()):
                runpy.run_path(self.sample, run_name="__main__")
            yield log


def lessons() -> list[Lesson]:
    """Every lesson, in the order of the list in `README.md`."""
    order = re.findall(r"\]\((\w[\w-]*\.md)\)", (HERE / "README.md").read_text(encoding="utf-8"))
    return [lesson for name in dict.fromkeys(order) if (lesson := lesson_of(HERE / name))]


def lesson_of(file: Path) -> Lesson | None:
    """The lesson that a text is; None where it names no sample."""
    found = _PROGRAM.search(file.read_text(encoding="utf-8"))
    return found and Lesson(file, found[1])
