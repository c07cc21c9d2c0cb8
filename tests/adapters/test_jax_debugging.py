"""JAX programs at the console: stops in both passes, and edits of values and cotangents that reach what follows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.jax, pytest.mark.slow]
pytest.importorskip("jax")

PROGRAM = """\
import jax
import jax.numpy as jnp


def loss(w):
    h = jnp.tanh(w)
    return jnp.sum(h * 3)


differentiate = {}(jax.grad(loss))
print(differentiate(jnp.array([1.0, 2.0])))
"""


def run(folder: Path, program: str, *words: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command on a program, with something typed."""
    (folder / "fit.py").write_text(program, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "graphscope", *words, "fit.py"],
        cwd=folder,
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "NO_COLOR": "1", "JAX_PLATFORMS": "cpu"},
    )


@pytest.mark.parametrize("wrapped", ["", "jax.jit"])
def test_an_edited_value_and_an_edited_cotangent_reach_what_follows(tmp_path: Path, wrapped: str) -> None:
    typed = "b op:tanh\nc\nset value = np.array([0.5, 0.0])\nc\np grad\nset grad = np.array([4.0, 8.0])\nc\n"
    result = run(tmp_path, PROGRAM.format(wrapped), "debug", "--console", typed=typed)
    assert "array([3., 3.], dtype=float32)" in result.stdout
    assert "[3. 8.]" in result.stdout  # 4 · (1 - 0.5²) and 8 · (1 - 0²)


def test_what_fails_fails_as_ever(tmp_path: Path) -> None:
    leaking = """\
import jax
kept = []


@jax.jit
def step(x):
    kept.append(x * 2)
    return x


step(1.0)
print(kept[0] + 1)
"""
    result = run(tmp_path, leaking, "record")
    bare = subprocess.run([sys.executable, "fit.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == bare.returncode == 1
    told = "jax.errors.UnexpectedTracerError: Encountered an unexpected tracer."
    assert told in bare.stderr
    assert told in result.stderr


def test_an_op_without_a_gradient_is_refused_in_the_words_of_jax(tmp_path: Path) -> None:
    looping = """\
import jax


def loss(x):
    return jax.lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)


print(jax.grad(loss)(1.0))
"""
    result = run(tmp_path, looping, "record")
    assert result.returncode == 1
    assert "Reverse-mode differentiation does not work for lax.while_loop" in result.stderr


def test_two_frameworks_are_recorded_at_once(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    both = """\
import jax
import torch

w = torch.ones(2, requires_grad=True)
torch.sigmoid(w).sum().backward()
print(jax.grad(lambda x: jax.numpy.tanh(x))(0.5), w.grad)
"""
    result = run(tmp_path, both, "record", "--log", "both.gscope")
    assert result.returncode == 0, result.stderr
    from graphscope.eventlog.reader import load

    graph = load(tmp_path / "both.gscope").graph
    assert len(graph.select("op:tanh")) == len(graph.select("op:sigmoid")) == 2
