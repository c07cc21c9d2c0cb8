"""What the runs of some logs are called, and which rank of its run each log is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from graphscope.errors import ExportError
from graphscope.eventlog.siblings import bare, title


@dataclass(frozen=True, slots=True)
class Part:
    """A log as a part of each table."""

    log: Path
    run: str
    rank: int

    @property
    def folder(self) -> Path:
        """Its folder within that of a table, as engines read partitions off names."""
        return Path(f"run={_escaped(self.run)}", f"rank={self.rank}")


def parts(logs: Sequence[Path]) -> list[Part]:
    """Each log with its run and rank; runs of one name are told apart by the folders that they lie in.

    Raises:
        ExportError: Two logs are the same rank of one run.
    """
    where = [_unpacked(path.resolve()) for path in logs]
    runs = [path.parent / Path(bare(path) if title(path).startswith("rank ") else path.name).stem for path in where]
    kinds = set(runs)
    is_plain = len({run.name for run in kinds}) == len(kinds)
    above = Path(os.path.commonpath([run.parent for run in kinds])) if kinds else Path()
    names = [run.name if is_plain else "-".join(run.relative_to(above).parts) for run in runs]
    found = [Part(log, name, _rank(path)) for log, name, path in zip(logs, names, where, strict=True)]
    seen: dict[Path, Path] = {}
    for part in found:
        other = seen.setdefault(part.folder, part.log)
        if other is not part.log:
            raise ExportError(
                f"{other} and {part.log} are both rank {part.rank} of the run {part.run}",
                "name each log once, or give one another name",
            )
    return found


def _escaped(run: str) -> str:
    """A run's name as engines read it back; Spark takes each escaped byte for a letter: none is beyond ASCII."""
    name = os.fsencode(run).decode(errors="replace")  # engines read no names that are not UTF-8
    return "".join(quote(letter, safe="") if letter.isascii() else letter for letter in name)


def _unpacked(path: Path) -> Path:
    """The log that `graphscope pack` made a file of."""
    return path.with_suffix("") if path.suffix == ".zip" else path


def _rank(path: Path) -> int:
    kind, _, number = title(path).partition(" ")
    return int(number) if kind == "rank" else 0
