"""Logic, elementwise: of truth values, and of the bits of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.calls import define

__all__ = [
    "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "logical_and", "logical_not", "logical_or", "logical_xor",
]  # fmt: skip

_TRUTHS = [("booleans", (2, 3), (2, 3)), ("booleans", (2, 1), (3,)), ("booleans", (), ()), ((2, 3), (3,))]
_BITS = [("booleans", (2, 3), (3,)), ("integers", (2, 3), (2, 3)), ("integers", (2, 3), 5), ("integers", (), ())]


def _of_truths(forward: Callable[..., Any]) -> Callable[..., Any]:
    """A function of booleans that takes numbers too: NumPy compares with 0 far sooner than it connects numbers."""
    return lambda *values: forward(*(value if value.dtype.kind == "b" else value != 0 for value in values))


def _connective(name: str, doc: str, forward: Callable[..., Any]) -> Any:
    return define(
        name, doc, forward=_of_truths(forward), vjp=[None, None],
        shape=shapes.broadcast, samples=_TRUTHS,
        promotes=False,
    )  # fmt: skip


logical_and = _connective("logical_and", "Whether neither element is 0.", np.logical_and)
logical_or = _connective("logical_or", "Whether one element or both are not 0.", np.logical_or)
logical_xor = _connective("logical_xor", "Whether just one element is not 0.", np.logical_xor)

logical_not = define(
    "logical_not", "Whether an element is 0.",
    forward=lambda x: np.logical_not(x) if x.dtype.kind == "b" else x == 0,
    vjp=[None],
    shape=shapes.same,
    samples=[("booleans", (2, 3)), ((2, 3),), ("integers", ())],
)  # fmt: skip


def _bits(
    name: str,
    doc: str,
    forward: Callable[..., Any],
    samples: Sequence[Any],
    *aliases: str,
    kinds: str = "bi",
    **formula: Any,
) -> Any:
    return define(
        name, doc, aliases=aliases, forward=dtypes.only(kinds, forward), vjp=[None, None],
        shape=shapes.broadcast, samples=samples, **formula,
    )  # fmt: skip


bitwise_and = _bits(
    "bitwise_and", "Bits that are set in both; of booleans, both.", np.bitwise_and, _BITS,
    "__and__", "__rand__",
)  # fmt: skip
bitwise_or = _bits(
    "bitwise_or", "Bits that are set in one or both; of booleans, either.", np.bitwise_or, _BITS,
    "__or__", "__ror__",
)  # fmt: skip
bitwise_xor = _bits(
    "bitwise_xor", "Bits that are set in just one; of booleans, just one.", np.bitwise_xor, _BITS,
    "__xor__", "__rxor__",
)  # fmt: skip

_SHIFTS = [("counts", (2, 3), (3,)), ("counts", (2, 3), 2), ("counts", (), ())]

bitwise_left_shift = _bits(
    "bitwise_left_shift", "Bits of x moved y places up.", np.left_shift, _SHIFTS, "__lshift__",
    kinds="i", formula="out = x · 2^y",
)  # fmt: skip
bitwise_right_shift = _bits(
    "bitwise_right_shift", "Bits of x moved y places down, the sign kept.", np.right_shift, _SHIFTS, "__rshift__",
    kinds="i", formula="out = ⌊x / 2^y⌋",
)  # fmt: skip

bitwise_not = define(
    "bitwise_not", "All bits turned; of booleans, the opposite.", aliases=("__invert__",),
    forward=dtypes.only("bi", np.invert),
    vjp=[None],
    shape=shapes.same,
    samples=[("booleans", (2, 3)), ("integers", (2, 3)), ("booleans", ())],
)  # fmt: skip
