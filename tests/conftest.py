"""What holds for all tests."""

from __future__ import annotations

import compileall
import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from graphscope.adapters.kit import notices

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


def pytest_configure(config: pytest.Config) -> None:
    """Let processes that tests start find compiled modules, add none of their own, and be interrupted.

    A program that a test changes within a moment would run as it was; a shell's background jobs ignore Ctrl-C.
    """
    if not hasattr(config, "workerinput"):
        compileall.compile_dir(Path(__file__).parents[1] / "graphscope", quiet=2)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # there is a process for each core
    sys.dont_write_bytecode = False  # the tests themselves are kept
    notices.unheard = _fail
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()


def _fail(text: str) -> None:
    """An error of a recorder's, which ends a recording and no program, is a failure of the test that it shows in."""
    raise AssertionError(text)


@pytest.fixture(scope="session", autouse=True)
def state_of_tests(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let what tests keep of a person lie with the tests."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


def pytest_sessionstart() -> None:
    """Pass over an interrupt that a finalizer, or Hypothesis' clock of the collector, has swallowed.

    Where a thread of a test's process is interrupted that may happen by chance; who interrupts does so again.
    """
    tell = sys.unraisablehook
    sys.unraisablehook = lambda lost: None if lost.exc_type is KeyboardInterrupt else tell(lost)


def pytest_collection_finish() -> None:
    """Keep nothing that tests write, and let the collector look at what they make, not at what was loaded."""
    sys.dont_write_bytecode = True
    gc.freeze()
    gc.enable()
