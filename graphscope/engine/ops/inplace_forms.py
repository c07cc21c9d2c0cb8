"""In-place forms of elementwise ops, derived from the table: `exp_` writes what `exp` computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from graphscope.engine.core import dtypes, shapes
from graphscope.engine.core.op import OPS, Op, register
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writing import write
from graphscope.engine.ops.division import dividing
from graphscope.engine.ops.flat_rules import nothing
from graphscope.engine.ops.inplace import div_
from graphscope.engine.ops.rounding import clamping, rounded

__all__ = ["relu_"]

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {}
"""Those that PyTorch has as functions too: `torch.exp_(x)`."""

FORMS: Final = (
    "abs", "acos", "acosh", "addcdiv", "addcmul", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "clamp",
    "clamp_max", "clamp_min", "clamp_to", "copysign", "cos", "cosh", "deg2rad", "digamma", "div_floor", "div_trunc",
    "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "floor", "floor_divide", "fmod", "frac", "ge",
    "gt", "hypot", "le", "lerp", "lgamma", "log", "log10", "log1p", "log2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "lt", "nan_to_num", "ne", "neg",
    "pow", "rad2deg", "reciprocal", "relu", "remainder", "round", "round_to", "rsqrt", "sgn", "sigmoid", "sign",
    "sin", "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy",
)  # fmt: skip
"""Names of the ops that have a form in place, made here."""
_COMPARISONS: Final = {"eq", "ge", "gt", "le", "lt", "ne"}
"""In place they are functions of what they overwrite, with a gradient of 0."""


def _into(base: Op) -> Callable[..., Any]:
    """The forward of an op, written into `out`."""
    direct = isinstance(base.forward, np.ufunc)

    def forward(*arrays: Any, out: Any = None, **attrs: Any) -> Any:
        x = arrays[0]
        if direct and out is not None and x.dtype.kind == "f" and len(arrays) == 1:
            return base.forward(x, out=out)
        given = dtypes.promoted(base, arrays)
        result = (dtypes.in_floating(base.forward) if base.floating else base.forward)(*given, **attrs)
        if dtypes.CATEGORY[result.dtype.kind] > dtypes.CATEGORY[x.dtype.kind]:
            raise TypeError(f"the result is {result.dtype}, which a tensor of {x.dtype} cannot hold")
        if np.shape(result) != np.shape(x):
            raise ValueError(f"the result has shape {np.shape(result)}, the tensor written to {np.shape(x)}")
        if out is None:
            return result.astype(x.dtype)
        np.copyto(out, result, casting="unsafe")
        return out

    return forward


def _samples(base: Op) -> list[Any]:
    """Those whose result fits into the first input."""

    def fits(sample: Sequence[Any]) -> bool:
        taken = [part for part in sample if not isinstance(part, str | dict)]
        sizes = [part for part in taken if isinstance(part, tuple)]
        return isinstance(taken[0], tuple) and shapes.broadcast(*sizes) == taken[0]

    return [sample for sample in base.samples if fits(sample)][:2]


def derive(base: Op, samples: Sequence[Any] | None = None) -> Any:
    """Register the form in place of an op, and make it a method.

    Args:
        base: The op.
        samples: Those of its form; by default what fits of its own, were it elementwise.
    """
    name = base.name + "_"
    op = register(
        name,
        f"In place: {base.doc[0].lower()}{base.doc[1:]}",
        formula=base.formula.replace("out =", "x ←"),
        forward=_into(base),
        vjp=[nothing if base.name in _COMPARISONS else vjp.rule if vjp else None for vjp in base.vjps],
        in_place=True,
        samples=_samples(base) if samples is None else samples,
        shape=shapes.same,
        grad_name=base.grad_name,
        torch=None if base.torch is None else base.torch + "_",
    )

    def call(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        inputs, attrs = base.prepare(input, *args, **kwargs) if base.prepare else ((input, *args), kwargs)
        return write(op, input, tuple(dtypes.operand(value) for value in inputs[1:]), attrs or None)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{op.doc}\n\n{op.formula}"
    op.call = call
    for method in [method for method, member in vars(Tensor).items() if member is base.call]:
        setattr(Tensor, f"__i{method[2:]}" if method.startswith("__") else f"{method}_", call)
        if len(base.vjps) == 1 and not method.startswith("_"):
            FUNCTIONS[f"{method}_"] = call
    return call


FORMS_IN_PLACE: Final = {name: derive(OPS[name]) for name in FORMS}
"""The functions, by the names of the ops that they are the forms of."""

div_in_place = dividing({None: div_, "floor": FORMS_IN_PLACE["div_floor"], "trunc": FORMS_IN_PLACE["div_trunc"]})
clamp_in_place = clamping(*(FORMS_IN_PLACE[name] for name in ("clamp", "clamp_min", "clamp_max", "clamp_to")))
round_in_place = rounded(FORMS_IN_PLACE["round"], FORMS_IN_PLACE["round_to"])
relu_ = FORMS_IN_PLACE["relu"]

METHODS: Final = {
    "div_": div_in_place,
    "divide_": div_in_place,
    "true_divide_": div_in_place,
    "multiply_": OPS["mul_"].call,
    "subtract_": OPS["sub_"].call,
    "clamp_": clamp_in_place,
    "clip_": clamp_in_place,
    "round_": round_in_place,
}
"""Methods that choose among forms, and other names."""

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)

FUNCTIONS.update({name: METHODS[name] for name in ("clamp_", "clip_", "round_")})
FUNCTIONS.update({f"{name}_": FORMS_IN_PLACE[name] for name in ("clamp_max", "clamp_min", "xlogy")})
