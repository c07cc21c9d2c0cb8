"""Collections of a graph: what a program keeps under a name, as TensorFlow 1 has it."""

from __future__ import annotations

from typing import Any, Final

from graphscope.static.sessions.default_graph import get_default_graph
from graphscope.static.sessions.variables import GLOBAL_VARIABLES, LOCAL_VARIABLES, TRAINABLE_VARIABLES

__all__ = [
    "GraphKeys", "add_to_collection", "add_to_collections", "get_collection", "get_collection_ref",
]  # fmt: skip


class GraphKeys:
    """The names of the collections that programs commonly use. Variables enter the first two by themselves."""

    GLOBAL_VARIABLES: Final = GLOBAL_VARIABLES
    TRAINABLE_VARIABLES: Final = TRAINABLE_VARIABLES
    LOCAL_VARIABLES: Final = LOCAL_VARIABLES
    MODEL_VARIABLES: Final = "model_variables"
    WEIGHTS: Final = "weights"
    BIASES: Final = "biases"
    ACTIVATIONS: Final = "activations"
    LOSSES: Final = "losses"
    REGULARIZATION_LOSSES: Final = "regularization_losses"
    UPDATE_OPS: Final = "update_ops"
    TRAIN_OP: Final = "train_op"
    GLOBAL_STEP: Final = "global_step"


def add_to_collection(name: str, value: Any) -> None:
    """Keep something under a name in the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Keep something under several names in the default graph."""
    for name in [names] if isinstance(names, str) else dict.fromkeys(names):
        add_to_collection(name, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """What the default graph keeps under a name; with `scope`, what is called so that this regular expression fits."""
    return get_default_graph().get_collection(key, scope)  # type: ignore[no-any-return]


def get_collection_ref(key: str) -> list[Any]:
    """The list itself that the default graph keeps under a name: what is added to it is kept."""
    return get_default_graph().get_collection_ref(key)  # type: ignore[no-any-return]
