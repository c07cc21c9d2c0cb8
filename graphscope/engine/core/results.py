"""Results of several parts, named as PyTorch names them: `values, indices = x.max(1)`, or `x.max(1).values`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

RESULTS: Final[dict[str, type[Any]]] = {}
"""The type of the result of each op that has several, by its name."""


def result_of(name: str, parts: tuple[str, ...]) -> type[Any]:
    """A type for the results of an op: a named tuple that prints as PyTorch's do.

    Args:
        name: The op.
        parts: The names of its outputs.
    """

    def show(self: Any) -> str:
        lines = [f"{part}={value!r}" for part, value in zip(parts, self, strict=True)]
        return f"graphscope.return_types.{name}(\n" + ",\n".join(lines) + ")"

    made: Any = namedtuple(name, parts, module="graphscope.engine.return_types")  # type: ignore[misc] # noqa: PYI024 - told now
    setattr(made, "__repr__", show)  # noqa: B010
    made.__doc__ = f"What `{name}` returns: {', '.join(parts)}."
    RESULTS[name] = made
    return RESULTS[name]
