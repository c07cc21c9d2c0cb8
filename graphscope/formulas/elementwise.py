"""Formulas of ops that make each element of those at its place."""

from __future__ import annotations

from typing import Final

from graphscope.formulas.formula import Formula, each

FORMULAS: Final[dict[str, Formula]] = {
    "add": each("out = x + y", x="g", y="g"),
    "add.alpha": each("out = x + alpha · y", x="g", y="g * alpha"),
    "bias_add": each("out = x + bias", x="g", bias="g"),
    "squared_difference": each("out = (x - y)²", x="g * 2 * (x - y)", y="-g * 2 * (x - y)"),
    "div_no_nan": each(
        "out = x / y if y ≠ 0 else 0", x="where(y == 0, 0, g / y)", y="where(y == 0, 0, -g * x / y**2)"
    ),
    "read_variable": each("out = x", x="g"),
    "sub": each("out = x - y", x="g", y="-g"),
    "sub.alpha": each("out = x - alpha · y", x="g", y="-g * alpha"),
    "mul": each("out = x · y", x="g * y", y="g * x"),
    "div": each("out = x / y", x="g / y", y="-g * x / y**2"),
    "div.rounding_mode": each("out = x / y, rounded", x="0", y="0"),
    "floor_divide": each("out = ⌊x / y⌋"),
    "remainder": each("out = x - y · ⌊x / y⌋", x="g", y="-g * floor(x / y)"),
    "fmod": each("out = x - y · trunc(x / y)", x="g", y="-g * trunc(x / y)"),
    "pow": each(
        "out = x ^ y", {"exponent": "y"}, x="g * y * x**(y - 1)", y="where(out == 0, 0, g * out * log(x))"
    ),
    "square": each("out = x²", x="g * 2 * x"),
    "neg": each("out = -x", x="-g"),
    "abs": each("out = |x|", x="g * sign(x)"),
    "sign": each("out = sgn x", x="0"),
    "exp": each("out = e^x", x="g * out"),
    "exp2": each("out = 2^x", x="g * out * log(2)"),
    "expm1": each("out = e^x - 1", x="g * (out + 1)"),
    "log": each("out = ln x", x="g / x"),
    "log2": each("out = log₂ x", x="g / (x * log(2))"),
    "log10": each("out = log₁₀ x", x="g / (x * log(10))"),
    "log1p": each("out = ln (1 + x)", x="g / (x + 1)"),
    "sqrt": each("out = √x", x="g / (2 * out)"),
    "rsqrt": each("out = 1 / √x", x="-g / 2 * out**3"),
    "reciprocal": each("out = 1 / x", x="-g * out**2"),
    "sin": each("out = sin x", x="g * cos(x)"),
    "cos": each("out = cos x", x="-g * sin(x)"),
    "tan": each("out = tan x", x="g * (1 + out**2)"),
    "asin": each("out = arcsin x", x="g / sqrt(1 - x**2)"),
    "acos": each("out = arccos x", x="-g / sqrt(1 - x**2)"),
    "atan": each("out = arctan x", x="g / (1 + x**2)"),
    "atan2": each("out = arctan (x / y)", x="g * y / (x**2 + y**2)", y="-g * x / (x**2 + y**2)"),
    "hypot": each("out = √(x² + y²)", x="g * x / out", y="g * y / out"),
    "sinh": each("out = sinh x", x="g * cosh(x)"),
    "cosh": each("out = cosh x", x="g * sinh(x)"),
    "tanh": each("out = tanh x", x="g * (1 - out**2)"),
    "erf": each("out = 2/√π ∫₀ˣ e^-t² dt", x="g * 2 / sqrt(pi) * exp(-x**2)"),
    "floor": each("out = ⌊x⌋", x="0"),
    "ceil": each("out = ⌈x⌉", x="0"),
    "round": each("out = round x", x="0"),
    "trunc": each("out = trunc x", x="0"),
    "frac": each("out = x - trunc x", x="g"),
    "clamp": each(
        "out = min(max(x, min), max)", x="where(out == x, g, 0)", min="where(x < min, g, 0)",
        max="where(x > max, g, 0)",
    ),
    "clamp_min": each("out = max(x, y)", {"min": "y"}, x="where(x >= y, g, 0)", y="where(x < y, g, 0)"),
    "clamp_max": each("out = min(x, y)", {"max": "y"}, x="where(x <= y, g, 0)", y="where(x > y, g, 0)"),
    **dict.fromkeys(("maximum", "max.y"), each(
        "out = max(x, y)", x="where(x > y, g, where(x == y, g / 2, 0))", y="where(y > x, g, where(x == y, g / 2, 0))"
    )),
    **dict.fromkeys(("minimum", "min.y"), each(
        "out = min(x, y)", x="where(x < y, g, where(x == y, g / 2, 0))", y="where(y < x, g, where(x == y, g / 2, 0))"
    )),
    "lerp": each(
        "out = x + weight · (end - x)", x="g * (1 - weight)", end="g * weight", weight="g * (end - x)"
    ),
    "addcmul": each(
        "out = x + value · y · z", {"tensor1": "y", "tensor2": "z"}, x="g", y="g * value * z", z="g * value * y"
    ),
    "addcdiv": each(
        "out = x + value · y / z", {"tensor1": "y", "tensor2": "z"},
        x="g", y="g * value / z", z="-g * value * y / z**2",
    ),
    "where": each(
        "out = x if condition else y", x="where(condition, g, 0)", y="where(condition, 0, g)"
    ),
    "masked_fill": each(
        "out = value if mask else x", x="where(mask, 0, g)", value="sum(where(mask, g, 0))"
    ),
    "nan_to_num": each("out = x if x is finite else a number", x="where(isfinite(x), g, 0)"),
    "logaddexp": each("out = ln (e^x + e^y)", x="g * exp(x - out)", y="g * exp(y - out)"),
    "xlogy": each("out = x · ln y", x="where(x == 0, 0, g * log(y))", y="g * x / y"),
    "lt": each("out = x < y"),
    "le": each("out = x ≤ y"),
    "gt": each("out = x > y"),
    "ge": each("out = x ≥ y"),
    "eq": each("out = x = y"),
    "ne": each("out = x ≠ y"),
    "isnan": each("out = x ≠ x"),
    "isinf": each("out = |x| = ∞"),
    "isfinite": each("out = |x| < ∞"),
    "logical_and": each("out = x ∧ y"),
    "logical_or": each("out = x ∨ y"),
    "logical_xor": each("out = x ⊻ y"),
    "logical_not": each("out = ¬x"),
    "bitwise_and": each("out = x & y"),
    "bitwise_or": each("out = x | y"),
    "bitwise_xor": each("out = x ^ y"),
    "bitwise_not": each("out = ~x"),
    "clone": each("out = x", x="g"),
    "detach": each("out = x"),
    "alias": each("out = x", x="g"),
    "contiguous": each("out = x", x="g"),
    "to": each("out = x as dtype", x="g"),
    "type_as": each("out = x as the dtype of y", x="g"),
    "float": each("out = x as float32", x="g"),
    "double": each("out = x as float64", x="g"),
    "half": each("out = x as float16", x="g"),
    "bfloat16": each("out = x as bfloat16", x="g"),
    "long": each("out = x as int64"),
    "int": each("out = x as int32"),
    "bool": each("out = x ≠ 0"),
    # Activations -----------------------------------------------------------------------------------------------------
    "relu": each("out = max(x, 0)", x="where(out > 0, g, 0)"),
    "relu6": each("out = min(max(x, 0), 6)", x="where((x > 0) & (x < 6), g, 0)"),
    "hardtanh": each(
        "out = min(max(x, min_val), max_val)", x="where((x > min_val) & (x < max_val), g, 0)"
    ),
    "sigmoid": each("out = 1 / (1 + e^-x)", x="g * out * (1 - out)"),
    "gelu": each(
        "out = x · Φ(x)", x="g * (normal_cdf(x) + x * exp(-x**2 / 2) / sqrt(2 * pi))"
    ),
    "gelu.approximate": each(
        "out = x / 2 · (1 + tanh t), t = √(2/π) · (x + 0.044715 x³)",
        x="g * ((1 + t) / 2 + x / 2 * (1 - t**2) * sqrt(2 / pi) * (1 + 0.134145 * x**2)) "
        "where t = tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))",
    ),
    "silu": each("out = x / (1 + e^-x)", x="g * s * (1 + x * (1 - s)) where s = sigmoid(x)"),
    "mish": each(
        "out = x · tanh(ln(1 + e^x))", x="g * (t + x * sigmoid(x) * (1 - t**2)) where t = tanh(log1p(exp(x)))"
    ),
    "softplus": each("out = ln(1 + e^(beta · x)) / beta", x="g * sigmoid(beta * x)"),
    "logsigmoid": each("out = -ln(1 + e^-x)", x="g * sigmoid(-x)"),
    "softsign": each("out = x / (1 + |x|)", x="g / (1 + abs(x))**2"),
    "elu": each(
        "out = x if x > 0 else alpha · (e^x - 1)", x="where(x > 0, g, g * alpha * exp(x))"
    ),
    "celu": each(
        "out = x if x > 0 else alpha · (e^(x / alpha) - 1)", x="where(x > 0, g, g * exp(x / alpha))"
    ),
    "selu": each(
        "out = 1.0507 · (x if x > 0 else 1.6733 · (e^x - 1))",
        x="1.0507009873554805 * where(x > 0, g, g * 1.6732632423543772 * exp(x))",
    ),
    "leaky_relu": each(
        "out = x if x > 0 else negative_slope · x", x="where(x > 0, g, g * negative_slope)"
    ),
    "threshold": each("out = x if x > threshold else value", x="where(x > threshold, g, 0)"),
    "hardsigmoid": each("out = min(max(x + 3, 0), 6) / 6", x="where((x > -3) & (x < 3), g / 6, 0)"),
    "hardswish": each(
        "out = x · min(max(x + 3, 0), 6) / 6", x="where(x <= -3, 0, where(x < 3, g * (x / 3 + 1 / 2), g))"
    ),
    "dropout": each("out = x · mask / (1 - p)", {"train": "training"}, x="g * (out != 0) / (1 - p) if training else g"),
}  # fmt: skip
