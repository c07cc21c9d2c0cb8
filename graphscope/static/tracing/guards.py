"""What a function reads off tensors while it is traced: each reading becomes a guard of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs.graph import Node
from graphscope.static.graphs.graph_builder import here
from graphscope.static.graphs.node_kinds import kind
from graphscope.static.tracing.tape import Tape


class GuardError(StaticError):
    """What a trace relied on is not so in this run."""


READINGS: Final = ("__bool__", "__int__", "__float__", "__index__", "item", "tolist", "numpy", "nonzero")
"""Methods of tensors that tell numbers to the program."""


def _nothing(node: Node) -> Any:
    return []


@kind("guard", "A number that the traced function read: it has to be the same again.", infer=_nothing, pure=False,
      several=True)  # fmt: skip
def _guard(node: Node, values: Sequence[Any]) -> Sequence[Any]:
    found = np.asarray(values[0].array)
    expected = node.attributes["expected"]
    if found.shape != expected.shape or not np.array_equal(found, expected, equal_nan=found.dtype.kind in "fc"):
        line = f"{node.site.file}:{node.site.line}" if node.site else "the traced function"
        raise GuardError(
            f"{line} read {_spelled(expected)} when it was traced, and would read {_spelled(found)} now",
            hint="trace it with these arguments too, script it, or use where(...) in the place of if",
        )
    return []


def _spelled(array: Any) -> str:
    return str(array.item()) if array.size == 1 else f"an array of shape {array.shape}"


@contextmanager
def guarding_reads(tape: Tape) -> Iterator[None]:
    """Let readings inside add guards to the graph that is being traced."""
    before = {name: Tensor.__dict__[name] for name in READINGS if name in Tensor.__dict__}

    def noticing(method: Callable[..., Any]) -> Callable[..., Any]:
        def read(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            if self.row >= tape.base and not inside:
                inside.append(True)
                try:
                    tape.read(tape.value_of(self), here())
                    return method(self, *args, **kwargs)
                finally:
                    inside.pop()
            return method(self, *args, **kwargs)

        return read

    inside: list[bool] = []
    for name, method in before.items():
        setattr(Tensor, name, noticing(method))
    try:
        yield
    finally:
        for name, method in before.items():
            setattr(Tensor, name, method)
