"""What people write to import a module: one module, whichever of its names it is imported by."""

from __future__ import annotations

import os
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


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60)


@pytest.mark.slow
def test_a_module_is_loaded_once_whatever_it_is_called() -> None:
    lines = ["from importlib import import_module"]
    for spelling, home in SPELLINGS.items():
        imports, _, value = spelling.partition("; ")
        module, _, name = home.rpartition(".")
        lines += [imports, f"assert {value} is getattr(import_module({module!r}), {name!r}), {spelling!r}"]
    done = run("\n".join(lines))
    assert done.returncode == 0, done.stderr


FIRST = """
import os, sys
import numpy  # so that each child loads graphscope alone
for spelling in sys.argv[1:]:
    if os.fork() == 0:
        exec(spelling)
        os._exit(0)
    assert os.wait()[1] == 0, spelling
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_each_spelling_works_first() -> None:
    done = run(FIRST, *SPELLINGS)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_module_that_is_not_there_is_named() -> None:
    names = ["graphscope.nonsense", "graphscope.nn.nonsense", "graphscope.engine.nonsense"]
    tries = [f"try:\n    import {name}\nexcept ModuleNotFoundError as error:\n    print(error)" for name in names]
    assert run("\n".join(tries)).stdout.splitlines() == [f"No module named '{name}'" for name in names]
