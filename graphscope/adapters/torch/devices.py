"""How long an accelerator is at work, by events of its own: a call returns when its work is queued there, not done."""

from __future__ import annotations

from collections.abc import Iterable
from time import perf_counter_ns as clock
from typing import Any

import torch

from graphscope.adapters.torch import remote_values
from graphscope.adapters.torch.remote_values import RemoteTimer
from graphscope.adapters.torch.tensor_elements import is_remote
from graphscope.adapters.torch.tensor_properties import opens
from graphscope.eventlog.interruptions import own


class Timer:
    """Measures what is queued on the stream that the program uses, from now on."""

    __slots__ = ("_began", "_first", "_module", "_stream")

    def __init__(self, module: Any, device: torch.device) -> None:
        self._module = module
        self._stream = module.current_stream(device)
        self._first = module.Event(enable_timing=True)
        self._began = clock()
        self._first.record(self._stream)

    def stop(self) -> int:
        """Wait for what was queued since; so many nanoseconds it took there."""
        try:
            last = self._module.Event(enable_timing=True)
            last.record(self._stream)
            last.synchronize()
            return int(self._first.elapsed_time(last) * 1e6)  # it tells milliseconds
        except own(RuntimeError):  # a capture has begun meanwhile, or the program's own error is told here first
            return clock() - self._began


Measuring = Timer | RemoteTimer
"""What measures a call."""


def ended(timer: Measuring | None, start: int) -> int:
    """When what began at `start` has ended: by its timer, or now."""
    return clock() if timer is None else start + timer.stop()


def timer(values: Iterable[Any], place: Any = None) -> Measuring | None:
    """One for the accelerator that one of these tensors lies on, if one does and it keeps time.

    While a graph of its work is captured there is none, as nothing may wait.

    Args:
        values: What is given to the call.
        place: The place of a thread whose next row is that of the call: then it may learn later how long that took.
    """
    for value in values:
        if isinstance(value, torch.Tensor) and opens(value.__class__):
            with torch._C.DisableTorchFunction(), torch._C._DisableTorchDispatch():
                if is_remote(value):
                    return remote_values.timer(place, value) or _timer_on(value.device)
    return None


def _timer_on(device: torch.device) -> Timer | None:
    module = _module(device)
    if not (hasattr(module, "Event") and hasattr(module, "current_stream")):
        return None
    try:
        capturing = getattr(module, "is_current_stream_capturing", None)
        return None if capturing is not None and capturing() else Timer(module, device)
    except own(RuntimeError, TypeError):  # it keeps no time
        return None


def _module(device: torch.device) -> Any:
    """What torch offers for a kind of device, as `torch.cuda`."""
    return getattr(torch, device.type, None)
