"""Switches of PyTorch's that programs set as a matter of course: accepted, answered, and without effect on results."""

from __future__ import annotations

import os
from typing import Any

from graphscope.engine.core import device as devices

__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "get_default_device", "get_float32_matmul_precision",
    "get_num_interop_threads", "get_num_threads", "set_default_device", "set_float32_matmul_precision",
    "set_flush_denormal", "set_num_interop_threads", "set_num_threads", "use_deterministic_algorithms",
]  # fmt: skip


def get_num_threads() -> int:
    """How many threads products of matrices may take: NumPy's linear algebra decides."""
    return int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)


def set_num_threads(threads: int) -> None:
    """Nothing: set OMP_NUM_THREADS before the program starts.

    Raises:
        RuntimeError: That is no number of threads.
    """
    if threads <= 0:
        raise RuntimeError(f"expected positive number of threads, not {threads}")


def get_num_interop_threads() -> int:
    """1: ops run one after the other."""
    return 1


def set_num_interop_threads(threads: int) -> None:
    """Nothing: ops run one after the other."""


def compile(model: Any = None, **options: Any) -> Any:
    """The module or function itself: it computes the same op by op, where each can be seen.

    Args:
        model: A module or function; without one, a decorator is returned.
        options: Those of PyTorch's compiler, `mode="max-autotune"` and the like.
    """
    return (lambda function: function) if model is None else model


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Nothing: all are."""


def are_deterministic_algorithms_enabled() -> bool:
    """True: all are."""
    return True


def get_float32_matmul_precision() -> str:
    """`highest`: float32 is float32."""
    return "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Nothing: float32 is float32."""


def set_flush_denormal(mode: bool) -> bool:
    """False: the smallest numbers are kept."""
    return False


def get_default_device() -> devices.device:
    """The CPU."""
    return devices.CPU


def set_default_device(device: Any) -> None:
    """Nothing, for the CPU.

    Raises:
        RuntimeError: The device is not there.
    """
    devices.check(device)
