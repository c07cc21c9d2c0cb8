"""Runs the command line as a person does: in a process of its own, in an empty folder."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from graphscope.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).parents[2]


def run_in(folder: Path, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python with arguments in a folder."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100", "NO_COLOR": "1"},
        check=False,
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run Python with arguments in `tmp_path`: `run("-m", "graphscope", "summary")`."""

    return functools.partial(run_in, tmp_path)


@pytest.fixture
def graphscope(run: Run) -> Run:
    """Run `graphscope ARGUMENTS`."""

    def start(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return run("-m", "graphscope", *arguments, stdin=stdin)

    return start


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run `graphscope ARGUMENTS` in this process: what only reads logs leaves nothing behind in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")

    def start(*arguments: str) -> subprocess.CompletedProcess[str]:
        status = main(arguments)
        return subprocess.CompletedProcess(arguments, status, *capfd.readouterr())

    return start
