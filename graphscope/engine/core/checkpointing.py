"""Checkpoints: what a part of the forward pass saved is thrown away, and computed again for the backward pass.

The graph stays as it is, so gradients of any kind can be asked for. The function runs a second time on the same inputs;
its ops make the same nodes in the same order, and what those save is handed to the nodes of the first run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from graphscope.engine.core import generator as random
from graphscope.engine.core import modes, writes
from graphscope.engine.core.modes import Context, here
from graphscope.engine.core.module_scopes import scope
from graphscope.engine.core.node import FREED, MOMENT, PLAN, SAVED, Plan, Record
from graphscope.engine.core.op import Op
from graphscope.engine.core.rules import rules_of
from graphscope.engine.core.tensor import Tensor

_LEFT_OUT: Final = object()
"""Stands for what a node saved and will save again."""


class CheckpointError(RuntimeError):
    """The function did other things the second time."""


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Run a function without keeping what its ops save for the backward pass; that runs the function again.

    Args:
        function: What to run; it must do the same thing when it runs again.
        *args: Its arguments.
        use_reentrant: Accepted: PyTorch's two ways give the same gradients, and here there is one.
        preserve_rng_state: Give it the same random numbers the second time.
        **kwargs: Its keyword arguments.

    Returns:
        What the function returns.
    """
    state = random.get_rng_state() if preserve_rng_state else None
    first = next(writes.moments)
    result = function(*args, **kwargs)
    if here().grad_enabled:
        segment = _Segment(function, args, kwargs, state)
        segment.leave_out(_nodes(result, first))
    return result


class _Segment:
    """One call under a checkpoint: how to run it again, and what its nodes save then, until they have fetched it."""

    def __init__(self, function: Callable[..., Any], args: Sequence[Any], kwargs: Any, state: Any) -> None:
        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._state = state
        self._ops: list[Op] = []
        self._saved: list[Any] | None = None

    def leave_out(self, nodes: list[Record]) -> None:
        """Throw away what these nodes saved."""
        self._ops = [node[PLAN].op for node in nodes]
        for number, node in enumerate(nodes):
            node[PLAN] = WaitingPlan(node[PLAN], self, number)
            node[SAVED] = _LEFT_OUT

    def saved(self, number: int, row: int) -> tuple[Plan, Any]:
        """The plan of a node, and what it saved: now, if the function did not run again yet."""
        if self._saved is None:
            nodes = self._run(row)
            if [node[PLAN].op for node in nodes] != self._ops:
                raise CheckpointError(
                    f"checkpoint: the function ran {len(self._ops)} ops that save something, and {len(nodes)} (or "
                    "others) when it ran again for the backward pass: it must do the same both times"
                )
            self._saved = [(node[PLAN], node[SAVED]) for node in nodes]
        found = self._saved[number]
        self._saved[number] = None
        return found  # type: ignore[no-any-return]

    def _run(self, row: int) -> list[Record]:
        mode = here()
        before = mode.context
        first = next(writes.moments)
        mode.context = Context(before.scope, max(row, 0), before.grad_enabled)
        now = random.get_rng_state() if self._state is not None else None
        try:
            if self._state is not None:
                random.set_rng_state(self._state)
            with modes.grad_mode(True), scope("checkpoint", "recompute"):
                return _nodes(self._function(*self._args, **self._kwargs), first)
        finally:
            mode.context = before
            if now is not None:
                random.set_rng_state(now)


class WaitingPlan(Plan):
    """The plan of a node whose saved values were left out; it has them computed again, then gives way to the first."""

    __slots__ = ("inner", "number", "segment")

    def __init__(self, inner: Plan, segment: _Segment, number: int) -> None:
        for name in Plan.__slots__:
            setattr(self, name, getattr(inner, name))
        self.inner = inner
        self.segment = segment
        self.number = number
        self.alone = False
        self.special = True
        self.custom = self.run

    def arguments(self, saved: Any) -> tuple[tuple[Any, ...], ...]:
        return ((),) * len(self.rules)

    def targets(self, record: Record) -> tuple[Any, ...]:
        return self.inner.targets(record)

    def run(self, record: Record, gradient: Any, row: int, tensors: bool) -> Sequence[Any]:
        """The gradients of the node, once its saved values are there again."""
        plan, saved = self.segment.saved(self.number, row)
        record[SAVED] = plan.arguments(saved) if self.inner.hooked else saved
        record[PLAN] = self.inner
        return rules_of(record, gradient, row, tensors)


def _nodes(result: Any, first: int) -> list[Record]:
    """The nodes made since `first` that a result came from and that save something, in the order of their making."""
    found: dict[int, Record] = {}
    pending = [tensor.node for tensor in _tensors(result) if tensor.node is not None]
    while pending:
        record = pending.pop()
        if record[MOMENT] > first and record[MOMENT] not in found:
            found[record[MOMENT]] = record
            pending += [target for target in record[PLAN].targets(record) if target.__class__ is list]
    return [found[moment] for moment in sorted(found) if found[moment][PLAN].freed is FREED]


def _tensors(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, tuple | list):
        return [tensor for part in value for tensor in _tensors(part)]
    return []
