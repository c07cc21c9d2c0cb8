"""What recording a TensorFlow program costs beside the same program alone, eager and in a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from benchmarks.engines import Step, load
from benchmarks.log import nothing
from benchmarks.measure import interleave
from benchmarks.recorders import recorded
from benchmarks.results import Measurement

WIDTH: Final = 256
LAYERS: Final = 4
BATCH: Final = 256


def measure(rounds: int = 5) -> list[Measurement]:
    """A training step of the perceptron."""
    eager, compiled = _steps()
    steps = {"eager": Step(eager, nothing), "tf.function": Step(compiled, nothing)}
    for policy in ("full", "summary", "none"):
        steps[policy] = Step(eager, nothing, partial(recorded, eager, policy))
    timings = interleave(steps, rounds=rounds)
    return [
        Measurement(
            policy,
            {
                "seconds": timings.median(policy),
                "to eager": timings.ratio(policy, "eager"),
                "to tf.function": timings.ratio(policy, "tf.function"),
            },
        )
        for policy in ("full", "summary", "none")
    ]


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
