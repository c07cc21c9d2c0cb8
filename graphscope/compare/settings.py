"""Settings of a framework under which two runs computed: they change numbers, and no op is told of them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from graphscope.compare.difference import Fact
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Node
    from graphscope.graph.training import Setting

_EXPLAINED: Final = {
    "op": ("float32_matmul_precision", "deterministic_algorithms", "num_threads"),
    "another op": ("float32_matmul_precision",),
    "backward rule": ("float32_matmul_precision", "deterministic_algorithms", "num_threads"),
    "dtype": ("default_dtype",),
    "input": ("default_dtype",),
}
"""By the cause that would be told, the settings that make it."""


def other_settings(cause: str, a: Node | None, b: Node | None) -> tuple[Fact, ...]:
    """The settings that explain why two nodes part, as each run had them, with the line that set them."""
    if a is None or b is None:
        return ()
    one, other = (training(node.graph.log).settings(node.row) for node in (a, b))
    return tuple(
        Fact(name, _told(a, one[name]), _told(b, other[name]))
        for name in _EXPLAINED.get(cause, ())
        if name in one and name in other and one[name].value != other[name].value
    )


def _told(node: Node, setting: Setting) -> str:
    file, line = training(node.graph.log).place(setting.site)
    return f"{setting.value}, set at {PurePath(file).name}:{line}" if file else str(setting.value)
