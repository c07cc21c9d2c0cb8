"""What recording a TensorFlow program costs beside the same program alone and TensorFlow's own ways to look in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from benchmarks.engines import Step, load
from benchmarks.log import nothing
from benchmarks.measure import interleave
from benchmarks.recorders import POLICIES, afterwards, recorded
from benchmarks.results import Measurement

WIDTH: Final = 256
LAYERS: Final = 4
BATCH: Final = 256
EAGER: Final = "eager"
COMPILED: Final = "tf.function"


def measure(rounds: int = 5) -> list[Measurement]:
    """A training step of the perceptron, alone, recorded, and as TensorFlow lets one look into it."""
    eager, compiled = _steps()
    sessions = {
        **{f"eager, {policy}": partial(recorded, eager, policy) for policy in POLICIES},
        "eager, after a recording": partial(afterwards, eager),
        "eager, enable_check_numerics": _numerics_checked,
        "eager, enable_dump_debug_info": _dumped,
    }
    steps = {EAGER: Step(eager, nothing), COMPILED: Step(compiled, nothing)}
    steps |= {name: Step(eager, nothing, session) for name, session in sessions.items()}
    timings = interleave(steps, rounds=rounds)
    return [
        Measurement(
            name,
            {
                "seconds": timings.median(name),
                "to eager": timings.ratio(name, EAGER),
                "to tf.function": timings.ratio(name, COMPILED),
            },
        )
        for name in steps
    ]


@contextmanager
def _numerics_checked() -> Iterator[None]:
    """Each op is looked at for NaN and Inf."""
    debugging = load("tensorflow").debugging
    debugging.enable_check_numerics()
    try:
        yield
    finally:
        debugging.disable_check_numerics()


@contextmanager
def _dumped() -> Iterator[None]:
    """What the debugger of TensorFlow 2 reads is written: of each op, counts of its elements."""
    debugging = load("tensorflow").debugging.experimental
    folder = tempfile.mkdtemp(prefix="benchmark-")
    debugging.enable_dump_debug_info(folder, tensor_debug_mode="FULL_HEALTH")
    try:
        yield
    finally:
        debugging.disable_dump_debug_info()
        shutil.rmtree(folder)


def _steps() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A step that is eager, and one that is compiled."""
    tf = load("tensorflow")
    weights = [tf.Variable(tf.random.normal([WIDTH, WIDTH]) / WIDTH**0.5) for _ in range(LAYERS)]
    x = tf.random.normal([BATCH, WIDTH])

    def step() -> Any:
        with tf.GradientTape() as tape:
            h = x
            for weight in weights:
                h = tf.tanh(tf.matmul(h, weight))
            loss = tf.reduce_mean(h * h)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(0.01 * gradient)
        return loss

    compiled = tf.function(step)
    return lambda: step().numpy(), lambda: compiled().numpy()
