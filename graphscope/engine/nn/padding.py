"""Padding: more elements around the last dims."""

from __future__ import annotations

from typing import Any

from graphscope.engine.nn import functional
from graphscope.engine.nn.module import Module


class _Pad(Module):
    dims: int
    mode: str = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if isinstance(padding, tuple | list) else (padding,) * (2 * self.dims)

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _Constant(_Pad):
    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _Zero(_Pad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
        self.value = 0.0

    def extra_repr(self) -> str:
        return f"{self.padding}"


KINDS = {
    "ConstantPad": (_Constant, {"__doc__": "Pads with a number: `{name}(padding, value)`."}),
    "ZeroPad": (_Zero, {"__doc__": "Pads with zeros: `{name}(padding)`."}),
    "ReflectionPad": (_Pad, {"mode": "reflect", "__doc__": "Pads with the mirrored input: `{name}(padding)`."}),
    "ReplicationPad": (_Pad, {"mode": "replicate", "__doc__": "Pads with the edge of the input: `{name}(padding)`."}),
    "CircularPad": (_Pad, {"mode": "circular", "__doc__": "Pads with the other end of the input: `{name}(padding)`."}),
}
"""By the name without the number of dims: the class that does it and what its own classes say."""


def _made(kind: str, dims: int) -> Any:
    base, members = KINDS[kind]
    name = f"{kind}{dims}d"
    doc = members["__doc__"].format(name=name)
    return type(name, (base,), {**members, "__doc__": doc, "dims": dims, "__module__": __name__})


ConstantPad1d, ConstantPad2d, ConstantPad3d = (_made("ConstantPad", dims) for dims in (1, 2, 3))
ZeroPad1d, ZeroPad2d, ZeroPad3d = (_made("ZeroPad", dims) for dims in (1, 2, 3))
ReflectionPad1d, ReflectionPad2d, ReflectionPad3d = (_made("ReflectionPad", dims) for dims in (1, 2, 3))
ReplicationPad1d, ReplicationPad2d, ReplicationPad3d = (_made("ReplicationPad", dims) for dims in (1, 2, 3))
CircularPad1d, CircularPad2d, CircularPad3d = (_made("CircularPad", dims) for dims in (1, 2, 3))
