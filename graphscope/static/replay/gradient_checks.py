"""Gradient rules of one recorded call against differences, at the inputs that were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.static.replay.recorded_calls import Call

_STEP: Final = 1e-6
_DIRECTIONS: Final = 12


@dataclass(frozen=True)
class Finding:
    """What a rule gave for one input."""

    size: float | None
    """The norm of the gradient; None where the rule gives none, or the input is not floating."""
    gap: float
    """How far the gradient and differences are apart, in relation to their size."""


def rules(call: Call, cotangents: Sequence[Any] | None = None) -> list[Finding]:
    """Compare the rules of a call with central differences along random directions, in float64.

    Args:
        call: The recorded call.
        cotangents: For each output; random numbers unless they are given.

    Returns:
        A finding for each of the call's recorded inputs.
    """
    numbers = np.random.default_rng(0)
    inputs = [_doubled(value) for value in call.inputs]
    outs = call.run(inputs)
    if cotangents is None or len(cotangents) != len(outs):
        cotangents = [_random(numbers, out) for out in outs]
    gs = [np.asarray(g, dtype=np.asarray(out).dtype) for g, out in zip(cotangents, outs, strict=True)]
    found = call.gradients(gs, inputs)

    def total(place: int, moved: Any) -> float:
        results = call.run([*inputs[:place], moved, *inputs[place + 1 :]])
        pairs = zip(gs, results, strict=True)
        return float(sum(_product(g, out) for g, out in pairs if np.asarray(out).dtype.kind in "fc"))

    findings = []
    for place in call.places:
        gradient, value = found[place], inputs[place]
        if gradient is None:
            findings.append(Finding(None, 0.0))
            continue
        gap = 0.0
        for _ in range(_DIRECTIONS):
            direction = _random(numbers, value)
            step = _STEP * max(1.0, float(np.abs(value).max(initial=0)))
            slope = (total(place, value + step * direction) - total(place, value - step * direction)) / (2 * step)
            expected = _product(gradient, direction)
            scale = max(abs(slope), abs(expected), float(np.linalg.norm(gradient)), 1e-8)
            gap = max(gap, abs(slope - expected) / scale) if np.isfinite(slope + expected) else float("nan")
        findings.append(Finding(float(np.linalg.norm(gradient)), gap))
    return findings


def _random(numbers: np.random.Generator, like: Any) -> Any:
    """Normal numbers of a shape, complex where these are."""
    made = numbers.standard_normal(np.shape(like))
    return made + 1j * numbers.standard_normal(np.shape(like)) if np.iscomplexobj(like) else made


def _product(gradient: Any, direction: Any) -> float:
    """By how much a gradient says that something grows along a direction; for complex numbers as PyTorch has it."""
    return float(np.sum((np.conj(gradient) * direction).real))


def _doubled(value: Any) -> Any:
    kind = value.dtype.kind if hasattr(value, "dtype") else ""
    return value.astype({"f": np.float64, "c": np.complex128}[kind]) if kind in ("f", "c") else value
