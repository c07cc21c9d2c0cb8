"""What recording a JAX program costs beside the same program alone and JAX's own ways of looking into it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final

from benchmarks.engines import Step, load
from benchmarks.log import nothing
from benchmarks.measure import interleave
from benchmarks.recorders import afterwards, recorded
from benchmarks.results import Measurement

WIDTH: Final = 256
LAYERS: Final = 4
BATCH: Final = 256
JITTED: Final = "jitted"
EAGER: Final = "eager"


def measure(rounds: int = 5) -> list[Measurement]:
    """Loss and gradients of the perceptron, alone, recorded, and as JAX lets one look into them."""
    jax = load("jax")
    jitted, eager = _steps()
    sessions: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        JITTED: partial(_warm, jitted),
        "jitted, summary": partial(recorded, jitted, "summary"),
        "jitted, none": partial(recorded, jitted, "none"),
        "jitted, after a recording": partial(afterwards, jitted),
        "jitted, jax_debug_nans": partial(_warm, jitted, partial(jax.debug_nans, True)),
        "jitted, disable_jit": partial(_warm, jitted, jax.disable_jit),
    }
    steps = {name: Step(jitted, nothing, session) for name, session in sessions.items()}
    steps[EAGER] = Step(eager, nothing, partial(_warm, eager))
    timings = interleave(steps, rounds=rounds)
    return [
        Measurement(
            name,
            {
                "seconds": timings.median(name),
                "to jitted": timings.ratio(name, JITTED),
                "to eager": timings.ratio(name, EAGER),
            },
        )
        for name in steps
    ]


@contextmanager
def _warm(
    run: Callable[[], Any], session: Callable[[], AbstractContextManager[Any]] = contextlib.nullcontext
) -> Iterator[None]:
    """A step that is compiled: a recording that has ended leaves nothing that was."""
    with session():
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
