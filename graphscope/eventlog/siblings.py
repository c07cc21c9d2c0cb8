"""The logs of one run: every process that records has one of its own, beside the one that was requested."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from graphscope.eventlog.unbegun import is_unbegun

RUN: Final = "GRAPHSCOPE_RUN"
"""The variable of the environment by which a process finds the run that it was started in: `PID:PATH`."""

PACKED: Final = ".zip"

_ENDING = re.compile(r"-(?:rank|pid)\d{1,18}$")


def lead(path: Path) -> None:
    """Let processes that this one starts, if they record, do so beside this log."""
    os.environ[RUN] = f"{os.getpid()}:{path.absolute()}"


def place(path: Path | None) -> Path | None:
    """Where this process records: one of several ranks (under `torchrun`, for one) beside the path that all were given,
    a process of a run that was given no path beside the log of that run; else as asked.
    """
    rank = _rank()
    if path is not None:
        return _beside(path, rank) if rank else path
    leader, _, run = os.environ.get(RUN, "").partition(":")
    return _beside(Path(run), rank or f"pid{os.getpid()}") if run and leader != str(os.getpid()) else None


def siblings(path: Path) -> list[Path]:
    """The other logs of the run that a log belongs to, by name."""
    run = bare(path)
    try:
        found = [path.with_name(entry.name) for entry in path.parent.iterdir()]
    except OSError:
        return []
    return [each for each in sorted(found) if each != path and bare(each) == run and _is_log(each)]


def family(path: Path) -> list[Path]:
    """All logs of the run that a log belongs to (it need not exist itself), ranks in the order of their numbers."""
    found = [path] if _is_log(path) or path.is_file() else []
    return sorted([*found, *siblings(path)], key=lambda each: (len(title(each)), title(each)))


def unused(path: Path) -> Path:
    """A path, or one beside it that nothing is at yet."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def set_aside(log: Path) -> Path:
    """Give a log another name beside it, `NAME-1.gscope` and so on; its path then.

    Raises:
        OSError: It can't be moved.
    """
    number = 1
    while (beside := log.with_name(f"{log.stem}-{number}{log.suffix}")).exists():
        number += 1
    return log.rename(beside)


def move(log: Path, place: Path) -> None:
    """Move a log, and the others of its run, to another place, where they bear its name.

    Raises:
        OSError: They can't be moved there.
    """
    for each in family(log):
        shutil.move(each, place.with_name(each.name.replace(log.stem, place.stem, 1)))


def ranks_among(paths: Iterable[Path]) -> list[Path]:
    """Those of some logs that are ranks of one run, the run of the first."""
    ranks = [each for each in paths if title(each).startswith("rank ")]
    return [each for each in ranks if (each.parent, bare(each)) == (ranks[0].parent, bare(ranks[0]))]


def bare(path: Path) -> str:
    """The name of the run that a log belongs to: `run.gscope` of `run-rank1.gscope`."""
    stem, suffix = _parted(path)
    return f"{_ENDING.sub('', stem)}{suffix}"


def title(path: Path) -> str:
    """What to call a process of a run: `rank 1`, `process 4242`; empty for the one that leads it."""
    found = _ENDING.search(_parted(path)[0])
    return "" if found is None else found[0][1:].replace("rank", "rank ").replace("pid", "process ")


def _rank() -> str:
    """`rank3` of one of several ranks: as the launcher says, else as the group of PyTorch's that the program is in."""
    if "RANK" in os.environ:
        return f"rank{os.environ['RANK']}" if int(os.environ.get("WORLD_SIZE") or 1) > 1 else ""
    group: Any = sys.modules.get("torch.distributed")
    is_one = group is not None and group.is_available() and group.is_initialized() and group.get_world_size() > 1
    return f"rank{group.get_rank()}" if is_one else ""


def _beside(path: Path, which: str) -> Path:
    return path.with_name(f"{_ENDING.sub('', path.stem)}-{which}{path.suffix}")


def _parted(path: Path) -> tuple[str, str]:
    """The name of a log, and what follows: `.gscope`, or `.gscope.zip` of a packed one."""
    packed = path.suffix == PACKED
    stem = path.with_suffix("") if packed else path
    return stem.stem, f"{stem.suffix}{PACKED * packed}"


def _is_log(path: Path) -> bool:
    return path.is_file() if path.suffix == PACKED else (path / "log.json").is_file() or is_unbegun(path)
