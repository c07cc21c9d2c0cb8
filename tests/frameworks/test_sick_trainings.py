"""Trainings with Keras and JAX that are sick: the doctor says what it is, and says nothing of the same ones cured."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

import graphscope as gs
from graphscope.diagnose.doctor import doctor

pytestmark = pytest.mark.slow

KERAS = {
    "nan_by_log": "nan", "exploding_by_rate": "update_ratio", "rate_too_small": "lost_update",
    "wrong_sign": "wrong_sign", "zero_init": "vanished", "dead_relu": "dead_relu",
    "double_softmax": "double_softmax", "broadcast_loss": "broadcast",
}  # fmt: skip
JAX = {
    "nan_by_log": "nan", "exploding_by_rate": "update_ratio", "rate_too_small": "lost_update",
    "wrong_sign": "wrong_sign", "zero_init": "bad_init", "dead_relu": "dead_relu",
}  # fmt: skip
"""What each training has, by the name of the check that finds it."""

Training = Callable[[bool], None]


def training(framework: str, name: str) -> Training:
    """A training, whose lines the log tells."""
    path = Path(__file__).parent / "sick" / f"{framework}_trainings.py"
    spec = importlib.util.spec_from_file_location(f"{framework}_trainings", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: Training = getattr(module, name)
    return found


def told(run: Training, *, sick: bool) -> list[str]:
    """The checks that find something."""
    with gs.record() as log:
        run(sick)
    return [found.kind for found in doctor(log).findings]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", KERAS)
def test_what_is_wrong_with_a_training_of_keras_is_told(name: str) -> None:
    pytest.importorskip("tensorflow")
    run = training("keras", name)
    assert told(run, sick=True) == [KERAS[name]]
    assert told(run, sick=False) == []


@pytest.mark.jax
@pytest.mark.parametrize("name", JAX)
def test_what_is_wrong_with_a_training_of_jax_is_told(name: str) -> None:
    pytest.importorskip("optax")
    run = training("jax", name)
    assert told(run, sick=True) == [JAX[name]]
    assert told(run, sick=False) == []
