"""The engine's random numbers: a generator of its own, seeded by `manual_seed`, and others that a program makes."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from graphscope.engine.core.device import CPU, check, device
from graphscope.engine.core.tensor import Tensor

_BYTES: Final = (("state", 16), ("inc", 16), ("has_uint32", 1), ("uinteger", 4))
"""The parts of a state and how many bytes each has."""


class Generator:
    """A source of random numbers with a state of its own (the numbers differ from PyTorch's)."""

    def __init__(self, device: Any = "cpu") -> None:
        check(device)
        self.seed()

    @property
    def device(self) -> device:
        """The CPU."""
        return CPU

    def manual_seed(self, seed: int) -> Generator:
        """Start over from a seed; returns the generator."""
        self._seed = int(seed)
        self.numbers = np.random.default_rng(self._seed % (1 << 64))
        return self

    def seed(self) -> int:
        """Start over from a seed that nobody knows, and return it."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def initial_seed(self) -> int:
        """The seed that it last started from."""
        return self._seed

    def get_state(self) -> Tensor:
        """Where it is, as a tensor of bytes."""
        state: Any = self.numbers.bit_generator.state
        parts = {**state, **state["state"]}
        data = b"".join(int(parts[name]).to_bytes(size, "little") for name, size in _BYTES)
        return Tensor(np.frombuffer(data, np.uint8).copy())

    def set_state(self, new_state: Tensor) -> None:
        """Go back to where it was.

        Raises:
            RuntimeError: That is no state of a generator.
        """
        data = np.asarray(new_state.array).tobytes()
        if new_state.array.dtype != np.uint8 or len(data) != sum(size for _, size in _BYTES):
            raise RuntimeError("set_state: that is no state of a generator; keep what get_state() returns")
        parts = {}
        for name, size in _BYTES:
            parts[name], data = int.from_bytes(data[:size], "little"), data[size:]
        state: Any = self.numbers.bit_generator.state
        state.update(has_uint32=parts["has_uint32"], uinteger=parts["uinteger"])
        state["state"] = {"state": parts["state"], "inc": parts["inc"]}
        self.numbers.bit_generator.state = state


default_generator: Final = Generator()


def generator(given: Generator | None = None) -> np.random.Generator:
    """What random ops draw from: a generator that the program hands them, or the engine's own."""
    return (given or default_generator).numbers


def manual_seed(seed: int) -> Generator:
    """Start the random numbers over from a seed (the numbers differ from PyTorch's)."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Start the random numbers over from a seed that nobody knows, and return it."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the random numbers last started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the random numbers are, as a tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go back to where the random numbers were.

    Raises:
        RuntimeError: That is no state of a generator.
    """
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """What is drawn inside leaves no trace outside."""
    before = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(before)
