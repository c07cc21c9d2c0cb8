"""Steps that are left out run what `torch.compile` compiled as bare, also where that holds the optimizer's step."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.graph.step_numbers import step_numbers

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(torch.compiler, "set_stance"), reason="bare steps can't be run eagerly"),
]

EVERY, COUNT = 8, 20

# A backend whose numbers no eager op has: each sum is off by what tells that it ran compiled.
PROGRAM = f"""
import contextlib, json, sys, warnings
import torch

warnings.simplefilter("error", RuntimeWarning)

def backend(graph, inputs):
    for node in graph.graph.nodes:
        if node.op == "call_method" and node.target == "sum":
            with graph.graph.inserting_after(node):
                other = graph.graph.call_function(torch.mul, (node, 1.125))
            node.replace_all_uses_with(other, delete_user_cb=lambda user: user is not other)
    graph.recompile()
    return graph.forward

torch.manual_seed(0)
weight = torch.ones(6, requires_grad=True)
optimizer = torch.optim.AdamW([weight], 1e-2)

def loss_of(x):
    return (x @ weight).square().sum()

loss_of = torch.compile(loss_of, backend=backend)
update = torch.compile(lambda: optimizer.step(), backend=backend) if "update" in sys.argv else optimizer.step
eager = json.loads(sys.argv[1])
for step in range({COUNT}):
    stance = torch.compiler.set_stance("force_eager") if step in eager else contextlib.nullcontext()
    with stance:
        optimizer.zero_grad()
        loss = loss_of(torch.randn(4, 6))
        loss.backward()
        update()
        print(step, loss.item().hex())
"""


@pytest.mark.parametrize("compiled", ["loss", "update"])
def test_left_out_steps_compute_as_the_compiled_program_does(tmp_path: Path, compiled: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    recorded = [0, 1, EVERY, 2 * EVERY]

    def run(*command: str, eager: list[int]) -> list[str]:
        done = subprocess.run(
            [sys.executable, *command, "program.py", json.dumps(eager), compiled],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    options = ["--every", str(EVERY), "--keep-last", "9", "-o", "run.gscope"]
    found = run("-m", "graphscope", "record", *options, eager=[])
    assert found == run(eager=recorded)
    assert found != run(eager=[])
    log = load(tmp_path / "run.gscope")
    numbers = step_numbers(log)
    assert [numbers.number(place).counters["step"] for place in range(len(numbers))] == recorded
    assert not np.any(log.column("kind") == Kind.EXCEPTION)
