"""The objects of a kind that a program has made before it is recorded."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

from graphscope.eventlog.garbage import take_in


def instances(kind: type) -> Iterator[Any]:
    """Every object of a class, or of one derived from it, that the collector knows.

    All objects of the process are looked at, which takes some 0.1 s where there are a million: ask when the first is
    needed, not when a recording begins.
    """
    is_one: dict[type, bool] = {}
    take_in()
    for each in gc.get_objects():
        found = type(each)
        if found not in is_one:
            is_one[found] = issubclass(found, kind)
        if is_one[found]:
            yield each
