"""A fresh process that opens a log and asks it three things: `python -m benchmarks.reading LOG ROW` prints JSON."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path


def private_bytes() -> int | None:
    """Memory that is this process's own, mapped files left out; None where the system does not tell."""
    try:
        text = Path("/proc/self/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return None
    return sum(
        int(kilobytes) << 10 for kilobytes in re.findall(r"^Private_(?:Clean|Dirty): *(\d+) kB", text, re.MULTILINE)
    )


def main(path: str, row: int) -> None:
    """Ask, and print what it took, the import of graphscope included."""
    started = time.perf_counter()
    from graphscope import Graph, load

    imported = time.perf_counter()
    log = load(path)
    opened = time.perf_counter()
    nonfinite = log.first_nonfinite()
    found = time.perf_counter()
    node = Graph(log).node(row)
    listed = [(node.row, node.op), *((edge.source.row, edge.slot) for edge in node.inputs)]
    listed += [(edge.target.row, edge.argument) for edge in node.users]
    ended = time.perf_counter()
    memory = private_bytes()
    numbers = {
        "seconds": ended - started,
        "seconds, import": imported - started,
        "seconds, open": opened - imported,
        "seconds, first non-finite": found - opened,
        "seconds, node": ended - found,
        "nonfinite": nonfinite,
    }
    print(json.dumps(numbers if memory is None else {**numbers, "bytes": memory}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
