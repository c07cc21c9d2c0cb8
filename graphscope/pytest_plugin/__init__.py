"""A plugin of pytest: records tests, pins the structure of graphs, and asserts that a training is healthy.

from graphscope.pytest_plugin import assert_gradients_flow, assert_healthy

def test_training(graphscope_log, graphscope_pin):
model = train(steps=3)
assert_healthy(graphscope_log)
assert_gradients_flow(model)
graphscope_pin(graphscope_log)
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from graphscope.pytest_plugin.assertions import (
    assert_as_before,
    assert_gradients_flow,
    assert_healthy,
    assert_structure,
)

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

__all__ = [
    "assert_as_before", "assert_gradients_flow", "assert_healthy", "assert_same_run", "assert_structure",
    "graphscope_log", "graphscope_pin",
]  # fmt: skip

UNRECORDED: Final = "graphscope_unrecorded"
_PINS: Final = "graphscope_pins"
_LONGEST: Final = 150
_failed = pytest.StashKey[bool]()
_kept = pytest.StashKey[Path]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("graphscope")
    group.addoption("--graphscope-log", metavar="DIR", help="record each test, and keep the logs of those that fail")
    group.addoption("--graphscope-baseline", action="store_true", help="write what assert_same_run compares runs with")
    group.addoption("--graphscope-pin", action="store_true", help="write what graphscope_pin compares graphs with")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", f"{UNRECORDED}: left alone by --graphscope-log; the test records itself")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--graphscope-log`, let every test be recorded."""
    if config.getoption("graphscope_log") is not None:
        for item in items:
            if isinstance(item, pytest.Function) and item.get_closest_marker(UNRECORDED) is None:
                item.fixturenames.insert(0, graphscope_log.__name__)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test failed, mark that in its log, and say where that is kept."""
    report = yield
    if report.failed:
        item.stash[_failed] = True
        kept = item.stash.get(_kept, None)
        if kept is not None and report.when == "call" and call.excinfo is not None:
            from graphscope.eventlog.record import exception

            exception(call.excinfo.value)
            report.sections.append(("graphscope", f"look: graphscope doctor {kept}"))
    return report


@pytest.fixture
def graphscope_log(request: pytest.FixtureRequest) -> Generator[Log, None, None]:
    """The log of what the test does: it is recorded from here on."""
    from graphscope.eventlog.record import record

    folder = request.config.getoption("graphscope_log")
    path = None if folder is None else _log_of(Path(folder).absolute(), request.node.nodeid)
    with record(path) as log:
        if path is not None:
            request.node.stash[_kept] = log.path
        yield log
    if path is not None and not request.node.stash.get(_failed, False):
        shutil.rmtree(log.path, ignore_errors=True)


@pytest.fixture
def assert_same_run(request: pytest.FixtureRequest, graphscope_log: Log) -> Callable[..., None]:
    """Assert that the test does what it did before: `assert_same_run("training.json")`.

    The file lies beside the test, and holds statistics and hashes of what its first steps computed;
    `pytest --graphscope-baseline` writes it. `rtol` says how far apart statistics may be, in place of what rounding
    explains.
    """
    written: bool = request.config.getoption("graphscope_baseline")

    def compare(baseline: str, *, rtol: float | None = None) -> None:
        __tracebackhide__ = True
        assert_as_before(graphscope_log, request.path.parent / baseline, write=written, rtol=rtol)

    return compare


def _log_of(folder: Path, test: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{_file_name(test)}.gscope"


def _file_name(test: str) -> str:
    return re.sub(r"[^\w.-]+", "_", test)[-_LONGEST:]


@pytest.fixture
def graphscope_pin(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare the structure of a log's forward pass with what is kept beside the test: `graphscope_pin(log)`.

    `pytest --graphscope-pin` writes it. A test that pins several graphs gives each a name.
    """
    written: bool = request.config.getoption("graphscope_pin")
    folder = request.path.parent / _PINS
    test = _file_name(f"{request.path.stem}-{request.node.name}")

    def pin(log: Any, name: str = "") -> None:
        __tracebackhide__ = True
        assert_structure(log, folder / f"{test}{f'-{name}' if name else ''}.txt", write=written)

    return pin
