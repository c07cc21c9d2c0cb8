"""Which processes a program starts by `multiprocessing`: what runs there is neither recorded nor stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Final

SERVANTS: Final = frozenset(
    {"multiprocessing.managers", "torch.utils.data._utils.worker", "graphscope.debugger.held_processes"}
)
"""Modules whose functions run in processes that hold objects or load data: nobody means a breakpoint for these; or in
those that wait for a debugger of their own.
"""


@contextmanager
def unreached() -> Iterator[Callable[[], bool]]:
    """For the time of a block: says whether a process was started for which a breakpoint could have been meant."""
    start = BaseProcess.start
    found = False

    def started(self: BaseProcess) -> None:
        nonlocal found
        target = getattr(self, "_target", None)  # the process forgets it when it has started
        start(self)
        found = found or getattr(target, "__module__", None) not in SERVANTS

    BaseProcess.start = started  # type: ignore[method-assign]
    try:
        yield lambda: found
    finally:
        BaseProcess.start = start  # type: ignore[method-assign]
