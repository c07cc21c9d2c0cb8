"""What programs ask of `torch.cuda`, answered honestly: there is no GPU."""

from __future__ import annotations

from typing import Any


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: int) -> None:
    """Nothing: there are no random numbers but those of the CPU."""


manual_seed_all = manual_seed


def synchronize(device: Any = None) -> None:
    """Nothing: there is nobody to wait for."""


def memory_allocated(device: Any = None) -> int:
    """0 bytes."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing: there is no memory but the computer's."""


def is_bf16_supported() -> bool:
    """False."""
    return False


def empty_cache() -> None:
    """Nothing: there is no cache."""


def current_device() -> int:
    """There is none.

    Raises:
        RuntimeError: Always.
    """
    raise RuntimeError("there is no GPU here: ask cuda.is_available() first")
