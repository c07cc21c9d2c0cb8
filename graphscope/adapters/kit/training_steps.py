"""When a training step has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphscope.adapters.kit.notices import say
from graphscope.eventlog import record as recording
from graphscope.eventlog import training_steps
from graphscope.eventlog.writer import Writer


def end_step(framework: str, optimizer: Any = None, *, reason: str = "") -> None:
    """A training step has ended that a framework tells of which can't be left alone for some steps: all are recorded.

    Args:
        framework: Its name, as people write it.
        optimizer: What has made it.
        reason: Why it can't be, where it sometimes can.
    """
    writer = recording.writer
    if writer is not None and writer.sampling.every > 1:
        say(f"all steps are recorded: {reason or f'every={writer.sampling.every} is not for {framework}'}")
        writer.sampling.every = 1
    training_steps.end(optimizer)


def end_seen_step(writer: Writer, optimizer: Any = None) -> None:
    """A training step was seen to end, recorded or left out; where the program itself says where they end, none has.

    Args:
        writer: The log.
        optimizer: What has made it.
    """
    if not writer.sampling.is_told:
        training_steps.end(optimizer)


class Steps:
    """The steps of optimizers that run: where a step of the program's calls that of the framework, it is one.

    Args:
        end: Told when one has ended, and whose.
    """

    def __init__(self, end: Callable[[Any], None] = training_steps.end) -> None:
        self._end = end
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
            self._end(optimizer)
