"""A log that takes any array as a row, and programs that record in a process of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from graphscope.eventlog import schema
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.writer import Writer

PROGRAMS = Path(__file__).parent / "programs"


class Append(Protocol):
    def __call__(
        self, writer: Writer, value: Any, *inputs: tuple[int, int], kind: Kind = ..., **fields: Any
    ) -> int: ...


@pytest.fixture
def append() -> Append:
    def append(writer: Writer, value: Any, *inputs: tuple[int, int], kind: Kind = Kind.OP, **fields: Any) -> int:
        array = None if value is None else np.asanyarray(value)
        described = {} if array is None else {"shape": array.shape, "dtype": array.dtype}
        template = writer.template(kind, input_count=len(inputs), **described, **fields)
        if len(inputs) > schema.INLINE_INPUTS:
            return writer.append_wide(template, [] if array is None else [(array, template.keep)], inputs)
        packed = [slot << schema.SLOT_SHIFT | row for row, slot in inputs]
        return writer.append(template, array, 0, 0, 0, *packed)

    return append


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Writer]]:
    """A writer of a new log in the test's own folder; it goes with the test, for some are large."""
    made = []

    def make(name: str = "run.gscope", **options: Any) -> Writer:
        made.append(Writer(tmp_path / name, **options))
        return made[-1]

    yield make
    for writer in made:
        writer.close()
        shutil.rmtree(writer.path, ignore_errors=True)


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def program(tmp_path: Path) -> Run:
    """Run one of `programs/` with arguments, in the test's own folder."""

    def run(name: str, *arguments: object, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command: Sequence[str] = [sys.executable, str(PROGRAMS / name), *map(str, arguments)]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )

    return run
