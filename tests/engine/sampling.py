"""Inputs of an op from its samples: shapes become random tensors, arrays constants, a list of shapes a list."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import graphscope as gs
from graphscope.engine.core.op import OPS, Op
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.ops.flat_rules import refused

Test = Callable[..., None]

DOMAINS: dict[str, Any] = {
    "": lambda u: 2 * u - 1,
    "positive": lambda u: u + 0.3,
    "unit": lambda u: 1.8 * u - 0.9,
    "fraction": lambda u: 0.8 * u + 0.1,
    "above 1": lambda u: u + 1.2,
    "condition": lambda u: 2 * u - 1,
    "integers": lambda u: np.where(u < 0.5, np.floor(20 * u) - 10, np.floor(20 * u) - 9).astype(np.int64),
    "counts": lambda u: np.floor(8 * u).astype(np.int64),
    "booleans": lambda u: u > 0.5,
    "complex": lambda u: 2 * u - 1 + 1j * np.cos(7 * u),
}
"""What a sample's first word says of its numbers: how they come from numbers between 0 and 1."""
MATRICES: dict[str, Any] = {
    "regular": lambda m: m + 2 * np.eye(*m.shape[-2:]) if m.ndim > 1 else m,
    "symmetric": lambda m: m + m.mT,
    "positive definite": lambda m: m @ m.mT + np.eye(m.shape[-1]),
}
"""What it says of matrices."""


def name_of(value: Any) -> str | None:
    return value.name if isinstance(value, Op) else repr(value).replace("\n", "")


def arguments(op: Op, sample: tuple[Any, ...], dtype: str = "float64") -> tuple[list[Any], dict[str, Any]]:
    """Arrays, numbers and lists of arrays, and the keyword arguments."""
    marker, parts, attrs = taken_apart(sample)
    numbers = np.random.default_rng(len(op.name))
    made = [_made(part, numbers, dtype, marker) for part in parts]
    if marker == "condition":
        made[0] = made[0] > 0
    return made, attrs


def taken_apart(sample: tuple[Any, ...]) -> tuple[str, list[Any], dict[str, Any]]:
    """The domain, the positional arguments, and the keyword arguments of a sample."""
    parts = list(sample)
    marker = parts.pop(0) if parts and isinstance(parts[0], str) and parts[0] in {*DOMAINS, *MATRICES} else ""
    attrs = parts.pop() if parts and isinstance(parts[-1], dict) else {}
    return marker, parts, attrs


def _made(part: Any, numbers: np.random.Generator, dtype: str, marker: str) -> Any:
    if isinstance(part, list):
        return [_made(shape, numbers, dtype, marker) for shape in part]
    if isinstance(part, tuple) and any(isinstance(place, np.ndarray) for place in part):
        return part
    if isinstance(part, np.ndarray):
        return part.astype(dtype) if part.dtype.kind == "f" else part
    if part.__class__ is not tuple or not all(size.__class__ is int for size in part):
        return part
    # Away from 0 and from each other, where functions have corners.
    size = int(np.prod(part))
    even = (numbers.permutation(size) + 0.7) / size if size else np.zeros(0)
    even = np.where(np.abs(even - 0.5) < 1e-3, 0.55, even) + numbers.uniform(0.01, 0.04) / max(size, 1)
    values = MATRICES.get(marker, np.asarray)(np.asarray(DOMAINS.get(marker, DOMAINS[""])(even)).reshape(part))
    if values.dtype.kind == "c":
        return values.astype(np.result_type(dtype, np.complex64))
    return values.astype(dtype) if values.dtype.kind == "f" else values


def tensors(made: list[Any], requires_grad: bool = True) -> list[Any]:
    """The same as tensors; what is floating, or complex, requires grad."""
    return [
        tensors(value, requires_grad)
        if isinstance(value, list)
        else tuple(tensors(list(value), requires_grad))
        if value.__class__ is tuple and any(isinstance(place, np.ndarray) for place in value)
        else Tensor(value[()] if not value.ndim else value, requires_grad=requires_grad and value.dtype.kind in "fc")
        if isinstance(value, np.ndarray | np.generic)
        else value
        for value in made
    ]


def weights_of(out: Any) -> Any:
    """A cotangent for a result: no two of its numbers are the same, and complex ones have two parts."""
    weights = np.linspace(0.5, 1.5, out.numel()).reshape(out.shape)
    return (weights * (1 + 0.5j) if out.dtype.kind == "c" else weights).astype(out.dtype)[()]


def flat(values: Any) -> list[Any]:
    return [part for value in values for part in (value if isinstance(value, list) else [value])]


def results(out: Any) -> list[Any]:
    """The results of an op: one, or several in a tuple."""
    return list(out) if isinstance(out, tuple | list) else [out]


def run(op: Op, given: list[Any], attrs: dict[str, Any]) -> Any:
    """The op's result; an in-place op writes into a copy. Random numbers are the same each time."""
    gs.manual_seed(1)
    if op.in_place:
        given = [given[0].clone(), *given[1:]]
    return op.call(*given, **attrs)


def ruled_shapes(op: Op, given: list[Any], attrs: dict[str, Any]) -> list[tuple[int | None, ...]]:
    """What the op's shape rule says of a call."""
    assert op.shape is not None
    if op.prepare is not None:
        given, attrs = op.prepare(*given, **attrs)
    elif op.composite:
        bound = inspect.signature(op.forward).bind(*given, **attrs)
        bound.apply_defaults()
        listed = [list(value) if isinstance(value, tuple) else value for value in bound.arguments.values()]
        given = [value for value in flat(listed) if isinstance(value, Tensor)]
        attrs = {name: value for name, value in bound.arguments.items() if not isinstance(value, Tensor | list)}
    found = op.shape(*(np.shape(getattr(value, "data", value)) for value in flat(given)), **attrs)
    return found if isinstance(found, list) else [found]


SAMPLES = [(op, sample) for op in OPS.values() for sample in op.samples]
DIFFERENTIABLE = [
    (op, sample)
    for op, sample in SAMPLES
    if (any(vjp and vjp.rule is not refused for vjp in op.vjps) or op.composite)
    and op.name != "to"
    and all(np.isfinite(part).all() for part in sample if isinstance(part, np.ndarray))
    and taken_apart(sample)[0] not in ("integers", "counts", "booleans", "symmetric", "positive definite")
    and not (op.name == "embedding" and taken_apart(sample)[2])  # these options are to change the gradient alone
]


def in_turn(name: str, values: Iterable[Any]) -> Callable[[Test], Test]:
    """One test over several values of an argument, of which a failure tells which it was.

    An item of its own for each would cost pytest more than the test itself takes.
    """
    all_values = list(values)

    def decorate(test: Test) -> Test:
        def each(**others: Any) -> None:
            for value in all_values:
                try:
                    test(**{name: value}, **others)
                except Exception as error:
                    error.add_note(f"{name}: {value!r}")
                    raise

        return _as(test, each, [other for other in inspect.signature(test).parameters if other != name])

    return decorate


def _as(test: Test, each: Test, arguments: list[str]) -> Test:
    """A function that pytest takes for `test` with other arguments."""
    each.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # pytest reads it
        [inspect.Parameter(argument, inspect.Parameter.KEYWORD_ONLY) for argument in arguments]
    )
    each.__name__ = test.__name__
    each.__dict__.update({name: value for name, value in vars(test).items() if name != "__signature__"})
    return each


def over_samples(pairs: Iterable[tuple[Op, tuple[Any, ...]]]) -> Callable[[Test], Test]:
    """A test for each op, which takes the op's samples in turn; a failure tells which of them it was."""
    by_op: dict[str, list[tuple[Any, ...]]] = {}
    for op, sample in pairs:
        by_op.setdefault(op.name, []).append(sample)

    def decorate(test: Test) -> Test:
        def each(op: Op, **others: Any) -> None:
            for sample in by_op[op.name]:
                try:
                    test(op=op, sample=sample, **others)
                except Exception as error:
                    error.add_note(f"sample: {sample!r}")
                    raise

        others = [name for name in inspect.signature(test).parameters if name not in ("op", "sample")]
        return pytest.mark.parametrize("op", [OPS[name] for name in by_op], ids=name_of)(
            _as(test, each, ["op", *others])
        )  # type: ignore[return-value]

    return decorate
