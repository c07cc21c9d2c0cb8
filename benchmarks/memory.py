"""The most memory that a step holds at once: ours as Python allocates it, PyTorch's as bytes of live tensors."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

from benchmarks.engines import Step, graphscope, load, torch_eager
from benchmarks.results import Measurement
from benchmarks.workloads import WORKLOADS

MEASURED: Final = ("W3",)
"""Workloads whose tensors are large enough that they and not Python's objects fill the memory."""


def measure() -> list[Measurement]:
    """The peak of a step above what was there before it, warm."""
    found = []
    for name in MEASURED:
        workload = WORKLOADS[name]
        ours = peak_of_python(graphscope(workload))
        theirs = peak_of_torch(torch_eager(workload))
        found += [
            Measurement(f"{name}, torch", {"bytes": theirs}, "live tensors"),
            Measurement(f"{name}, graphscope", {"bytes": ours, "to torch": ours / theirs}),
        ]
    return found


def peak_of_python(step: Step) -> float:
    """What a step allocates at most, over what it found; NumPy tells tracemalloc of its arrays."""
    for _ in range(3):
        step.run()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        step.run()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return float(peak - before)


def peak_of_torch(step: Step) -> float:
    """The bytes of all tensors that are alive at once at most, of those that ops of the step made."""
    for _ in range(3):
        step.run()
    gc.collect()
    with _tracker() as live:
        step.run()
    return float(live.peak)


def _tracker() -> Any:
    dispatch = load("torch.utils._python_dispatch")
    storages = load("torch.multiprocessing.reductions")
    tensor = load("torch").Tensor

    class Tracker(dispatch.TorchDispatchMode):  # type: ignore[misc, name-defined]
        """Looks at the results of every op, and at what is still there of earlier ones."""

        def __init__(self) -> None:
            super().__init__()
            self.live: dict[int, tuple[Any, int]] = {}
            self.peak = 0

        def __torch_dispatch__(
            self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            given = {value.untyped_storage()._cdata for value in args if isinstance(value, tensor)}
            result = function(*args, **(kwargs or {}))
            for value in result if isinstance(result, tuple | list) else (result,):
                if isinstance(value, tensor) and (storage := value.untyped_storage())._cdata not in given:
                    self.live[storage._cdata] = (storages.StorageWeakRef(storage), storage.nbytes())
            self.live = {key: held for key, held in self.live.items() if not held[0].expired()}
            self.peak = max(self.peak, sum(size for _, size in self.live.values()))
            return result

    return Tracker()
