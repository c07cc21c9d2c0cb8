"""A fresh process that runs a command on logs: `python -m benchmarks.judging doctor LOG` prints what it took."""

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


def main(arguments: list[str]) -> None:
    """Run what `graphscope` does with these arguments, and print what it took, Python's start included."""
    from graphscope.cli import main as graphscope

    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = graphscope(arguments)
    print(json.dumps({"status": status, "seconds": time.process_time(), **most_memory()}))


if __name__ == "__main__":
    main(sys.argv[1:])
