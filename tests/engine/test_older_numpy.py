"""With NumPy 1 the debugger works, and the engine says what it takes."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import numpy
numpy.__version__ = "1.26.4"
import graphscope as gs
from graphscope.debugger import command_table

assert "record" in dir(gs) and "tensor" not in dir(gs)
for ask in (
    lambda: gs.tensor,
    lambda: gs.nn,
    lambda: __import__("graphscope.static"),
    lambda: command_table.find("check").function(None, "tanh"),
):
    try:
        ask()
    except gs.GraphscopeError as error:
        print(error.message)
with gs.record() as log:
    pass
assert len(gs.load(log.path)) == 0
"""


@pytest.mark.slow
def test_the_engine_says_that_it_takes_a_newer_numpy() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said = "graphscope's own engine and graphscope.static take NumPy 2 or newer, and this is NumPy 1.26.4"
    assert done.stdout.splitlines() == [said] * 4
