"""The table of formulas, and how an entry is found: engine and adapters read the same one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from graphscope.formulas import elementwise, layers, losses, products, reductions, shapes, updates
from graphscope.formulas.formula import Formula

FORMULAS: Final[Mapping[str, Formula]] = {
    **elementwise.FORMULAS, **reductions.FORMULAS, **products.FORMULAS, **shapes.FORMULAS, **layers.FORMULAS,
    **losses.FORMULAS, **updates.FORMULAS,
}  # fmt: skip
"""By the op's name; behind a dot, the argument that makes another function of it where it is given: `max.dim`."""

_SAME: Final = {
    "_softmax": "softmax", "_safe_softmax": "softmax", "log_sigmoid": "logsigmoid",
    "_log_softmax": "log_softmax", "_to_copy": "to", "_unsafe_view": "view", "H": "T",
    "mH": "mT", "swapaxes": "transpose", "concat": "cat", "concatenate": "cat", "clip": "clamp", "absolute": "abs",
    "inverse": "linalg_inv", "det": "linalg_det", "arcsin": "asin", "arccos": "acos", "arctan": "atan",
    "arctan2": "atan2", "greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne",
    "moveaxis": "movedim", "row_stack": "vstack", "ger": "outer", "native_dropout": "dropout",
    "native_layer_norm": "layer_norm", "native_group_norm": "group_norm", "native_batch_norm": "batch_norm",
    "_scaled_dot_product_flash_attention_for_cpu": "scaled_dot_product_attention",
    "_reshape_alias": "view",
}  # fmt: skip
"""Other names of the same."""


def formula(name: str, given: Iterable[str] = ()) -> Formula | None:
    """The formula of an op, or None.

    Args:
        name: The op's; one that ends in an underscore writes into its first input.
        given: Its arguments, as its library calls them.
    """
    if name in FORMULAS:
        return _variant(name, given)
    base = name.rstrip("_") or name
    known = _SAME.get(base, base)
    found = _variant(known, given) if known in FORMULAS else None
    if found is None or known == name or not name.endswith("_"):
        return found
    return replace(found, text=found.text.replace("out =", "x ←", 1))


def _variant(name: str, given: Iterable[str]) -> Formula:
    plain = FORMULAS[name]
    for argument in given:
        found = FORMULAS.get(f"{name}.{plain.name(argument)}")
        if found is not None:
            return found
    return plain
