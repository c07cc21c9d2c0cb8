"""The logs of a run, one for each of its ranks."""

from __future__ import annotations

from pathlib import Path

from graphscope.cli.parser import SUFFIX, find_log


def logs_of(named: Path | None) -> list[Path]:
    """The log that is named, or all ranks of the run: where it is the run that is named, a folder with it, or none."""
    if named is not None and named.is_dir() and not (named / "log.json").exists() and any(named.glob(f"*{SUFFIX}")):
        return with_ranks(find_log(None, named))
    log = find_log(named)
    return [log] if named is not None and named.exists() else with_ranks(log)


def with_ranks(log: Path) -> list[Path]:
    """A log and those of the other ranks of its run; it alone where it is the only one."""
    from graphscope.eventlog.siblings import family, ranks_among

    ranks = ranks_among(family(log))
    return ranks if len(ranks) > 1 else [log]
