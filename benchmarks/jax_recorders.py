"""What recording a JAX program costs beside the same program alone, jitted and eager: a perceptron 256 wide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    """Loss and gradients of the perceptron."""
    jitted, eager = _steps()
    steps = {name: Step(run, nothing, partial(_warm, run)) for name, run in (("jitted", jitted), ("eager", eager))}
    for policy in ("summary", "none"):
        steps[policy] = Step(jitted, nothing, partial(recorded, jitted, policy))
    timings = interleave(steps, rounds=rounds)
    return [
        Measurement(
            f"jitted, {policy}",
            {
                "seconds": timings.median(policy),
                "to jitted": timings.ratio(policy, "jitted"),
                "to eager": timings.ratio(policy, "eager"),
            },
        )
        for policy in ("summary", "none")
    ]


@contextmanager
def _warm(run: Callable[[], Any]) -> Iterator[None]:
    """A step that is compiled: a recording that has ended leaves nothing that was."""
    run()
    yield


def _steps() -> tuple[Callable[[], Any], Callable[[], Any]]:
    """A step that is jitted, and one that is not."""
    jax = load("jax")
    jnp = jax.numpy
    keys = jax.random.split(jax.random.key(0), LAYERS + 1)
    weights = [jax.random.normal(key, (WIDTH, WIDTH)) / WIDTH**0.5 for key in keys[1:]]
    x = jax.random.normal(keys[0], (BATCH, WIDTH))

    def loss(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return jnp.mean(x * x)

    eager = jax.value_and_grad(loss)
    jitted = jax.jit(eager)

    def run(step: Callable[..., Any]) -> Any:
        return jax.block_until_ready(step(weights, x))

    return partial(run, jitted), partial(run, eager)
