"""Networks against torch eager: an LSTM over many steps, and the training step of a sample."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import interleave
from benchmarks.ops import Timed, beside_torch
from benchmarks.results import Measurement
from benchmarks.workloads import normal

SAMPLES: Final = Path(__file__).parent.parent / "samples"
STEPS, BATCH, INPUTS, HIDDEN = 100, 32, 32, 64
ROUNDS: Final = 15


def lstm(module: Any) -> Timed:
    """Forward and backward of one layer."""
    layer = module.nn.LSTM(INPUTS, HIDDEN)
    x = module.from_numpy(normal(STEPS, BATCH, INPUTS, seed=0)).requires_grad_()
    cotangent = module.from_numpy(normal(STEPS, BATCH, HIDDEN, seed=1))
    return Timed(lambda: layer(x)[0].backward(cotangent))


def transformer(module: Any) -> Timed:
    """What `samples/transformer.py` does in each step of its loop, but for what it prints."""
    text = (SAMPLES / "transformer.py").read_text(encoding="utf-8")
    program = ast.parse(re.sub(r"^import graphscope\b", f"import {module.__name__}", text, flags=re.MULTILINE))
    place = next(place for place, node in enumerate(program.body) if isinstance(node, ast.For))
    loop = program.body[place]
    assert isinstance(loop, ast.For)
    names: dict[str, Any] = {}
    exec(compile(ast.Module(program.body[:place], []), "transformer.py", "exec"), names)
    silent: list[ast.stmt] = [node for node in loop.body if not isinstance(node, ast.If)]
    step = compile(ast.Module(silent, []), "transformer.py", "exec")
    return Timed(lambda: exec(step, names))


CASES: Final[dict[str, Callable[[Any], Timed]]] = {
    f"LSTM, {STEPS} steps of batch {BATCH}": lstm,
    "training step of the transformer sample": transformer,
}
"""What is measured: the name, and what makes it of a module that speaks torch."""


def measure() -> list[Measurement]:
    """Time every case, ours and torch's interleaved."""
    return beside_torch(_measured)


def _measured(gs: Any, torch: Any) -> list[Measurement]:
    found = []
    for name, build in CASES.items():
        timings = interleave({"ours": build(gs), "torch": build(torch)}, rounds=ROUNDS)
        numbers = {"seconds": timings.median("ours"), "to torch": timings.ratio("ours", "torch")}
        found.append(Measurement(name, numbers))
    return found
