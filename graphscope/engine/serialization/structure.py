"""Dicts, lists, numbers and text with tensors in them, as JSON and a table of tensors, and back.

JSON has no tuples, no keys but text, no infinities: those are objects with a single key that begins with `$`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from graphscope.engine.core.element_types import dtype
from graphscope.engine.core.tensor import Tensor


def encode(value: Any, tensors: dict[str, np.ndarray], path: str = "") -> Any:
    """A value as JSON can hold it.

    Args:
        value: The value.
        tensors: Its tensors are put here, by path.
        path: Where the value is in the whole.

    Raises:
        TypeError: It is nothing that can be kept without pickle.
    """
    if isinstance(value, Tensor):
        return _tensor(value, tensors, path)
    if isinstance(value, np.ndarray):
        tensors[path or "value"] = value
        return {"$array": path or "value"}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, list | tuple):
        parts = [encode(part, tensors, _inside(path, number)) for number, part in enumerate(value)]
        return parts if isinstance(value, list) else {"$tuple": parts}
    if isinstance(value, Mapping):
        if type(value) is not Counter and all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: encode(part, tensors, _inside(path, key)) for key, part in value.items()}
        pairs = [
            [encode(key, tensors, f"{path}.key"), encode(part, tensors, _inside(path, key))]
            for key, part in value.items()
        ]
        return {"$counter" if type(value) is Counter else "$dict": pairs}
    if isinstance(value, dtype | np.dtype):
        return {"$dtype": value.name}
    raise TypeError(
        f"save: {path or 'the object'} is {type(value).__name__}; tensors, numbers, text, and lists and dicts of them "
        "can be saved, code can't: of a module or an optimizer save its state_dict()"
    )


def _tensor(value: Tensor, tensors: dict[str, np.ndarray], path: str) -> Any:
    if value.node is not None:
        raise TypeError(f"save: {path or 'the object'} is a result in a graph: detach() it first")
    tensors[path or "value"] = np.asarray(value.array)
    marks = [mark for mark, holds in (("grad", value.wants_grad), ("parameter", value.is_parameter)) if holds]
    return {"$tensor": [path or "value", *marks]}


def _inside(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def decode(value: Any, tensors: dict[str, Any]) -> Any:
    """The value that `encode` made JSON of.

    Raises:
        KeyError: A tensor is missing, or it is no such JSON.
    """
    if isinstance(value, list):
        return [decode(part, tensors) for part in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), "")
    if len(value) == 1 and kind.startswith("$"):
        return _SPECIAL[kind](value[kind], tensors)
    return {key: decode(part, tensors) for key, part in value.items()}


def _found(given: list[str], tensors: dict[str, Any]) -> Any:
    name, *marks = given
    tensor = tensors[name]
    tensor.wants_grad = "grad" in marks
    tensor.is_parameter = "parameter" in marks
    return tensor


def _pairs(given: Any, tensors: dict[str, Any]) -> dict[Any, Any]:
    return {decode(key, tensors): decode(part, tensors) for key, part in given}


_SPECIAL: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "$tensor": _found,
    "$array": lambda given, tensors: np.asarray(tensors[given].array),
    "$float": lambda given, tensors: float(given),
    "$tuple": lambda given, tensors: tuple(decode(given, tensors)),
    "$dict": _pairs,
    "$counter": lambda given, tensors: Counter(_pairs(given, tensors)),
    "$dtype": lambda given, tensors: dtype(given),
}
"""How each of the objects with a `$` is read."""
