"""What tables need that is not part of graphscope: extras that a person installs."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from graphscope.errors import ExportError

EXTRAS: Final = {"pyarrow": "parquet", "duckdb": "query"}
"""The extra that brings each."""


def needed(module: str) -> Any:
    """A module of an extra.

    Raises:
        ExportError: It is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ExportError(
            f"tables need {name}, which can't be imported here ({error})",
            f"pip install 'graphscope-debugger[{EXTRAS[name]}]'",
        ) from error
