"""What the log calls JAX's primitives, their inputs and their parameters: the names that formulas and checks know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from graphscope.adapters.kit.op_entries import Argument

_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "reduce_sum": ("sum", "x"), "reduce_max": ("amax", "x"), "reduce_min": ("amin", "x"), "reduce_prod": ("prod", "x"),
    "reduce_and": ("all", "x"), "reduce_or": ("any", "x"), "max": ("maximum", "x y"), "min": ("minimum", "x y"),
    "convert_element_type": ("to", "x"), "integer_pow": ("pow", "x"), "logistic": ("sigmoid", "x"),
    "select_n": ("where", "condition y x"), "transpose": ("permute", "x"), "concatenate": ("cat", "tensors"),
    "add_any": ("add", "x y"), "rem": ("fmod", "x y"), "is_finite": ("isfinite", "x"), "and": ("logical_and", "x y"),
    "or": ("logical_or", "x y"), "not": ("logical_not", "x"), "rev": ("flip", "x"), "clamp": ("clamp", "min x max"),
    "reshape": ("reshape", "x"), "squeeze": ("squeeze", "x"), "cumsum": ("cumsum", "x"), "argmax": ("argmax", "x"),
    "argmin": ("argmin", "x"), "copy": ("clone", "x"), "stack": ("stack", "tensors"),
}  # fmt: skip
"""The name and the inputs of primitives that are called otherwise elsewhere; inputs of the others are x, y, z."""

_PARAMETERS: Final[Mapping[str, str]] = {
    "axes": "dim", "axis": "dim", "dimension": "dim", "dimensions": "dim", "permutation": "dims", "new_dtype": "dtype",
    "new_sizes": "shape",
}  # fmt: skip
"""What formulas call parameters that JAX calls otherwise."""

_SEVERAL: Final = ("cat", "stack")
_REDUCING: Final = ("sum", "amax", "amin", "prod", "all", "any", "argmax", "argmin")
_DULL: Final = ("jaxpr", "sharding", "layout", "weak_type", "accuracy", "preferred_element_type")
"""Parameters that say nothing of what is computed."""


class Op(NamedTuple):
    """A call, as the log tells of it."""

    name: str
    attributes: dict[str, Any]
    signature: tuple[Argument, ...]


def op_of(primitive: str, args: Sequence[Any], params: Mapping[str, Any]) -> Op:
    """What the log tells of the call of a primitive."""
    name, inputs = _NAMES.get(primitive, (primitive, "x y z"))
    told = {_PARAMETERS.get(key, key): each for key, each in params.items() if _is_told(key, each)}
    if primitive == "integer_pow":
        told["exponent"] = told.pop("y")
    if primitive == "dot_general" and _is_product(args, params):
        name, told = "matmul", {}
    if name == "matmul":
        inputs = "x y"
    names = inputs.split()
    if name in _SEVERAL:
        signature = [Argument(names[0], several=True)]
    elif len(args) > len(names):
        return Op(name, told, ())
    else:
        signature = [Argument(each) for each in names[: len(args)]]
    settings = [Argument(each, by_name=True) for each in told]
    if name in _REDUCING:
        settings.append(Argument("keepdim", default=False, by_name=True))
    return Op(name, told, (*signature, *settings))


def _is_product(args: Sequence[Any], params: Mapping[str, Any]) -> bool:
    """Whether it is the product of two matrices."""
    contracted, batched = params["dimension_numbers"]
    return [np.ndim(each) for each in args] == [2, 2] and (contracted, batched) == (((1,), (0,)), ((), ()))


def _is_told(name: str, value: Any) -> bool:
    return value is not None and not any(word in name for word in _DULL) and not callable(value)
