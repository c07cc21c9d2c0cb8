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
    """One of the C library; on float32, `tanh` is ours."""

    def write(code: Code, kind: str, given: list[str]) -> str:
        called = f"@{name}{'f' if kind == 'float' else ''}"
        if called == "@tanhf":
            called = "@gs_tanh_single" if code.single else "@gs_tanh"
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


def _polynomial(code: Code, x: str, factors: list[float]) -> str:
    """A polynomial in x, by Horner's scheme."""
    total = _number(factors[-1])
    for factor in factors[-2::-1]:
        total = code.put(f"fadd contract float {code.put(f'fmul contract float {total}, {x}')}, {_number(factor)}")
    return total


def _number(value: float) -> str:
    return literal(value, "float")


def _tanh(code: Code) -> str:
    """A quotient of polynomials (as in Eigen's `ptanh`): within 3 units in the last place."""
    high = _number(7.90531110763549805)
    size = code.put("call float @llvm.fabs.f32(float %x)")
    most = code.put(f"call float @llvm.copysign.f32(float {high}, float %x)")
    x = code.put(f"select i1 {code.put(f'fcmp ogt float {size}, {high}')}, float {most}, float %x")
    square = code.put(f"fmul contract float {x}, {x}")
    above = [4.89352455891786e-03, 6.37261928875436e-04, 1.48572235717979e-05, 5.12229709037114e-08,
             -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16]  # fmt: skip
    below = [4.89352518554385e-03, 2.26843463243900e-03, 1.18534705686654e-04, 1.19825839466702e-06]
    p = code.put(f"fmul contract float {_polynomial(code, square, above)}, {x}")
    return code.put(f"fdiv float {p}, {_polynomial(code, square, below)}")


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


_OWN: Final = (("tanh", _tanh, "#1"), ("tanh_far", _tanh, "#3"), ("tanh_single", _tanh_of_one, "#1"))
"""Functions of float32 that are written here; `single` where one element after the other is made of the last."""

_LIBRARY: Final = ("tanh", "exp", "log", "sin", "cos")
_INTRINSICS: Final = {"sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "copysign": 2, "fmuladd": 3}


def prelude() -> str:
    """What every module declares and defines."""
    lines = []
    for kind, shape, ending in (("float", "f32", "f"), ("double", "f64", "")):
        lines += [f"declare {kind} @{name}{ending}({kind})" for name in _LIBRARY]
        lines += [
            f"declare {kind} @llvm.{name}.{shape}({', '.join([kind] * count)})" for name, count in _INTRINSICS.items()
        ]
    for name, write, how in _OWN:
        code = Code()
        result = write(code)
        body = "\n".join(code.lines)
        lines.append(f"define internal float @gs_{name}(float %x) {how} {{\n{body}\n  ret float {result}\n}}")
    return "\n".join(lines) + "\n"


def takes(op: str, dtypes: list[Any]) -> bool:
    """Whether an elementwise op of these dtypes can be written."""
    return op in WRITERS and all(dtype is not None and dtype.str[1:] in ("f4", "f8", "b1") for dtype in dtypes)
