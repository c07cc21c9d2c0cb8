"""Graph breaks and recompilations: what a log says of them is what PyTorch's own logs say, of the program alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import graphscope as gs
from graphscope.graph.compilation import compilation
from tests.adapters.compiler_programs import PROGRAMS
from tests.adapters.kept_regions import MARKS

pytestmark = MARKS

RUNNER = """\
import functools, runpy, sys
import torch

compile = functools.partial(torch.compile, backend="aot_eager")
for file in sys.argv[1:]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    runpy.run_path(file, {"torch": torch, "compile": compile})
"""

_PREFIX = re.compile(r"^V\d{4} .*?\] \[(?P<compilation>[\d/]+)\] \[__(?P<artifact>graph_breaks|recompiles)\] ?")
_BEGINS = re.compile(r"Graph break in user code|Graph break \(user stack suppressed|Graph break: |Recompiling function")
_BREAK = re.compile(
    r"Graph break (?:\(.*?\) )?in user code at (.+?):(\d+)\n(?:Graph Break )?Reason: (.*?)\s*"
    r"(?:\n(?:User code traceback|Stack variable source attribution):.*)?",
    re.DOTALL,
)
_AGAIN = re.compile(r"Recompiling function (\S+) in (.+):(\d+)")
_GUARD = re.compile(r"^ *- ([\d/]+): (.*?)(?: +# .*)?$", re.MULTILINE)
_ADDRESS = re.compile(r"0x[0-9a-f]+")
_RESUMED = re.compile(r"torch_dynamo_resume_in_(\w+)_at_\d+")


def messages(text: str) -> list[tuple[str, str]]:
    """What PyTorch's own logs say: of which compilation, and what."""
    found: list[list[str]] = []
    for line in text.splitlines():
        prefix = _PREFIX.match(line)
        if prefix is not None:
            said = line[prefix.end() :]
            if _BEGINS.match(said):
                found.append([prefix["compilation"]])
            found[-1].append(said)
    return [(compilation, "\n".join(lines)) for compilation, *lines in found]


def told_by_torch(text: str) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for compilation_id, said in messages(text):
        if (found := _BREAK.fullmatch(said)) is not None:
            told.append(("break", compilation_id, Path(found[1]).name, int(found[2]), _ADDRESS.sub("0x", found[3])))
        elif (found := _AGAIN.match(said)) is not None:
            name = _RESUMED.sub(r"\1", found[1])
            guards = tuple(_GUARD.findall(said))
            told.append(("again", compilation_id, Path(found[2]).name, int(found[3]), name, guards))
        else:
            told.append(("other", said))
    return told


def told_by_us(log: Any) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for each in compilation(log).events:
        site = log.site(each.site)
        place = Path(site.file).name, site.line
        if each.event == "break":
            told.append(("break", each.compilation, *place, _ADDRESS.sub("0x", each.reason)))
        elif each.failed:
            guards = tuple((guard.compilation, guard.guard) for guard in each.failed)
            told.append(("again", each.compilation, *place, each.function, guards))
    return told


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], str]:
    """What both say of all programs, and what the recorded run printed."""
    folder = tmp_path_factory.mktemp("programs")
    files = []
    for name, text in PROGRAMS.items():
        files.append(folder / f"{name}.py")
        files[-1].write_text(dedent(text))
    runner = folder / "runner.py"
    runner.write_text(RUNNER)
    command, log = [str(runner), *map(str, files)], folder / "run.gscope"
    alone = subprocess.run(
        [sys.executable, *command], env={**os.environ, "TORCH_LOGS": "graph_breaks,recompiles"},
        capture_output=True, text=True, timeout=500, check=True,
    )  # fmt: skip
    recorded = subprocess.run(
        [sys.executable, "-m", "graphscope", "record", "--capture", "compiled", "--log", str(log), *command],
        capture_output=True, text=True, timeout=500, check=True,
    )  # fmt: skip
    return told_by_torch(alone.stderr), told_by_us(gs.load(log)), recorded.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_breaks_and_recompilations_are_those_that_torch_tells(name: str, both: Any) -> None:
    by_torch, by_us, _ = both
    expected = [each for each in by_torch if each[2] == f"{name}.py"]
    assert expected
    # An event is told at the end of a compilation, a break in its middle.
    assert sorted(each for each in by_us if each[2] == f"{name}.py") == sorted(expected)


def test_nothing_else_is_told_by_torch(both: Any) -> None:
    assert [each for each in both[0] if each[0] == "other"] == []


def test_recording_lets_torch_say_no_more_than_without(both: Any) -> None:
    assert "[__graph_breaks]" not in both[2]
    assert "[__recompiles]" not in both[2]
