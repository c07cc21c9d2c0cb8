"""The engine's random numbers: one generator, seeded by `manual_seed`."""

from __future__ import annotations

import numpy as np

_generators: list[np.random.Generator] = []


def generator() -> np.random.Generator:
    """The generator that creation ops draw from."""
    if not _generators:
        _generators.append(np.random.default_rng())
    return _generators[0]


def manual_seed(seed: int) -> None:
    """Start the random numbers over from a seed (the numbers differ from PyTorch's)."""
    _generators[:] = [np.random.default_rng(seed % (1 << 64))]
