"""`graphscope diff` with a baseline: a small file of what a run did, to be committed beside a program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from graphscope.cli.json_output import print_json
from graphscope.cli.report_output import print_report
from graphscope.errors import UsageError

SUFFIX: Final = ".json"
PARTED: Final = 1
NOTHING_TO_COMPARE: Final = 2

_OF_LOGS: Final = {"exact": "--exact", "out": "-o", "screen": "--screen", "atol": "--atol", "map": "--map"}
"""Options that need the values of both sides."""


def is_baseline(named: str | None) -> bool:
    """Whether what is to be compared is such a file."""
    return named is not None and Path(named).suffix == SUFFIX


def save_baseline(options: argparse.Namespace, log: Path) -> int:
    """Write one."""
    from graphscope import compare
    from graphscope.eventlog.reader import load

    kept = compare.save_baseline(load(log), options.save_baseline)
    name = options.save_baseline
    told = f"{len(kept.nodes)} nodes and {len(kept.course)} steps are kept in {name}"
    print(f"graphscope: {told} (compare with it: graphscope diff {name} {options.a})", file=sys.stderr)
    return 0 if kept.nodes else NOTHING_TO_COMPARE


def check(options: argparse.Namespace) -> None:
    """Refuse what can't be said of one, ahead of any run."""
    if options.save_baseline is not None and options.b is not None:
        raise UsageError("--save-baseline keeps one run, and there are two", f"Leave {options.b!r} out.")
    if not is_baseline(options.a):
        return
    if options.b is None:
        raise UsageError("there is no log to compare", f"For example: graphscope diff {options.a} train.py")
    for name, option in _OF_LOGS.items():
        if getattr(options, name):
            raise UsageError(f"{option} compares two logs, and a baseline holds no values", f"Leave {option} out.")
    if not Path(options.a).exists():
        raise UsageError(f"there is no baseline {options.a!r}", "graphscope diff --save-baseline FILE LOG writes one.")


def compare_with_baseline(options: argparse.Namespace, log: Path) -> int:
    """Print where a run parts from one."""
    from graphscope.compare import departure, read_baseline
    from graphscope.eventlog.reader import load

    found = departure(read_baseline(options.a), load(log), options.rtol)
    if options.json:
        print_json(found)
    else:
        print_report(found.lines)
    return PARTED if found else NOTHING_TO_COMPARE if not found.matched else 0
