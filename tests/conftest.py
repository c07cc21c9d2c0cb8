"""What holds for all tests."""

from __future__ import annotations

import gc
import signal
import sys

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# The same examples each time, whatever was done before in this process and however busy the machine is.
settings.register_profile(
    "same",
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("same")
providers.is_local_module_file = lambda path: False  # else constants of the modules loaded so far get into examples


def pytest_configure() -> None:
    """A shell's background jobs ignore Ctrl-C, and so would each program that a test starts and interrupts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()


def pytest_sessionstart() -> None:
    """Pass over an interrupt that a finalizer, or Hypothesis' clock of the collector, has swallowed.

    Where a thread of a test's process is interrupted that may happen by chance; who interrupts does so again.
    """
    tell = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else tell(lost)


def pytest_collection_finish() -> None:
    """Let the collector look at what tests make, and not at all that was loaded for them."""
    gc.freeze()
    gc.enable()
