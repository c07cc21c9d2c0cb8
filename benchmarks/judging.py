"""A fresh process in which the doctor judges a log: `python -m benchmarks.judging LOG` prints JSON."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import time
from pathlib import Path


def most_memory() -> dict[str, int]:
    """The most memory that this process has held; empty where the system does not tell.

    What `getrusage` says of a process begins with what the one held that started it.
    """
    try:
        text = Path("/proc/self/status").read_text(encoding="utf-8")
    except OSError:
        return {}
    (kilobytes,) = re.findall(r"^VmHWM:\s*(\d+) kB", text, re.MULTILINE)
    return {"bytes": int(kilobytes) << 10}


def main(path: str) -> None:
    """Judge as `graphscope doctor LOG` does, and print what it took, Python's start included."""
    from graphscope.cli import main as graphscope

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = graphscope(["doctor", path])
    print(json.dumps({"status": status, "seconds": time.process_time(), **most_memory()}))


if __name__ == "__main__":
    main(sys.argv[1])
