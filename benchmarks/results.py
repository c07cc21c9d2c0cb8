"""What came out: measurements, the bars they are held to, and the file that keeps them."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

ROOT: Final = Path(__file__).resolve().parent
RESULTS: Final = ROOT / "results.json"
PAGE: Final = ROOT.parent / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Measurement:
    """One row of a table: whose, and its numbers by column (`seconds`, `bytes`, else a ratio to what is named)."""

    name: str
    numbers: dict[str, float] = field(default_factory=dict)
    note: str = ""
    """Why there are no numbers, or what they are of."""


@dataclass(frozen=True)
class Bar:
    """A number that must not be passed."""

    group: str
    name: str
    column: str
    limit: float


SLOWEST_QUESTION: Final = "the slowest question"

_KEY: Final = {"seconds, key, median": 0.050, "seconds, key, 99 %": 0.100}
_WALKS: Final = ("stepping", "scrolling", "typing a search", "searching")
_TURNS: Final = ("training steps", "folding", "zooming the timeline", "modules", "findings")
_SCREENS: Final[dict[str, tuple[dict[str, float], tuple[str, ...]]]] = {
    "1,000,000 events": ({"seconds": 1.0, "bytes": 250e6}, _WALKS),
    "10,000,000 events": ({"seconds": 2.0, "bytes": 400e6}, _WALKS),
    "1,000,000 events, small steps": ({"seconds": 1.0, "bytes": 250e6}, _WALKS + _TURNS),
    "1,000,000 events, large steps": ({"seconds": 1.0, "bytes": 250e6}, _WALKS + _TURNS),
    "transformer of PyTorch": ({"seconds": 1.0, "bytes": 250e6}, _WALKS + _TURNS),
}
"""What the screen is held to, by logs: the first picture, and what is done there."""

_LONG: Final = {"summary": 2.0, "doctor": 20.0, "export of a step, svg": 1.0}
"""What commands on ten million rows are held to."""

BARS: Final = (
    Bar("W1", "graphscope", "to torch", 0.32),
    Bar("W1", "graphscope, recording", "to torch", 0.60),
    Bar("W2", "graphscope", "to torch", 0.40),
    Bar("W2", "graphscope, recording", "to torch", 0.70),
    Bar("W3", "graphscope", "to torch", 0.95),
    Bar("W3", "graphscope, recording", "to torch", 1.5),
    Bar("W4", "graphscope", "to torch", 0.14),
    Bar("W4", "graphscope, recording", "to torch", 0.30),
    Bar("compiled W1", "graphscope, plan of NumPy calls", "to hand", 0.85),
    Bar("compiled W2", "graphscope, plan of NumPy calls", "to hand", 0.35),
    Bar("compiled W3", "graphscope, plan of NumPy calls", "to hand", 1.0),
    Bar("compiled W1", "graphscope, machine code", "to hand", 0.25),
    Bar("compiled W2", "graphscope, machine code", "to hand", 0.06),
    Bar("compiled W4", "graphscope, machine code", "to hand", 0.08),
    Bar("planning", "W2, plan of NumPy calls", "seconds", 1.0),
    Bar("planning", "W2, machine code", "seconds", 5.0),
    *(Bar("ops", f"{op}, 1M", "forward to torch", 1.5) for op in ("add", "mul", "exp", "tanh", "relu")),
    *(Bar("ops", f"{op}, 1M", "forward to torch", 2.5) for op in ("sum", "sum(0)", "sum(1)")),
    *(Bar("ops", f"{op}, 1M", "forward to torch", 4.0) for op in ("softmax", "sigmoid", "gelu", "softplus")),
    Bar("ops", "matmul, 512x512", "both to torch", 1.1),
    Bar("ops", "conv2d, 16 to 32, 32x32", "both to torch", 3.0),
    Bar("ops", "20x20, median of all", "both to torch", 0.4),
    Bar("networks", "LSTM, 100 steps of batch 32", "to torch", 1.2),
    Bar("networks", "training step of the transformer sample", "to torch", 2.0),
    Bar("append", "row", "to bare pack", 3.0),
    Bar("open", "warm", "seconds", 1.0),
    Bar("open", "warm", "bytes", 150e6),
    *(Bar("doctor", name, "seconds", 5.0) for name in ("perceptron", "transformer")),
    *(Bar("doctor", name, "bytes", 300e6) for name in ("perceptron", "transformer")),
    *(Bar("long", name, "seconds", most) for name, most in _LONG.items()),
    *(Bar("long", name, "bytes", 500e6) for name in (*_LONG, "first picture")),
    Bar("long", "first picture", "seconds, on the clock", 1.0),
    *(Bar("diff", name, "seconds", 20.0) for name in ("one structure", "another structure")),
    Bar("diff", "GPT-2 small", "seconds", 10.0),
    Bar("diff", "GPT-2 small", "bytes", 1e9),
    Bar("pictures", "T = 100, whole, SVG", "seconds", 1.0),
    Bar("memory", "W3, graphscope", "to torch", 1.3),
    Bar("recorders", "W1", "summary", 3.0),
    Bar("adapter", "step to stopped", "seconds", 0.010),
    Bar("adapter", "stack, scopes and a page of a 10M tensor, kept in the log", "seconds", 0.030),
    Bar("adapter", "stack, scopes and a page of a 10M tensor, asked of the program", "seconds", 0.030),
    Bar("adapter", "hover of a 10M tensor, kept in the log", "seconds", 0.050),
    Bar("adapter", "hover of a 10M tensor, asked of the program", "seconds", 0.050),
    Bar("adapter", "a run that meets no breakpoint", "to recorded", 1.1),
    Bar("recorders", "W2", "summary", 3.0),
    Bar("recorders", "W3", "summary", 1.8),
    Bar("recorders", "ENC", "summary", 1.7),
    Bar("recorders", "RES", "summary", 1.35),
    Bar("recorders", "W1", "none", 2.2),
    Bar("recorders", "W2", "none", 2.2),
    Bar("recorders", "W3", "none", 1.6),
    Bar("recorders", "ENC", "none", 1.5),
    Bar("recorders", "RES", "none", 1.25),
    Bar("recorders", "RES", "full", 2.0),
    *(Bar("recorders of JAX", f"jitted, {policy}", "to jitted", 10.0) for policy in ("summary", "none")),
    *(Bar("recorders of JAX", f"jitted, {policy}", "to eager", 1.0) for policy in ("summary", "none")),
    Bar("recorders of JAX", "jitted, after a recording", "to jitted", 1.05),
    *(Bar("recorders of TensorFlow", f"eager, {policy}", "to eager", 1.5) for policy in ("summary", "none")),
    Bar("recorders of TensorFlow", "eager, after a recording", "to eager", 1.05),
    *(
        Bar("models", name, policy, most)
        for name in ("GPT-2 small", "BERT-base", "ViT-B", "ResNet-50")
        for policy, most in (("none", 1.05), ("summary", 1.15), ("full", 1.6))
    ),
    *(
        Bar("models", "LSTM, step by step", policy, most)
        for policy, most in (("none", 1.9), ("summary", 2.2), ("full", 2.6))
    ),
    *(Bar("left out", name, "to bare", 1.01) for name in ("W1", "W3", "ENC", "ResNet-50")),
    *(
        Bar("long run", f"{way}: the last quarter", column, most)
        for way in ("every step, the newest 10 kept", "one step of 100, the newest 3 kept")
        for column, most in (("step to first", 1.1), ("memory to first", 1.05), ("disk to first", 2.0))
    ),
    Bar("cold start", "W3, 5 steps, graphscope, recording", "to torch", 1.6),
    Bar("cold start", "a short PyTorch program, what recording adds", "seconds", 0.3),
    Bar("query", SLOWEST_QUESTION, "seconds", 2.0),
    Bar("ranks", "1,000 ranks", "seconds", 60.0),
    *(Bar("observers", name, "summary to torchlens", 1 / 15) for name in ("W1", "W2", "W3", "ENC", "RES")),
    *(
        Bar("screen", f"{log}: {what}", column, most)
        for log, (bars, deeds) in _SCREENS.items()
        for what, limits in {"first picture": bars, **dict.fromkeys(deeds, _KEY)}.items()
        for column, most in limits.items()
    ),
    Bar("overhead", "W1", "share", 0.02),
    Bar("overhead", "W2", "share", 0.02),
    Bar("overhead", "W3", "share", 0.02),
    Bar("overhead", "W4", "share", 0.02),
)

Groups = dict[str, list[Measurement]]


def machine() -> dict[str, str]:
    """What the numbers depend on. Names no host, no user and no path."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": f"{np.__version__} with {blas['name']}",
        "threads": "1",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def number_of(groups: Groups, bar: Bar) -> float | None:
    """What a bar is held against; None when it was not measured."""
    for measurement in groups.get(bar.group, []):
        if measurement.name == bar.name:
            return measurement.numbers.get(bar.column)
    return None


def read() -> Groups:
    """The newest results of every group; empty when there are none."""
    try:
        found = json.loads(RESULTS.read_text(encoding="utf-8"))
    except OSError:
        return {}
    return {name: [Measurement(**entry) for entry in entries] for name, entries in found["groups"].items()}


def write(groups: Groups) -> None:
    """Keep the results as data."""
    content: dict[str, Any] = {
        "machine": machine(),
        "groups": {name: [asdict(entry) for entry in entries] for name, entries in groups.items()},
    }
    RESULTS.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
