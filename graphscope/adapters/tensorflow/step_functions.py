"""Which calls of a `tf.function` make training steps, so that steps are counted in which nothing else is seen.

In a recorded step a function runs as it is written, and it is seen how many steps of optimizers end in it, and whether
it returns what a backward pass begins from. One that was not recorded yet is seen when TensorFlow traces it.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import tensorflow as tf

from graphscope.adapters.kit.late_arrays import LateArray
from graphscope.adapters.kit.training_steps import end_seen_step
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.writer import Writer


class _Seen:
    """What is seen of a call that no other is around.

    Args:
        waits: Whether the steps that end in it are told when it has ended, so that none begins in the middle of it.
    """

    def __init__(self, *, waits: bool) -> None:
        self.waits = waits
        self.optimizers: list[Callable[[], Any]] = []
        """Those whose steps ended in it, and were not told, in their order."""
        self.before: int | None = None
        """The steps that the newest of these had counted when it was traced first, which is before the call runs."""
        self.root: Any = None
        """What the newest backward pass in it began from."""


class _Made:
    """What a call of a function makes."""

    def __init__(self, optimizers: Sequence[Callable[[], Any]], loss: int | None, before: int | None = None) -> None:
        self.optimizers = optimizers
        """Those whose steps end, in their order."""
        self.loss = loss
        """The place among its results of what the newest backward pass begins from."""
        self._is_loop = len({id(each()) for each in optimizers}) < len(optimizers)
        self._counted = (self._count() if before is None else before) if self._is_loop else 0

    def ended(self) -> Iterable[Any]:
        """The optimizers whose steps have ended in a call that was left out."""
        if not self._is_loop:
            return [each() for each in self.optimizers]
        before, self._counted = self._counted, self._count()  # the last turn of an epoch has fewer batches
        return [self.optimizers[-1]()] * (self._counted - before)

    def _count(self) -> int:
        """The steps of the last one, as it counts them itself."""
        return _count(self.optimizers[-1]()) or 0


_kept: Final[weakref.WeakKeyDictionary[Writer, weakref.WeakKeyDictionary[Any, _Made]]] = weakref.WeakKeyDictionary()
"""What functions make, by their recording: TensorFlow is attached to anew when that keeps other values."""


class _Here(threading.local):
    seen: _Seen | None = None


class StepFunctions:
    """Those of a recording.

    Args:
        writer: The log.
        give_up: Ends the recording where it fails.
    """

    def __init__(self, writer: Writer, give_up: Callable[[Exception], None]) -> None:
        self._writer = writer
        self._sampling = writer.sampling
        self._give_up = give_up
        self._here = _Here()
        self._made = _kept.setdefault(writer, weakref.WeakKeyDictionary())

    @contextmanager
    def recorded(self, function: Any) -> Iterator[Callable[[Any], None]]:
        """A function runs as it is written inside; what is given is told what it returned."""
        if self._here.seen is not None:
            yield lambda result: None
            return
        seen = self._here.seen = _Seen(waits=self._sampling.every > 1)
        try:
            yield lambda result: self._note(function, seen, result)
        finally:
            self._here.seen = None
            self._end([each() for each in seen.optimizers])

    def left_out(self, function: Any, call: Callable[[], Any]) -> Any:
        """What a function returns, in a step that is left out.

        Args:
            function: The function.
            call: Calls it as it is.
        """
        if self._here.seen is not None or tf.config.functions_run_eagerly():  # of which each step is seen
            return call()
        seen = self._here.seen = _Seen(waits=False)
        try:
            result = call()
        finally:
            self._here.seen = None
        made = self._made.get(function)
        if made is None and seen.optimizers:  # it was traced, by TensorFlow more than once where it makes variables
            made = self._made[function] = _Made(seen.optimizers, None, seen.before)
            self._sampling.begin_anew()
        if made is not None:
            try:
                if made.loss is not None:
                    self._sampling.note_late_loss(LateArray(tf.nest.flatten(result)[made.loss]))
                self._end(made.ended())
            except own(Exception) as error:
                self._give_up(error)
        return result

    def begins(self, root: Any, *, is_left_out: bool) -> None:
        """A backward pass begins from a loss (None: from something else) in a step that is recorded or left out."""
        if self._here.seen is not None:
            self._here.seen.root = root
        elif is_left_out and root is not None:
            self._sampling.note_late_loss(LateArray(root))

    def stepped(self, optimizer: Any) -> None:
        """The step of an optimizer has ended, or was traced."""
        seen = self._here.seen
        if not tf.inside_function() and (seen is None or not seen.waits):
            self._end([optimizer])
        elif seen is not None:
            if all(each() is not optimizer for each in seen.optimizers):
                seen.before = _count(optimizer)
            seen.optimizers.append(weakref.ref(optimizer))

    def _note(self, function: Any, seen: _Seen, result: Any) -> None:
        results = tf.nest.flatten(result)
        loss = next((place for place, each in enumerate(results) if each is seen.root), None)
        if seen.optimizers or loss is not None:  # gradients may be taken here, and given to an optimizer elsewhere
            self._made[function] = _Made(seen.optimizers, loss)

    def _end(self, optimizers: Iterable[Any]) -> None:
        for optimizer in optimizers:
            end_seen_step(self._writer, optimizer)


def _count(optimizer: Any) -> int | None:
    """The steps that an optimizer has counted itself; None where it has not, or this can't be read."""
    try:
        with tf.init_scope():  # else it is what the graph will have, while one is made
            return int(optimizer.iterations)
    except own(Exception):
        return None
