"""What tests of several adapters share."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphscope.cli import main


@pytest.fixture
def debug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Debugs a program at the prompt of this process, with commands; what was printed comes back."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "argv", sys.argv)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(program: str, *commands: str, options: Sequence[str] = ()) -> str:
        (tmp_path / "program.py").write_text(program, encoding="utf-8")
        words = [word for command in commands for word in ("-c", command)]
        assert main(["debug", "--console", *options, *words, "program.py"]) in (0, 1)
        return capsys.readouterr().out

    return run


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A `Device` of `stand_in_device`: one of CUDA, or the memory of this machine in its place."""
    from tests.adapters import stand_in_device  # which needs PyTorch

    yield from stand_in_device.device(monkeypatch)
