"""What is loaded when: fresh processes are started, and their `sys.modules` looked at."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = ("numpy", "rich", "textual", "graphviz", "graphviz_pure", "torch", "jax", "tensorflow")
PRODUCERS = ("graphscope.engine", "graphscope.adapters")
CONSUMERS = (
    "graphscope.graph",
    "graphscope.debugger",
    "graphscope.diagnose",
    "graphscope.exporters",
    "graphscope.tables",
    "graphscope.console",
    "graphscope.dap",
    "graphscope.tui",
)


def loaded_after(code: str, cwd: Path | None = None) -> set[str]:
    """Names of the modules that a process has loaded when it has run `code`."""
    result = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print('\\n' + json.dumps(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
    )
    return set(json.loads(result.stdout.splitlines()[-1]))


def assert_none(loaded: set[str], names: tuple[str, ...]) -> None:
    found = sorted(module for module in loaded if any(module == n or module.startswith(f"{n}.") for n in names))
    assert found == []


def test_import_is_light() -> None:
    loaded = loaded_after("import graphscope")
    assert_none(loaded, (*HEAVY, *PRODUCERS, *CONSUMERS, "graphscope.eventlog", "argparse", "typing"))


def test_version_is_light() -> None:
    loaded = loaded_after("from graphscope.cli import main; main(['--version'])")
    assert_none(loaded, (*HEAVY, *PRODUCERS, *CONSUMERS, "graphscope.eventlog", "argparse", "typing"))


def test_help_needs_no_library() -> None:
    assert_none(loaded_after("from graphscope.cli import main; main(['--help'])"), HEAVY)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the recording of a small program."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "it.py").write_text("import graphscope as gs\nx = gs.randn(3, requires_grad=True)\nx.sum().backward()\n")
    loaded_after("from graphscope.cli import main; assert main(['record', 'it.py']) == 0", cwd=folder)
    return folder


@pytest.mark.slow
def test_recording_loads_no_screen_and_no_framework(log: Path) -> None:
    loaded = loaded_after("from graphscope.cli import main; main(['record', '--log', 'b.gscope', 'it.py'])", cwd=log)
    assert "graphscope.engine" in loaded
    assert_none(loaded, (*HEAVY[1:], *CONSUMERS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "unwanted"),
    [
        (["summary", "it.gscope"], ("textual", "graphviz", "torch", *PRODUCERS)),
        (["summary", "--json", "it.gscope"], ("textual", "rich", "graphviz", "torch", *PRODUCERS)),
        (["pack", "it.gscope"], ("textual", "rich", "graphviz", "torch", *PRODUCERS)),
        (["export", "it.gscope", "-o", "it.dot"], ("textual", "rich", "torch", *PRODUCERS)),
        (["export", "it.gscope", "-o", "it.svg"], ("textual", "rich", "torch", *PRODUCERS)),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_log_is_read_without_an_engine(log: Path, words: list[str], unwanted: tuple[str, ...]) -> None:
    loaded = loaded_after(f"from graphscope.cli import main; assert main({words!r}) == 0", cwd=log)
    assert_none(loaded, unwanted)


@pytest.mark.slow
@pytest.mark.parametrize("package", CONSUMERS)
def test_consumers_do_not_load_an_engine(package: str) -> None:
    loaded = loaded_after(f"import {package}")
    assert_none(loaded, (*PRODUCERS, "torch", "jax", "tensorflow", "textual"))


@pytest.mark.slow
def test_the_engine_loads_no_consumer() -> None:
    loaded = loaded_after("import graphscope.engine, graphscope.nn, graphscope.optim")
    assert_none(loaded, (*CONSUMERS, *HEAVY[1:], "graphscope.cli"))
