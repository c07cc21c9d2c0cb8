"""`python -m benchmarks [NAME...]` measures; `python -m benchmarks profile W2 recorded` shows where time goes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Final

from benchmarks import (
    adapter,
    compiled,
    log,
    memory,
    networks,
    observers,
    ops,
    overhead,
    pictures,
    planning,
    programs,
    recorders,
    report,
    results,
    screen,
)
from benchmarks.profile import profile
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
    "pictures": pictures.measure,
    "recorders": recorders.measure,
    "observers": observers.measure,
    "adapter": adapter.measure,
    "screen": screen.measure,
}
"""What can be measured."""


def main(arguments: list[str]) -> int:
    """Measure what is named, or all; show, keep and publish the results."""
    if arguments[:1] == ["profile"] and len(arguments) == 3:
        profile(arguments[1], arguments[2])
        return 0
    if unknown := [name for name in arguments if name not in GROUPS]:
        print(f"benchmarks: there is no {unknown[0]!r}: choose among {', '.join(GROUPS)}", file=sys.stderr)
        return 2
    names = arguments or list(GROUPS)
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
