"""Inputs of an op from its samples: shapes become random tensors, arrays constants, a list of shapes a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.op import OPS, Op
from graphscope.engine.tensor import Tensor

SAMPLES = [(op, sample) for op in OPS.values() for sample in op.samples]
DIFFERENTIABLE = [(op, sample) for op, sample in SAMPLES if any(op.vjps) and op.name != "to"]


def name_of(value: Any) -> str | None:
    return value.name if isinstance(value, Op) else repr(value).replace("\n", "")


def arguments(op: Op, sample: tuple[Any, ...], dtype: str = "float64") -> tuple[list[Any], dict[str, Any]]:
    """Arrays, numbers and lists of arrays, and the keyword arguments."""
    parts = list(sample)
    marker = parts.pop(0) if isinstance(parts[0], str) else ""
    attrs = parts.pop() if parts and isinstance(parts[-1], dict) else {}
    numbers = np.random.default_rng(len(op.name))
    made = [_made(part, numbers, dtype, marker == "positive") for part in parts]
    if marker == "condition":
        made[0] = made[0] > 0
    return made, attrs


def _made(part: Any, numbers: np.random.Generator, dtype: str, positive: bool) -> Any:
    if isinstance(part, list):
        return [_made(shape, numbers, dtype, positive) for shape in part]
    if isinstance(part, np.ndarray):
        return part
    if not isinstance(part, tuple):
        return part
    # Away from 0 and from each other, where functions have corners.
    size = int(np.prod(part))
    values = (numbers.permutation(size) + 0.7) / size * (1 if positive else 2) - (0 if positive else 1)
    values = np.where(np.abs(values) < 1e-3, 0.1, values) + (0.3 if positive else 0)
    return (values + numbers.uniform(0.01, 0.09) / max(size, 1)).reshape(part).astype(dtype)


def tensors(made: list[Any], requires_grad: bool = True) -> list[Any]:
    """The same as tensors; what is floating requires grad."""
    return [
        tensors(value, requires_grad)
        if isinstance(value, list)
        else Tensor(value[()] if not value.ndim else value, requires_grad and value.dtype.kind == "f")
        if isinstance(value, np.ndarray | np.generic)
        else value
        for value in made
    ]


def flat(values: list[Any]) -> list[Any]:
    return [part for value in values for part in (value if isinstance(value, list) else [value])]


def run(op: Op, given: list[Any], attrs: dict[str, Any]) -> Any:
    """The op's result; an in-place op writes into a copy."""
    if op.in_place:
        given = [given[0].clone(), *given[1:]]
    return op.call(*given, **attrs)
