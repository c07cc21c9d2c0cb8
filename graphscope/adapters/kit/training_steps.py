"""Optimizers: when a training step has ended."""

from __future__ import annotations

from typing import Any

from graphscope.eventlog import record as recording


class Steps:
    """The steps of optimizers that run: where a step of the program's calls that of the framework, it is one."""

    def __init__(self) -> None:
        self._running: set[int] = set()

    def begin(self, optimizer: Any) -> None:
        """An optimizer begins a step."""
        self._running.add(id(optimizer))

    def runs(self, optimizer: Any) -> bool:
        """Whether a step of an optimizer is under way."""
        return id(optimizer) in self._running

    def forget(self, optimizer: Any) -> None:
        """A step was not finished."""
        self._running.discard(id(optimizer))

    def end(self, optimizer: Any) -> None:
        """An optimizer's step has ended: so has the training step."""
        if id(optimizer) in self._running:
            self._running.remove(id(optimizer))
            recording.step()
