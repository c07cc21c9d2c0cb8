"""Results of several parts, as PyTorch names them: `values, indices = x.max(1)`, or `x.max(1).values`."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

NAMES: Final = {
    "aminmax": ("min", "max"),
    "cummax": ("values", "indices"),
    "cummin": ("values", "indices"),
    "kthvalue": ("values", "indices"),
    "max": ("values", "indices"),
    "median": ("values", "indices"),
    "min": ("values", "indices"),
    "mode": ("values", "indices"),
    "nanmedian": ("values", "indices"),
    "sort": ("values", "indices"),
    "topk": ("values", "indices"),
    "histogram": ("hist", "bin_edges"),
}
"""For each op of several parts, their names."""


def _made(name: str, parts: tuple[str, ...]) -> type[Any]:
    def show(self: Any) -> str:
        lines = [f"{part}={value!r}" for part, value in zip(parts, self, strict=True)]
        return f"graphscope.return_types.{name}(\n" + ",\n".join(lines) + ")"

    made = namedtuple(name, parts, module="graphscope.return_types")  # type: ignore[misc] # noqa: PYI024 - from a table
    made.__repr__ = show  # type: ignore[method-assign]
    made.__doc__ = f"What `{name}` returns: {', '.join(parts)}."
    return made


RESULTS: Final[dict[str, type[Any]]] = {name: _made(name, parts) for name, parts in NAMES.items()}
"""The type of each result, by the name of its op."""
