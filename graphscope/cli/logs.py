"""The logs of a run, one for each of its ranks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from graphscope.cli.parser import SUFFIX, as_meant, find_log, is_place_of_logs
from graphscope.debugger.terminal_text import escape
from graphscope.errors import UsageError
from graphscope.eventlog.addresses import is_address
from graphscope.eventlog.notices import say
from graphscope.eventlog.unbegun import is_unbegun, what_it_is


def logs_of(named: Path | None) -> list[Path]:
    """The log that is named, or all ranks of the run: where it is the run that is named, a folder with it, or none."""
    log = find_log(named)
    is_itself = named is not None and (log == named or is_address(named))
    return [log] if is_itself else _begun(with_ranks(log))


def every_log(named: Path | None) -> list[Path]:
    """All logs in the folder that is named, and in the folders in it; else the log that is named, or its run.

    Raises:
        UsageError: There is none.
    """
    if named is None or is_address(named) or not is_place_of_logs(as_meant(named)):
        return logs_of(named)
    return _begun(_some(_within(as_meant(named)), [named]))


def _begun(logs: list[Path]) -> list[Path]:
    """Those of some logs that have begun, and a word about the others; all where none has."""
    unbegun = [log for log in logs if is_unbegun(log)]
    if len(unbegun) == len(logs):
        return logs
    for log in unbegun:
        say(escape(what_it_is(log)))
    return [log for log in logs if log not in unbegun]


def with_ranks(log: Path) -> list[Path]:
    """A log and those of the other ranks of its run; it alone where it is the only one."""
    from graphscope.eventlog.siblings import family, ranks_among

    ranks = ranks_among(family(log))
    return ranks if len(ranks) > 1 else [log]


def all_ranks(named: Sequence[Path]) -> list[Path]:
    """The logs of a run that are to be compared: those that are named, or the family of the one that is.

    Raises:
        LogError: What is named is none.
        UsageError: There are fewer than two, or one is named twice.
    """
    from graphscope.eventlog.reader import load

    if len(named) < 2:
        found = with_ranks(find_log(named[0] if named else None))
        if len(found) < 2:
            load(found[0])  # or it is said what else it is
            raise UsageError(
                f"{str(found[0])!r} is the log of one process alone",
                "`torchrun ... -m graphscope record SCRIPT` records each rank; logs of other names can all be named.",
            )
        return found
    found = [find_log(each) for each in named]
    for place, log in zip(named, found, strict=True):
        if place != log and not is_address(place) and len(with_ranks(log)) > 1:
            raise UsageError(
                f"{str(place)!r} has a run of several ranks, and is named beside others",
                "Name one run, or the log of each rank; `graphscope runs` puts runs side by side.",
            )
    seen: dict[Path, Path] = {}
    for log in found:
        if seen.setdefault(log.resolve(), log) is not log:
            raise UsageError(f"{str(log)!r} is named twice", "Name the log of each rank once.")
    return found


def runs_in(places: Sequence[Path]) -> list[tuple[Path, str, int]]:
    """The runs in some folders, or those that are named: the log that stands for each, its name, and how many ranks.

    Raises:
        UsageError: There is none.
    """
    from graphscope.eventlog.siblings import bare, family, ranks_among

    places = places or [Path()]
    logs = [log for place in places for log in (_within(place) if is_place_of_logs(place) else [find_log(place)])]
    runs: dict[Path, tuple[Path, int]] = {}
    for log in _some(logs, places):
        runs.setdefault(log.with_name(bare(log)), (log, max(len(ranks_among(family(log))), 1)))
    return [(log, str(run.with_suffix("")), ranks) for run, (log, ranks) in runs.items()]


def _some(logs: list[Path], places: Sequence[Path]) -> list[Path]:
    """The logs that were found in some places.

    Raises:
        UsageError: There is none.
    """
    if logs:
        return logs
    where = ", ".join(repr(str(place.resolve())) for place in places)
    raise UsageError(f"there is no recording (*{SUFFIX}) in {where}", "`graphscope record SCRIPT` makes one.")


def _within(folder: Path) -> list[Path]:
    """The logs in a folder and the folders in it, by name; what lies in a log is none, nor is a copy that is packed."""
    found = []
    for at, folders, files in os.walk(folder):
        logs = [name for name in folders if (Path(at, name) / "log.json").is_file() or is_unbegun(Path(at, name))]
        folders[:] = sorted(name for name in folders if name not in logs and not name.startswith("."))
        packed = [name for name in files if name.endswith(f"{SUFFIX}.zip") and name.removesuffix(".zip") not in logs]
        found += [Path(at, name) for name in (*logs, *packed)]
    return sorted(found)
