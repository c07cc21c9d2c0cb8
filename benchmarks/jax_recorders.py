"""What recording a JAX program costs beside the same program alone and JAX's own ways of looking into it."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
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
TRAINING: Final = "jitted, with an update"
LEFT_OUT: Final = "jitted, with an update, steps left out"
_EVERY: Final = 1_000_000


def measure(rounds: int = 5) -> list[Measurement]:
    """Loss and gradients of the perceptron, alone, recorded, and as JAX lets one look into them; steps left out."""
    jax = load("jax")
    jitted, eager, training = _steps()
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
    steps[TRAINING] = Step(training, nothing, partial(_warm, training))
    steps[LEFT_OUT] = Step(training, nothing, partial(_left_out, training))
    timings = interleave(steps, rounds=rounds)
    return [
        Measurement(
            name,
            {
                "seconds": timings.median(name),
                "to jitted": timings.ratio(name, TRAINING if name in (TRAINING, LEFT_OUT) else JITTED),
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


@contextmanager
def _left_out(run: Callable[[], Any]) -> Iterator[None]:
    """A recording that records no more of the steps to come."""
    record = load("graphscope.eventlog.record")
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        writer = record.start(Path(folder) / "run.gscope", every=_EVERY)
        try:
            while record.suspended is None:
                run()
            run()
            yield
        finally:
            record.stop(writer)


def _steps() -> tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]:
    """A step that is jitted, one that is not, and a jitted one that updates the weights as well."""
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

    @jax.jit
    def descend(weights: Any, x: Any) -> Any:
        value, gradients = eager(weights, x)
        return [weight - 0.01 * each for weight, each in zip(weights, gradients, strict=True)], value

    trained = [weights]

    def train() -> Any:
        trained[0], value = descend(trained[0], x)
        return jax.block_until_ready(value)

    return partial(run, jitted), partial(run, eager), train
