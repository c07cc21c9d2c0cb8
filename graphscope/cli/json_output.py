"""`--json`: data on the standard output in place of words, as the schemas in `assets` describe it."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Mapping
from typing import Any


def add_json(parser: argparse.ArgumentParser) -> None:
    """Let the command print data."""
    parser.add_argument("--json", action="store_true", help="print data for a program to read")


def print_json(data: object) -> None:
    """Print data as JSON, and nothing else."""
    print(json.dumps(plain(data), indent=2, allow_nan=False))


def plain(data: Any) -> Any:
    """Data as JSON has it: numbers that it lacks (NaN, infinities) become their names, other objects their text."""
    if dataclasses.is_dataclass(data) and not isinstance(data, type):
        own = getattr(data, "data", None)
        return plain(
            own() if callable(own) else {each.name: getattr(data, each.name) for each in dataclasses.fields(data)}
        )
    if isinstance(data, Mapping):
        return {str(name): plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(each) for each in data]
    if isinstance(data, float) and data - data != 0:
        return str(data)
    return data if data is None or isinstance(data, str | bool | int | float) else str(data)
