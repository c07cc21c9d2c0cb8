"""Cures the sick programs of the gallery and the broken samples: does what the doctor says first, and asks it again.

python tests/gallery/cures.py                       # all of them (eight minutes on one core)
python tests/gallery/cures.py --only 07 23 broken/  # programs whose name begins so
python tests/gallery/cures.py --values summary

`cures.json` holds for each program what the finding is that is to go, and what was done at its line, as its cure says
it, by somebody who had not seen the twin. The exit status is 1 where a finding stays, or another one comes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from score import HERE, TWICE, Task, each_in_a_child, short

SAMPLES = HERE.parents[1] / "samples"


@dataclass(frozen=True)
class Edit:
    """Something that stands once in a line of a program, and what is to stand there."""

    file: str
    line: int
    old: str
    new: str


@dataclass(frozen=True)
class Cure:
    """What is to be done to a sick program."""

    program: str
    finding: str
    edits: tuple[Edit, ...]

    def copy(self, folder: Path) -> None:
        """Copy the program, whose main file is then `main.py`."""
        sample = SAMPLES / f"{self.program}.py"
        if sample.exists():
            folder.mkdir(parents=True)
            shutil.copy(sample, folder / "main.py")
        else:
            shutil.copytree(HERE / "sick" / self.program, folder)

    def write(self, folder: Path) -> None:
        """Make a copy of the program in which it is done."""
        self.copy(folder)
        for file, edits in groupby(self.edits, key=lambda edit: edit.file):
            path = folder / file
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            for edit in edits:
                line = lines[edit.line - 1]
                if line.count(edit.old) != 1:
                    raise ValueError(f"{self.program}/{file}:{edit.line} does not hold {edit.old!r} once")
                lines[edit.line - 1] = line.replace(edit.old, edit.new)
            path.write_text("".join(lines), encoding="utf-8")


def cures() -> list[Cure]:
    """The table."""
    entries = json.loads((HERE / "cures.json").read_text(encoding="utf-8"))
    return [
        Cure(entry["program"], entry["finding"], tuple(Edit(**edit) for edit in entry["edits"])) for entry in entries
    ]


def asked(cure: Cure, gallery: Path, values: str) -> list[str] | None:
    """What the doctor says of a program; None where it did not answer."""
    log = gallery / "logs" / f"{cure.program}.gscope"
    task = Task(gallery, cure.program, values, log, cure.finding == TWICE)
    each_in_a_child(Task.judge_once, [task], 1)
    case = task.case()
    return None if case is None or case.failed else [short(each) for each in case.findings]


def rows(chosen: Sequence[Cure], values: str) -> Iterator[tuple[bool, str]]:
    """A row of the table for each program, and whether it is as it should be."""
    for cure in chosen:
        with tempfile.TemporaryDirectory() as name:
            before, after = Path(name, "before"), Path(name, "after")
            cure.copy(before / cure.program)
            cure.write(after / cure.program)
            first, left = asked(cure, before, values), asked(cure, after, values)
        good = first is not None and bool(first) and first[0].startswith(f"{cure.finding} ") and left == []
        places = ", ".join(dict.fromkeys(f"{edit.file}:{edit.line}" for edit in cure.edits))
        stays = "no answer" if left is None else "; ".join(left) or "gone"
        yield good, f"| {cure.program} | {first[0] if first else 'nothing'} | {places} | {stays} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], help="beginnings of names")
    parser.add_argument("--values", default="full", help="what to keep of every value")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.dont_write_bytecode = True
    import torch.utils.data  # noqa: F401 - once, before the children are made

    chosen = [cure for cure in cures() if cure.program.startswith(tuple(options.only) or "")]
    print("| program | first finding | edited | after that |", "| --- | --- | --- | --- |", sep="\n", flush=True)
    well = []
    for good, row in rows(chosen, options.values):
        print(row, flush=True)
        well.append(good)
    print(f"\n{sum(well)} of {len(well)} cured, values {options.values}")
    sys.exit(not all(well))


if __name__ == "__main__":
    main()
