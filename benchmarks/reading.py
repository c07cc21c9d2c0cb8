"""A fresh process that opens a log and asks it three things: `python -m benchmarks.reading LOG ROW` prints JSON."""

from __future__ import annotations

import json
import re
import sys
import time
from pathlib import Path


def private_bytes(process: int | str = "self") -> dict[str, int]:
    """Memory that no other process shares, and the part of it that was written; empty where the system does not tell.

    Pages of a mapped file that this process alone has mapped count as private too, though the system can drop them.
    """
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:
        return {}
    clean, dirty = (
        int(re.findall(rf"^Private_{kind}: *(\d+) kB", text, re.MULTILINE)[0]) for kind in ("Clean", "Dirty")
    )
    return {"bytes": clean + dirty << 10, "bytes, written": dirty << 10}


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
    numbers = {
        "seconds": ended - started,
        "seconds, import": imported - started,
        "seconds, open": opened - imported,
        "seconds, first non-finite": found - opened,
        "seconds, node": ended - found,
        "nonfinite": nonfinite,
        **private_bytes(),
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
