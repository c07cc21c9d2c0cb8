"""Looking for the op whose rule makes the first NaN of a backward pass."""

from __future__ import annotations

from typing import Any

from graphscope.engine.core import modes
from graphscope.eventlog import record as recording


class set_detect_anomaly:  # noqa: N801 - PyTorch's spelling
    """Have backward passes raise at the first NaN that a rule gives: at once, or as a context manager.

    The error names the forward op and its line. Lines are known of what is recorded, so a recording is begun if none is
    active; it keeps no values, and is thrown away.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = modes.anomaly
        self._recording: Any = None
        modes.anomaly = mode and check_nan
        if mode and recording.writer is None:
            self._recording = recording.record(values="none")
            self._recording.__enter__()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        modes.anomaly = self._before
        if self._recording is not None:
            self._recording.__exit__(None, None, None)
            self._recording = None


class detect_anomaly(set_detect_anomaly):  # noqa: N801 - PyTorch's spelling
    """As `set_detect_anomaly(True)`, for a `with` block."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan

    def __enter__(self) -> None:
        super().__init__(True, self._check_nan)


def is_anomaly_enabled() -> bool:
    """Whether backward passes look for NaN."""
    return modes.anomaly
