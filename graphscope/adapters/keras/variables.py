"""Variables: TensorFlow's, which hold their values, bear their paths, `decoder/gru_cell/kernel`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import keras

from graphscope.adapters.kit.existing import instances
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.value_names import GIVEN


def install(patches: Patches) -> None:
    """Name those that are there, when a name is asked for, and those that will be."""
    GIVEN.earlier.append(_name_earlier)
    patches.at_end(GIVEN.earlier.clear)
    backend = next(each for each in keras.Variable.__mro__ if "_initialize" in vars(each))
    patches.replace(backend, "_initialize", _naming(vars(backend)["_initialize"]))


def _name_earlier() -> None:
    for variable in instances(keras.Variable):
        _name(variable)


def _naming(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def _initialize(variable: Any, value: Any) -> None:
        original(variable, value)
        _name(variable)

    return _initialize


def _name(variable: Any) -> None:
    held = getattr(variable, "_value", None)  # of one that is being made, or that nobody has used yet, there is none
    if held is not None:
        GIVEN.note(held, variable.path)
