"""Where a function of a framework stands: in its own module, and in those of the program that have imported it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any


def importers(functions: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """Every module that has one of some functions under its own name, and that name.

    Args:
        functions: The functions, by their names.
    """
    for module in [*sys.modules.values()]:
        held = getattr(module, "__dict__", {})
        for name in functions.keys() & held.keys():
            if held[name] is functions[name]:
                yield module, name
