"""Which versions of Keras can be recorded, and what the adapter needs beyond its public interface."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import keras

from graphscope.adapters.kit.versions import Versions


def _defines(path: str, owner: str, method: str) -> Callable[[], bool]:
    """A probe: a class of Keras' defines this method itself."""

    def holds() -> bool:
        found: Any = getattr(import_module(f"keras.src.{path}"), owner)
        return method in vars(found)

    return holds


def _made_by_the_backend() -> bool:
    """A probe: how a variable is made, the backend defines."""
    base: Any = import_module("keras.src.backend.common.variables").Variable
    return keras.Variable._initialize is not base._initialize


PROBES: Final[dict[str, Callable[[], bool]]] = {
    "Layer.__call__": _defines("layers.layer", "Layer", "__call__"),
    "Loss.__call__": _defines("losses.loss", "Loss", "__call__"),
    "BaseOptimizer.apply": _defines("optimizers.base_optimizer", "BaseOptimizer", "apply"),
    "Variable._initialize": _made_by_the_backend,
    "Trainer.compute_metrics": _defines("trainers.trainer", "Trainer", "compute_metrics"),
    "KerasTensor": lambda: isinstance(keras.KerasTensor, type),
}
"""Each private name, and whether it is there and is what it was."""

VERSIONS: Final = Versions("Keras", keras, oldest=(3, 0), newest=(3, 15), private=PROBES)
"""The versions of Keras that can be recorded; `newest` is the newest that its tests have run with."""
