"""`python -m benchmarks [NAME...]` measures; `python -m benchmarks profile W2 recorded` shows where time goes."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import partial
from typing import Final

from benchmarks import (
    adapter,
    cold_start,
    compiled,
    cuda_models,
    deep,
    diff,
    doctor,
    jax_recorders,
    left_out,
    log,
    long,
    long_run,
    memory,
    models,
    networks,
    observers,
    ops,
    overhead,
    pictures,
    planning,
    programs,
    query,
    ranks,
    recorders,
    report,
    results,
    screen,
    tensorflow_recorders,
)
from benchmarks.engines import CANDIDATES
from benchmarks.profile import NAMES, profile
from benchmarks.workloads import WORKLOADS

GROUPS: Final[dict[str, Callable[[], list[results.Measurement]]]] = {
    **{name: partial(programs.measure, workload) for name, workload in WORKLOADS.items()},
    **{
        f"compiled {name}": partial(programs.measure, workload, compiled.CANDIDATES)
        for name, workload in WORKLOADS.items()
    },
    "planning": planning.measure,
    "overhead": overhead.measure,
    "ops": ops.measure,
    "networks": networks.measure,
    "memory": memory.measure,
    "append": log.append,
    "open": log.reading,
    "doctor": doctor.measure,
    "long": long.measure,
    "deep": deep.measure,
    "diff": diff.measure,
    "pictures": pictures.measure,
    "recorders": recorders.measure,
    "recorders of JAX": jax_recorders.measure,
    "recorders of TensorFlow": tensorflow_recorders.measure,
    "models": models.measure,
    cuda_models.GROUP: cuda_models.measure,
    "left out": left_out.measure,
    "long run": long_run.measure,
    "cold start": cold_start.measure,
    "observers": observers.measure,
    "adapter": adapter.measure,
    "screen": screen.measure,
    "query": query.measure,
    "ranks": ranks.measure,
}
"""What can be measured."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        usage="%(prog)s [-h] [NAME ...]\n       %(prog)s profile WORKLOAD CANDIDATE",
        description="Measure what is named, or all; show the results, keep them, and write docs/benchmarks.md.",
        epilog=f"NAME is one of: {_listed(GROUPS)}. `profile` shows where the time of one candidate goes: "
        f"WORKLOAD is one of {_listed(WORKLOADS)}, CANDIDATE one of {_listed([*NAMES, *CANDIDATES])}.",
        allow_abbrev=False,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; default: everything")
    return parser


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(shlex.quote, dict.fromkeys(names)))


def _check(parser: argparse.ArgumentParser, what: str, name: str, known: Iterable[str]) -> None:
    """Refuse a name that means nothing."""
    known = list(known)
    if name not in known:
        close = get_close_matches(name, known, n=1)
        cure = f"did you mean {close[0]!r}?" if close else f"choose among {_listed(known)}"
        parser.error(f"there is no {what} {name!r}: {cure}")


def main(arguments: list[str]) -> int:
    """Measure what is named, or all; show, keep and publish the results.

    Raises:
        SystemExit: The arguments ask for help, or are not understood.
    """
    parser = _parser()
    names = parser.parse_args(arguments).names or list(GROUPS)
    if names[0] == "profile":
        if len(names) != 3:
            parser.error("profile takes a workload and a candidate")
        _check(parser, "workload", names[1], WORKLOADS)
        _check(parser, "candidate", names[2], [*NAMES, *CANDIDATES])
        profile(names[1], names[2])
        return 0
    for name in names:
        _check(parser, "benchmark", name, GROUPS)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # who installs a package has its modules compiled
    groups = results.read()
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        groups[name] = GROUPS[name]()
        results.write(groups)
    report.show(groups, names)
    report.write_page(groups)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
