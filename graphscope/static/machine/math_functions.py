"""Elementwise ops as LLVM's instructions, and the functions that float32 gets of our own, which vectorise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from graphscope.static.machine.assembly import Code, literal

Writer = Callable[[Code, str, list[str]], str]
"""From the code, the type and the operands to the result."""


def _instruction(text: str) -> Writer:
    def write(code: Code, kind: str, given: list[str]) -> str:
        return code.put(text.format(kind, *given))

    return write


def _comparison(test: str) -> Writer:
    def write(code: Code, kind: str, given: list[str]) -> str:
        return code.put(f"zext i1 {code.put(f'fcmp {test} {kind} {given[0]}, {given[1]}')} to i8")

    return write


def _function(name: str) -> Writer:
    """One of ours on float32, of the C library on float64."""

    def write(code: Code, kind: str, given: list[str]) -> str:
        own = f"@gs_{name}_single" if code.single and name in SINGLE else f"@gs_{name}"
        called = own if kind == "float" and name in OWN else f"@{name}{'f' if kind == 'float' else ''}"
        return code.put(f"call {kind} {called}({kind} {given[0]})")

    return write


def _intrinsic(name: str) -> Writer:
    def write(code: Code, kind: str, given: list[str]) -> str:
        shape = {"float": "f32", "double": "f64"}[kind]
        operands = ", ".join(f"{kind} {value}" for value in given)
        return code.put(f"call {kind} @llvm.{name}.{shape}({operands})")

    return write


def _larger(test: str) -> Writer:
    """The larger or smaller of two; NaN when either is."""

    def write(code: Code, kind: str, given: list[str]) -> str:
        x, y = given
        best = code.put(f"select i1 {code.put(f'fcmp {test} {kind} {x}, {y}')}, {kind} {x}, {kind} {y}")
        return code.put(f"select i1 {code.put(f'fcmp uno {kind} {x}, {x}')}, {kind} {x}, {kind} {best}")

    return write


def _relu(code: Code, kind: str, given: list[str]) -> str:
    below = code.put(f"fcmp olt {kind} {given[0]}, {literal(0, kind)}")
    return code.put(f"select i1 {below}, {kind} {literal(0, kind)}, {kind} {given[0]}")


def _chosen(code: Code, kind: str, given: list[str]) -> str:
    test = code.put(f"icmp ne i8 {given[0]}, 0")
    return code.put(f"select i1 {test}, {kind} {given[1]}, {kind} {given[2]}")


WRITERS: Final[dict[str, Writer]] = {
    "add": _instruction("fadd contract {0} {1}, {2}"),
    "sub": _instruction("fsub contract {0} {1}, {2}"),
    "mul": _instruction("fmul contract {0} {1}, {2}"),
    "div": _instruction("fdiv {0} {1}, {2}"),
    "neg": _instruction("fneg {0} {1}"),
    "square": _instruction("fmul contract {0} {1}, {1}"),
    "reciprocal": lambda code, kind, given: code.put(f"fdiv {kind} {literal(1, kind)}, {given[0]}"),
    "sqrt": _intrinsic("sqrt"),
    "abs": _intrinsic("fabs"),
    "floor": _intrinsic("floor"),
    "ceil": _intrinsic("ceil"),
    "tanh": _function("tanh"),
    "exp": _function("exp"),
    "log": _function("log"),
    "sin": _function("sin"),
    "cos": _function("cos"),
    "maximum": _larger("ogt"),
    "minimum": _larger("olt"),
    "relu": _relu,
    "where": _chosen,
    "lt": _comparison("olt"), "le": _comparison("ole"), "gt": _comparison("ogt"), "ge": _comparison("oge"),
    "eq": _comparison("oeq"), "ne": _comparison("une"),
}  # fmt: skip
"""How each elementwise op is written."""


# Functions of our own -------------------------------------------------------------------------------------------------


def _polynomial(code: Code, powers: list[str], factors: list[float]) -> str:
    """A polynomial in x, by Estrin's scheme: its steps wait for each other less than in Horner's."""
    terms = [literal(value, "float") for value in factors]
    level = 0
    while len(terms) > 1:
        if level == len(powers):
            powers.append(code.put(f"fmul contract float {powers[-1]}, {powers[-1]}"))
        pairs = []
        for place in range(0, len(terms) - 1, 2):
            product = code.put(f"fmul contract float {terms[place + 1]}, {powers[level]}")
            pairs.append(code.put(f"fadd contract float {product}, {terms[place]}"))
        terms = pairs + ([terms[-1]] if len(terms) % 2 else [])
        level += 1
    return terms[0]


def _number(value: float) -> str:
    return literal(value, "float")


def _clamped(code: Code, low: float, high: float) -> str:
    """%x within bounds; NaN as it is."""
    above = code.put(f"fcmp ogt float %x, {_number(high)}")
    x = code.put(f"select i1 {above}, float {_number(high)}, float %x")
    below = code.put(f"fcmp olt float {x}, {_number(low)}")
    return code.put(f"select i1 {below}, float {_number(low)}, float {x}")


def _less(code: Code, x: str, n: str, factor: float) -> str:
    """X - n·factor."""
    part = code.put(f"fmul contract float {n}, {_number(factor)}")
    return code.put(f"fsub contract float {x}, {part}")


def _tanh(code: Code) -> str:
    """A quotient of polynomials (as in Eigen's `ptanh`): within 3 units in the last place."""
    x = _clamped(code, -7.90531110763549805, 7.90531110763549805)
    powers = [code.put(f"fmul contract float {x}, {x}")]
    above = [4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08,
             -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16]  # fmt: skip
    below = [4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06]
    p = code.put(f"fmul contract float {_polynomial(code, powers, above)}, {x}")
    return code.put(f"fdiv float {p}, {_polynomial(code, powers, below)}")


def _exp(code: Code) -> str:
    """2ⁿ·eʳ with |r| ≤ ln 2 / 2, eʳ by a polynomial (as in Cephes' `expf`): within 2 units in the last place."""
    x = _clamped(code, -105.0, 90.0)
    scaled = code.put(f"fmul float {x}, {_number(1.44269504088896341)}")
    n = code.put(f"call float @llvm.rint.f32(float {scaled})")
    r = _less(code, _less(code, x, n, 0.693359375), n, -2.12194440e-4)
    factors = [1.0, 1.0, 0.5, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4]
    value = _polynomial(code, [r], factors)
    unordered = code.put(f"fcmp uno float {n}, {n}")
    known = code.put(f"select i1 {unordered}, float 0.0, float {n}")
    whole = code.put(f"fptosi float {known} to i32")
    half = code.put(f"ashr i32 {whole}, 1")
    for part in (half, code.put(f"sub i32 {whole}, {half}")):
        exponent = code.put(f"add i32 {part}, 127")
        power = code.put(f"bitcast i32 {code.put(f'shl i32 {exponent}, 23')} to float")
        value = code.put(f"fmul float {value}, {power}")
    return value


OWN: Final[dict[str, Callable[[Code], str]]] = {"tanh": _tanh, "exp": _exp}
"""Functions of float32 that are written here."""


def _tanh_of_one(code: Code) -> str:
    """Near 0 a polynomial, which one waits for less long than for a quotient: within 1.2 units in the last place.

    x + x³·(a + b·x² + c·x⁴) in three steps that wait for each other, c·x·x²·((x² + b/2c)² + (a/c - (b/2c)²)) + x, of
    the factors that fit best up to 0.35. The quotient is a call, so that what is run often stays together.
    """
    size = code.put("call float @llvm.fabs.f32(float %x)")
    near = code.put(f"fcmp olt float {size}, {_number(0.35)}")
    code.do(f"br i1 {near}, label %near, label %far")
    code.lines.append("near:")
    square = code.put("fmul contract float %x, %x")
    moved = code.put(f"call float @llvm.fmuladd.f32(float %x, float %x, float {_number(-1.3530244827270508)})")
    again = code.put(f"fmul contract float {moved}, {moved}")
    inner = code.put(f"fadd contract float {again}, {_number(4.951355457305908)}")
    scaled = code.put(f"fmul contract float %x, {_number(-0.049148499965667725)}")
    cube = code.put(f"fmul contract float {scaled}, {square}")
    small = code.put(f"fadd contract float {code.put(f'fmul contract float {cube}, {inner}')}, %x")
    code.do("br label %done")
    code.lines.append("far:")
    large = code.put("call float @gs_tanh_far(float %x)")
    code.do("br label %done")
    code.lines.append("done:")
    return code.put(f"phi float [ {small}, %near ], [ {large}, %far ]")


SINGLE: Final[dict[str, Callable[[Code], str]]] = {"tanh": _tanh_of_one}
"""The same where they are called for one element after the other, each made of the last."""

_LIBRARY: Final = ("tanh", "exp", "log", "sin", "cos")
_INTRINSICS: Final = {"sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "rint": 1, "fmuladd": 3}


def prelude() -> str:
    """What every module declares and defines."""
    lines = []
    for kind, shape, ending in (("float", "f32", "f"), ("double", "f64", "")):
        lines += [f"declare {kind} @{name}{ending}({kind})" for name in _LIBRARY]
        lines += [
            f"declare {kind} @llvm.{name}.{shape}({', '.join([kind] * count)})" for name, count in _INTRINSICS.items()
        ]
    inlined = {**OWN, **{f"{name}_single": write for name, write in SINGLE.items()}}
    far = {f"{name}_far": OWN[name] for name in SINGLE}
    for name, write in (inlined | far).items():
        code = Code()
        result = write(code)
        body = "\n".join(code.lines)
        how = "#3" if name in far else "#1"
        lines.append(f"define internal float @gs_{name}(float %x) {how} {{\n{body}\n  ret float {result}\n}}")
    return "\n".join(lines) + "\n"


def takes(op: str, dtypes: list[Any]) -> bool:
    """Whether an elementwise op of these dtypes can be written."""
    return op in WRITERS and all(dtype is not None and dtype.str[1:] in ("f4", "f8", "b1") for dtype in dtypes)
