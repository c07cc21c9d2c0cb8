"""One value on the way to the result of a composite op."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Part:
    """One value that a composite op computes on its way."""

    label: str
    """What it is: `variance`, `scores`."""
    value: np.ndarray
    constants: Mapping[str, Any] = field(default_factory=dict)
    """The constants of the call that come in at this part, defaults among them: `{"eps": 1e-05}`."""


Parts = Iterator[Part]
Array = np.ndarray


def weighted(value: Array, weight: Array | None, bias: Array | None) -> Parts:
    """A value times a weight plus a bias, where there are any."""
    if weight is not None:
        value = value * weight
        yield Part("* weight", value)
    if bias is not None:
        yield Part("+ bias", value + bias)


def reduced(each: Array, reduction: str, count: Any = None, **constants: Any) -> Parts:
    """The losses of all elements, and what is left of them."""
    yield Part("each element", each, constants)
    if reduction != "none":
        total = each.sum()
        yield Part("sum", total, {"reduction": reduction})
        if reduction != "sum":
            yield Part(reduction, total / (each.size if count is None else count), {"reduction": reduction})
