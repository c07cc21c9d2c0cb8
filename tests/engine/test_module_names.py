"""What people write to import a module: one module, whichever of its names it is imported by."""

from __future__ import annotations

import subprocess
import sys

import pytest

SPELLINGS = {
    "import graphscope as torch; torch.nn.Linear": "graphscope.engine.nn.Linear",
    "import graphscope.nn as nn; nn.functional.relu": "graphscope.engine.nn.functional.relu",
    "from graphscope.nn import functional as F; F.relu": "graphscope.engine.nn.functional.relu",
    "from graphscope.nn.functional import relu; relu": "graphscope.engine.nn.functional.relu",
    "import graphscope.optim.lr_scheduler as s; s.StepLR": "graphscope.engine.optim.lr_scheduler.StepLR",
    "import graphscope.utils.data; graphscope.utils.data.DataLoader": "graphscope.engine.utils.data.DataLoader",
    "import graphscope.cuda.amp as amp; amp.GradScaler": "graphscope.engine.devices.GradScaler",
    "import graphscope as gs; gs.cuda.amp.autocast": "graphscope.engine.devices.autocast",
    "import graphscope.jit as jit; jit.trace": "graphscope.static.jit.trace",
    "from graphscope import jit; jit.trace": "graphscope.static.jit.trace",
    "import graphscope.linalg; graphscope.linalg.norm": "graphscope.engine.linalg.norm",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_a_module_is_loaded_once_whatever_it_is_called() -> None:
    lines = ["from importlib import import_module"]
    for spelling, home in SPELLINGS.items():
        imports, _, value = spelling.partition("; ")
        module, _, name = home.rpartition(".")
        lines += [imports, f"assert {value} is getattr(import_module({module!r}), {name!r}), {spelling!r}"]
    done = run("\n".join(lines))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_each_spelling_works_first(spelling: str) -> None:
    done = run(spelling)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["graphscope.nonsense", "graphscope.nn.nonsense", "graphscope.engine.nonsense"])
def test_a_module_that_is_not_there_is_named(name: str) -> None:
    done = run(f"import {name}")
    assert done.stderr.splitlines()[-1].startswith(f"ModuleNotFoundError: No module named '{name}'")
