"""Layers and losses: their calls are scopes, by the names that Keras gives them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
from keras.src.layers.layer import Layer
from keras.src.losses.loss import Loss
from keras.src.trainers.trainer import Trainer

from graphscope.adapters.kit.patches import Patches

if TYPE_CHECKING:
    from graphscope.adapters.tensorflow.session import Session

Find = Callable[[], "Session | None"]
"""Finds what records TensorFlow, if something does."""


class Layers:
    """Follows their calls.

    Args:
        find: See `Find`.
    """

    def __init__(self, find: Find) -> None:
        self._find = find

    def install(self, patches: Patches) -> None:
        """Put a scope around the calls of all layers, losses, and metrics of a model."""
        patches.replace(Layer, "__call__", self._scoped(Layer.__call__))
        patches.replace(Loss, "__call__", self._scoped(Loss.__call__))
        patches.replace(Trainer, "compute_metrics", self._scoped(Trainer.compute_metrics, "metrics"))

    def _scoped(self, original: Callable[..., Any], name: str = "") -> Callable[..., Any]:
        find = self._find

        @functools.wraps(original)
        def __call__(owner: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807 - it stands in its place
            session = find()
            if session is None or _is_described(args) or (not name and _is_whole(owner, session)):
                return original(owner, *args, **kwargs)
            with session.tape.scope(name or owner.name, type(owner).__name__):
                return original(owner, *args, **kwargs)

        return __call__


def _is_whole(owner: Any, session: Session) -> bool:
    """Whether a call is that of a whole model, inside of which all scopes would lie."""
    return isinstance(owner, keras.Model) and not session.tape.is_in_scope


def _is_described(args: tuple[Any, ...]) -> bool:
    """Whether a call computes nothing, as it builds a model of layers."""
    return any(isinstance(each, keras.KerasTensor) for each in keras.tree.flatten(args))
