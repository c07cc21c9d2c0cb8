"""Functions of each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.static.words.offering import offer
from graphscope.static.words.operands import of_dtype, of_kinds, op, pair, tensor

# Of one tensor --------------------------------------------------------------------------------------------------------


def _of_one(ours: str, kinds: str) -> Callable[..., Any]:
    def call(x: Any, name: Any = None) -> Any:
        return op(ours, of_kinds(x, kinds))

    call.__doc__ = f"`{ours}` of each element."
    return call


_ONE: Final = """
Abs              abs         fi    x         abs math.abs
Neg              neg         fic   x         negative math.negative
Sign             sign        fi    x         sign math.sign
Reciprocal       reciprocal  fc    x         reciprocal math.reciprocal
Sqrt             sqrt        fc    x         sqrt math.sqrt
Rsqrt            rsqrt       fc    x         rsqrt math.rsqrt
Exp              exp         fc    x         exp math.exp
Expm1            expm1       fc    x         expm1 math.expm1
Log              log         fc    x         log math.log
Log1p            log1p       fc    x         log1p math.log1p
Cos              cos         fc    x         cos math.cos
Sin              sin         fc    x         sin math.sin
Tan              tan         fc    x         tan math.tan
Acos             acos        fc    x         acos math.acos
Asin             asin        fc    x         asin math.asin
Atan             atan        fc    x         atan math.atan
Cosh             cosh        fc    x         cosh math.cosh
Sinh             sinh        fc    x         sinh math.sinh
Tanh             tanh        fc    x         tanh math.tanh nn.tanh
Asinh            asinh       fc    x         asinh math.asinh
Acosh            acosh       fc    x         acosh math.acosh
Atanh            atanh       fc    x         atanh math.atanh
Sigmoid          sigmoid     fc    x         sigmoid math.sigmoid nn.sigmoid
Lgamma           lgamma      f     x         lgamma math.lgamma
Digamma          digamma     f     x         digamma math.digamma
Erf              erf         f     x         erf math.erf
Erfc             erfc        f     x         erfc math.erfc
Erfinv           erfinv      f     x         math.erfinv
IsNan            isnan       f     x         is_nan math.is_nan debugging.is_nan
IsInf            isinf       f     x         is_inf math.is_inf debugging.is_inf
IsFinite         isfinite    f     x         is_finite math.is_finite debugging.is_finite
LogicalNot       logical_not b     x         logical_not math.logical_not
Relu             relu        fi    features  nn.relu
Relu6            relu6       fi    features  nn.relu6
Elu              elu         f     features  nn.elu
Softplus         softplus    f     features  nn.softplus math.softplus
Softsign         softsign    f     features  nn.softsign math.softsign
LogSigmoid       logsigmoid  f     x         log_sigmoid math.log_sigmoid
Angle            angle       fc    input     angle math.angle
"""
"""A type of TensorFlow's, the engine's op, the kinds of dtypes that it takes, the argument, and the names."""

for _type, _ours, _kinds, _argument, *_names in map(str.split, _ONE.strip().splitlines()):
    offer(*_names, type=_type, arguments=f"{_argument}, name=None")(_of_one(_ours, _kinds))


@offer("square", "math.square", type="Square")
def square(x: Any, name: Any = None) -> Any:
    """The square."""
    x = of_kinds(x, "fic")
    return op("mul", x, x)


def _step(ours: str) -> Callable[..., Any]:
    def call(x: Any, name: Any = None) -> Any:
        return op(ours, op("detach", of_kinds(x, "f")))

    call.__doc__ = f"`{ours}` of each element; no gradient goes through it."
    return call


for _type, _ours in (("Ceil", "ceil"), ("Floor", "floor"), ("Rint", "round")):
    offer(_type.lower(), f"math.{_type.lower()}", type=_type, arguments="x, name=None")(_step(_ours))


@offer("nn.selu", type="Selu")
def selu(features: Any, name: Any = None) -> Any:
    """scale·x, and scale·alpha·(exp(x) - 1) where it is negative (Klambauer and others, 2017)."""
    x = of_kinds(features, "f")
    negative = op("lt", x, 0)
    curved = op("mul", op("expm1", op("where", negative, x, 0.0)), 1.0507009873554805 * 1.6732632423543772)
    return op("where", negative, curved, op("mul", x, 1.0507009873554805))


@offer("round", "math.round", type="Round")
def round_(x: Any, name: Any = None) -> Any:
    """The nearest whole number, and of two the even one."""
    x = of_kinds(x, "fi")
    return op("round", op("detach", x)) if x.dtype.kind == "f" else op("clone", x)


@offer("cast", "dtypes.cast", type="Cast")
def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """The elements as another dtype: floating numbers lose what is behind the point."""
    x = tensor(x)
    return op("to", x, of_dtype(dtype))


for _name, _dtype in (("float", np.float32), ("double", np.float64), ("int32", np.int32), ("int64", np.int64)):

    def _to(x: Any, name: Any = None, _dtype: Any = _dtype) -> Any:
        return op("to", tensor(x), np.dtype(_dtype))

    _to.__doc__ = f"The elements as {np.dtype(_dtype)}."
    offer(f"to_{_name}", type="Cast", node=f"To{_name.title()}", arguments=f"x, name='To{_name.title()}'")(_to)


@offer("real", "math.real", type="Real")
def real(input: Any, name: Any = None) -> Any:
    """The real part."""
    x = tensor(input)
    return op("real", x) if x.dtype.kind == "c" else x


@offer("imag", "math.imag", type="Imag")
def imag(input: Any, name: Any = None) -> Any:
    """The imaginary part."""
    x = tensor(input)
    return op("imag", x) if x.dtype.kind == "c" else op("mul", x, 0)


@offer("conj", "math.conj", type="Conj")
def conj(x: Any, name: Any = None) -> Any:
    """The complex conjugate."""
    x = tensor(x)
    return op("conj", x) if x.dtype.kind == "c" else x


@offer("complex", type="Complex")
def complex_(real: Any, imag: Any, name: Any = None) -> Any:
    """The complex numbers of these parts."""
    one = of_kinds(real, "f")
    return op("complex", one, of_kinds(imag, "f", one.dtype))


# Of two ---------------------------------------------------------------------------------------------------------------


def _of_two(ours: str, kinds: str) -> Callable[..., Any]:
    def call(x: Any, y: Any, name: Any = None) -> Any:
        one, other = pair(x, y)
        of_kinds(other if isinstance(other, Tensor) else one, kinds)
        return op(ours, one, other)

    call.__doc__ = f"`{ours}` of each two elements."
    return call


_TWO: Final = """
Sub               sub          fiuc  x y  subtract math.subtract
Mul               mul          fiuc  x y  multiply math.multiply
RealDiv           div          fc    x y  realdiv
TruncateDiv       div_trunc    iu    x y  truncatediv
TruncateMod       fmod         fiu   x y  truncatemod
FloorDiv          div_floor    fiu   x y  floordiv floor_div math.floordiv
FloorMod          remainder    fiu   x y  floormod mod math.floormod math.mod
Atan2             atan2        f     y x  atan2 atan2 math.atan2
Xlogy             xlogy        f     x y  math.xlogy
Less              lt           fiu   x y  less math.less
LessEqual         le           fiu   x y  less_equal math.less_equal
Greater           gt           fiu   x y  greater math.greater
GreaterEqual      ge           fiu   x y  greater_equal math.greater_equal
LogicalAnd        logical_and  b     x y  logical_and math.logical_and
LogicalOr         logical_or   b     x y  logical_or math.logical_or
BitwiseAnd        bitwise_and  iu    x y  bitwise.bitwise_and
BitwiseOr         bitwise_or   iu    x y  bitwise.bitwise_or
BitwiseXor        bitwise_xor  iu    x y  bitwise.bitwise_xor
"""
"""As above, with both arguments."""

for _type, _ours, _kinds, _one, _other, *_names in map(str.split, _TWO.strip().splitlines()):
    offer(*_names, type=_type, arguments=f"{_one}, {_other}, name=None")(_of_two(_ours, _kinds))

offer("add", "math.add", type="AddV2", node="Add", arguments="x, y, name=None")(_of_two("add", "fiuc"))
offer("math.logical_xor", "logical_xor", type="LogicalXor", arguments="x, y, name='LogicalXor'")(
    _of_two("logical_xor", "b")
)
for _name, _ours in (("equal", "eq"), ("not_equal", "ne")):
    offer(_name, f"math.{_name}", type=_name.title().replace("_", ""), arguments="x, y, name=None")(
        _of_two(_ours, "fiucb")
    )


@offer("maximum", "math.maximum", type="Maximum")
def maximum(x: Any, y: Any, name: Any = None) -> Any:
    """The larger one; of two that are equal, the gradient goes to the first."""
    return larger(*pair(x, y))


@offer("minimum", "math.minimum", type="Minimum")
def minimum(x: Any, y: Any, name: Any = None) -> Any:
    """The smaller one; of two that are equal, the gradient goes to the first."""
    return smaller(*pair(x, y))


def larger(x: Any, y: Any) -> Any:
    """As `maximum`, of two of one dtype."""
    return op("where", op("ge", x, y), x, y)


def smaller(x: Any, y: Any) -> Any:
    """As `minimum`, of two of one dtype."""
    return op("where", op("le", x, y), x, y)


@offer("bitwise.invert", type="Invert")
def invert(x: Any, name: Any = None) -> Any:
    """Each bit turned."""
    return op("bitwise_not", of_kinds(x, "iu"))


@offer("pow", "math.pow", type="Pow")
def power(x: Any, y: Any, name: Any = None) -> Any:
    """X to the power y."""
    return op("pow", *pair(x, y))


@offer("truediv", "math.truediv", type="RealDiv", node="truediv")
def truediv(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient, floating also of integers: float32 of small ones, float64 of those of 32 bits and more."""
    one, other = pair(x, y)
    known = one if isinstance(one, Tensor) else other
    if known.dtype.kind in "iu":
        wide = np.dtype(np.float32 if known.dtype.itemsize < 4 else np.float64)
        one, other = (op("to", each, wide) if isinstance(each, Tensor) else float(each) for each in (one, other))
    return op("div", one, other)


@offer("divide", "math.divide", type="RealDiv", node="truediv")
def divide(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient, as Python 3 has it."""
    return truediv(x, y)


@offer("div", type="RealDiv", node="div")
def div(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient as Python 2 has it: of integers the floor."""
    one, other = pair(x, y)
    known = one if isinstance(one, Tensor) else other
    return op("div_floor" if known.dtype.kind in "iu" else "div", one, other)


@offer("div_no_nan", "math.divide_no_nan", type="DivNoNan", node="div_no_nan")
def div_no_nan(x: Any, y: Any, name: Any = None) -> Any:
    """The quotient, and 0 where it would be by 0."""
    one = of_kinds(x, "fc")
    other = of_kinds(y, "fc", one.dtype)
    zero = op("eq", other, 0)
    safe = op("where", zero, op("add", op("mul", other, 0), 1), other)
    return op("where", zero, op("mul", op("div", one, safe), 0), op("div", one, safe))


@offer("scalar_mul", "math.scalar_mul", type="Mul", node="mul")
def scalar_mul(scalar: Any, x: Any, name: Any = None) -> Any:
    """X times a number."""
    x = tensor(x)
    return op("mul", *pair(x, scalar))


@offer("squared_difference", "math.squared_difference", type="SquaredDifference")
def squared_difference(x: Any, y: Any, name: Any = None) -> Any:
    """(x - y)²."""
    difference = op("sub", *pair(x, y))
    return op("mul", difference, difference)


@offer("add_n", "math.add_n", type="AddN")
@offer("accumulate_n", "math.accumulate_n", type="AccumulateNV2", node="AccumulateNV2",
       arguments="inputs, shape=None, tensor_dtype=None, name=None")  # fmt: skip
def add_n(inputs: Any, name: Any = None, *_: Any) -> Any:
    """The sum of several tensors of one shape."""
    first, *rest = inputs
    total = tensor(first)
    for each in rest:
        total = op("add", total, tensor(each, total.dtype))
    return total


@offer("nn.leaky_relu", type="LeakyRelu")
def leaky_relu(features: Any, alpha: float = 0.2, name: Any = None) -> Any:
    """x, and alpha·x where it is negative."""
    return op("leaky_relu", of_kinds(features, "f"), alpha)


@offer("nn.swish", "nn.silu", type="Mul", node="swish")
def swish(features: Any, beta: Any = 1.0) -> Any:
    """x·sigmoid(beta·x)."""
    x = of_kinds(features, "f")
    return op("mul", x, op("sigmoid", op("mul", x, beta)))


@offer("nn.crelu", type="Relu", node="CRelu")
def crelu(features: Any, name: Any = None, axis: int = -1) -> Any:
    """Relu of x and of -x, one behind the other."""
    x = tensor(features)
    return op("relu", op("cat", [x, op("neg", x)], axis))
