"""Which ops do what a part of a composite op does, so that a step that one side leaves out is seen; which overwrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.graph.faults import EMPTY

if TYPE_CHECKING:
    from graphscope.compare.items import Item

_PRODUCTS: Final = frozenset({"matmul", "mm", "bmm", "einsum", "linear", "mv", "dot", "addmm", "baddbmm", "tensordot"})
_ADDS: Final = frozenset({"add", "add_", "radd"})
_MULS: Final = frozenset({"mul", "mul_", "rmul", "div", "div_", "truediv"})
_MASKS: Final = frozenset({"masked_fill", "masked_fill_", "where", "add", "add_", "tril", "triu"})

PARTS: Final[dict[str, frozenset[str]]] = {
    "product": _PRODUCTS,
    "scores": _PRODUCTS,
    "of the input": _PRODUCTS,
    "of the state": _PRODUCTS,
    "attended": _PRODUCTS,
    "scaled": _MULS,
    "masked": _MASKS,
    "weights": frozenset({"softmax"}),
    "+ bias": _ADDS,
    "+ input": _ADDS,
    "* weight": _MULS,
    "mean": frozenset({"mean", "sum"}),
    "centred": frozenset({"sub", "sub_", "rsub"}),
    "variance": frozenset({"var", "mean", "sum"}),
    "mean of squares": frozenset({"mean", "sum"}),
    "variance + eps": _ADDS,
    "root": frozenset({"sqrt", "pow", "std"}),
    "1 / root": frozenset({"rsqrt", "reciprocal", "pow"}),
    "normalised": _MULS,
    "log_softmax": frozenset({"log_softmax"}),
    "each element": frozenset({"square", "pow", "abs", "mul"}),
    "sum": frozenset({"sum"}),
}
"""The ops by which people write a part by hand."""

OVERWRITING: Final = frozenset(
    {"normal_", "uniform_", "trunc_normal_", "log_normal_", "exponential_", "bernoulli_", "cauchy_", "geometric_",
     "random_", "zero_", "fill_", "copy_"}
)  # fmt: skip
"""Ops that write all elements of a tensor and read none."""

SHAPED: Final = frozenset(
    {*EMPTY, *(f"{name}_like" for name in ("zeros", "ones", "full", "rand", "randn", "randint")),
     *(f"new_{name}" for name in ("zeros", "ones", "full"))}
)  # fmt: skip
"""Ops that take the shape of a tensor and read none of its elements."""


def does_the_same(a: Item, b: Item) -> bool:
    """Whether two values are made by the same kind of step."""
    return bool(_kinds(a) & _kinds(b))


def _kinds(item: Item) -> frozenset[str]:
    if item.part is None:
        return frozenset({item.op.rstrip("_")})
    return PARTS.get(item.part.label, frozenset({item.part.label}))
