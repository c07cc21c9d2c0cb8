"""Writes `expected.json` of folders of programs: `python -m tests.frameworks.expect FOLDER...`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.frameworks.referee import bare, programs


def expected(folder: Path) -> dict[str, dict[str, int | list[str]]]:
    """Exit code and printed lines of each program of a folder, by its file's name."""
    ran = {path.name: bare(path) for path in programs(folder)}
    return {name: {"exit": code, "output": output.splitlines()} for name, (code, output) in ran.items()}


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]):
        (each / "expected.json").write_text(json.dumps(expected(each), indent=1) + "\n")
