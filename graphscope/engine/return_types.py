"""The types of results that have several parts, such as `graphscope.return_types.max`."""

from __future__ import annotations


def __getattr__(name: str) -> object:
    from graphscope import engine as engine  # defines the ops, and with them their results
    from graphscope.engine.core.results import RESULTS

    if name not in RESULTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return RESULTS[name]
