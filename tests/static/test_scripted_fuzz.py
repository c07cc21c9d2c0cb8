"""The engine's random programs, scripted as far as the subset goes: the values and gradients of the eager run."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import graphscope as gs
from graphscope import jit
from graphscope.errors import StaticError
from tests.engine.fuzzing.__main__ import program
from tests.engine.fuzzing.twin import in_float64
from tests.static.test_agreement import KINDS, LEAF, made

pytestmark = pytest.mark.torch

STATEMENT = re.compile(r"x\d+ = (?!.*requires_grad_\()[^;]*")
"""What a script may say: a name that is given a value. What writes in place, or runs for its effect, is outside."""


def module_of(lines: list[str], leaves: list[str], names: list[str], file: Path) -> Callable[..., Any]:
    """A function of the leaves, in a file of its own: scripting reads the source."""
    arguments = ", ".join(line.partition(" = ")[0] for line in leaves)
    body = "\n".join(f"    {line}" for line in lines)
    results = ", ".join(names)
    text = f"import graphscope as torch\n\n\ndef run({arguments}):\n{body}\n    return ({results},)\n"
    file.write_text(text, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), space)
    return space["run"]  # type: ignore[no-any-return]


def refused_line(error: StaticError, lines: list[str]) -> str:
    """The statement that an error is told at."""
    place = re.search(r"program_\d+_\d+\.py:(\d+)", error.message)
    assert place, error.message
    return lines[int(place[1]) - 5]


def eagerly(lines: list[str]) -> tuple[list[str], list[str]]:
    """The lines that run, and the names of the tensors with a finite value that they make."""
    space: dict[str, Any] = {"torch": gs}
    ran = []
    for line in lines:
        try:
            exec(compile(line, "<program>", "exec"), space)
        except (RuntimeError, TypeError, ValueError, IndexError, NameError):
            continue
        ran.append(line)
    names = [
        line.partition(" = ")[0] for line in ran
        if not LEAF.fullmatch(line) and np.isfinite(space[line.partition(" = ")[0]].array).all()
    ]  # fmt: skip
    return ran, names


def gradients(outs: Any, given: list[gs.Tensor]) -> list[Any]:
    total = gs.zeros(())
    for out in outs:
        if out.dtype == gs.float64:
            total = total + (out * out).sum()
    found = gs.autograd.grad(total, given, allow_unused=True) if total.requires_grad else [None] * len(given)
    zeros = (np.zeros_like(x.array) if one is None else one.array for x, one in zip(given, found, strict=True))
    return [*(out.array for out in outs), *zeros]


def compare(seed: int, folder: Path) -> tuple[int, int]:
    """Compare one program both ways; how many lines it has, and how many of them are in the subset."""
    statements, _ = program(seed, KINDS, longest=20)
    with in_float64(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        lines, names = eagerly([line for line in statements if STATEMENT.fullmatch(line)])
        leaves = [line for line in lines if LEAF.fullmatch(line)]
        if not leaves or not names:
            return 0, 0
        count = len(lines)
        while names and leaves:
            inner = [line for line in lines if line not in leaves]
            run = module_of(inner, leaves, names, folder / f"program_{seed}_{len(lines)}.py")
            try:
                found = jit.script(run)(*(given := made(leaves)))
            except StaticError as error:
                lines.remove(refused_line(error, inner))
                lines, names = eagerly(lines)
                leaves = [line for line in lines if LEAF.fullmatch(line)]
                continue
            wanted = gradients(run(*(other := made(leaves))), other)
            for one, two in zip(gradients(found, given), wanted, strict=True):
                assert (np.shape(one), np.asarray(one).dtype) == (np.shape(two), np.asarray(two).dtype), run.__module__
                np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-7 * max(1.0, np.abs(two).max(initial=0.0)))
            return count, len(lines)
    return count, 0


def whole(seeds: range, folder: Path) -> None:
    lines = scripted = 0
    for seed in seeds:
        try:
            count, kept = compare(seed, folder)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise
        lines += count
        scripted += kept
    assert scripted > 0.95 * lines, f"{scripted} of {lines} lines are in the subset"


@pytest.mark.slow
def test_random_programs_scripted(tmp_path: Path) -> None:
    whole(range(15), tmp_path)


@pytest.mark.slow
def test_many_random_programs_scripted(tmp_path: Path) -> None:
    whole(range(15, 120), tmp_path)
