"""The engine's random programs give the same values and gradients eagerly, traced, and compiled on either back end.

A program of the fuzzer becomes a function of the leaves that require grad. What runs backward passes, sets hooks or
switches gradients off inside is left out: no graph can hold it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import graphscope as gs
from graphscope import jit
from graphscope.errors import StaticError
from graphscope.static.machine.library import available
from tests.engine.fuzzing.__main__ import program
from tests.engine.fuzzing.statements import READY
from tests.engine.fuzzing.twin import in_float64

pytestmark = pytest.mark.torch

KINDS = {name: kind for name, kind in READY.items() if name not in ("backward", "double", "setting", "quiet")}
LEAF = re.compile(r"x\d+ = torch.tensor\(.*requires_grad=True\)")

WAYS: dict[str, Callable[..., Any]] = {
    "traced": jit.trace,
    "numpy": jit.compile,
    "machine": lambda function, *examples: jit.compile(function, *examples, backend="machine"),
}


def function_of(lines: list[str]) -> tuple[Callable[..., Any], list[str]]:
    """A program as a function of its leaves (which are made as the lines say), to a loss and all results."""
    leaves = [line for line in lines if LEAF.fullmatch(line)]
    names = [line.partition(" = ")[0] for line in leaves]

    def run(*given: gs.Tensor) -> Any:
        space: dict[str, Any] = {"torch": gs, **dict(zip(names, given, strict=True))}
        for line in lines:
            if line not in leaves:
                try:
                    exec(compile(line, "<program>", "exec"), space)
                except (RuntimeError, TypeError, ValueError, IndexError) as error:
                    if isinstance(error, StaticError):
                        raise
        outs = [
            value for name, value in space.items()
            if name[1:].isdigit() and isinstance(value, gs.Tensor) and value.node is not None
            and np.isfinite(value.array).all()
        ]  # fmt: skip
        total = gs.zeros(())
        for out in outs:
            total = total + (out * out).sum()
        return total, outs

    return run, leaves


def made(leaves: list[str]) -> list[gs.Tensor]:
    space: dict[str, Any] = {"torch": gs}
    for line in leaves:
        exec(line, space)
    return [value for name, value in space.items() if name[1:].isdigit()]


def outcome(function: Callable[..., Any], given: list[gs.Tensor]) -> list[Any]:
    total, outs = function(*given)
    if total.requires_grad:
        total.backward()
    zeros = [np.zeros_like(x.array) if x.grad is None else x.grad.array for x in given]
    return [*(out.array for out in outs), total.array, *zeros]


def differences(seeds: range, ways: dict[str, Callable[..., Any]]) -> list[str]:
    """Where a way differs from the eager run; and how many programs could not be traced."""
    found, refused, count = [], 0, 0
    for seed in seeds:
        lines, _ = program(seed, KINDS)
        with in_float64(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            run, leaves = function_of(lines)
            try:
                wanted = outcome(run, made(leaves))
            except RuntimeError:  # a write into what a rule had saved: eagerly an error
                continue
            count += 1
            for name, way in ways.items():
                try:
                    given = outcome(way(run, *made(leaves)), made(leaves))
                except StaticError:
                    refused += 1
                    continue
                for one, other in zip(given, wanted, strict=True):
                    one, other = np.asarray(one), np.asarray(other)
                    scale = max(1.0, float(np.abs(other).max())) if other.size else 1.0
                    if one.dtype != other.dtype or one.shape != other.shape:
                        found.append(f"seed {seed}, {name}: {one.dtype}{one.shape}, not {other.dtype}{other.shape}")
                    elif not np.allclose(one, other, rtol=1e-6, atol=1e-7 * scale, equal_nan=True):
                        found.append(f"seed {seed}, {name}: {one} is not {other}")
    assert refused <= count * len(ways) * 0.08, f"{refused} of {count * len(ways)} were refused"
    return found[:3]


@pytest.mark.slow
def test_random_programs_traced_and_planned() -> None:
    assert not (found := differences(range(12), {name: WAYS[name] for name in ("traced", "numpy")})), "\n".join(found)


@pytest.mark.slow
def test_many_random_programs_traced_and_planned() -> None:
    assert not (found := differences(range(12, 120), {name: WAYS[name] for name in ("traced", "numpy")})), "\n".join(
        found
    )


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="llvmlite is not installed")
def test_random_programs_as_machine_code(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert not (found := differences(range(20), {"machine": WAYS["machine"]})), "\n".join(found)
