"""Products with something added, convolutions and sums over indices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from graphscope.compare.expansions.part import Array, Part, Parts


def linear(input: Array, weight: Array, bias: Array | None = None) -> Parts:
    """`x @ weight.T + bias`."""
    product = input @ weight.T
    yield Part("product", product)
    if bias is not None:
        yield Part("+ bias", product + bias)


def addmm(input: Array, mat1: Array, mat2: Array, *, beta: float = 1, alpha: float = 1) -> Parts:
    """`beta input + alpha mat1 @ mat2`; vectors and batches likewise."""
    product = mat1 @ mat2
    yield Part("product", product)
    if alpha != 1:
        product = product * np.asarray(alpha, product.dtype)
        yield Part("* alpha", product, {"alpha": alpha})
    yield Part("+ input", product + input * np.asarray(beta, product.dtype), {"beta": beta})


def addbmm(input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1) -> Parts:
    """`beta input + alpha (sum over the batch of batch1 @ batch2)`."""
    yield Part("products", batch1 @ batch2)
    product = (batch1 @ batch2).sum(0)
    yield Part("sum", product)
    yield Part("+ input", product * np.asarray(alpha, product.dtype) + input * np.asarray(beta, product.dtype))


def addcmul(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Parts:
    """`input + value tensor1 * tensor2`."""
    yield Part("product", tensor1 * tensor2)
    scaled = np.asarray(value, input.dtype) * tensor1 * tensor2
    yield Part("* value", scaled, {"value": value})
    yield Part("+ input", input + scaled)


def addcdiv(input: Array, tensor1: Array, tensor2: Array, *, value: float = 1) -> Parts:
    """`input + value tensor1 / tensor2`."""
    yield Part("quotient", tensor1 / tensor2)
    scaled = np.asarray(value, input.dtype) * tensor1 / tensor2
    yield Part("* value", scaled, {"value": value})
    yield Part("+ input", input + scaled)


def lerp(input: Array, end: Array, weight: Any) -> Parts:
    """`input + weight (end - input)`."""
    constants = {} if isinstance(weight, np.ndarray) else {"weight": weight}
    yield Part("difference", end - input)
    scaled = np.asarray(weight, input.dtype) * (end - input)
    yield Part("* weight", scaled, constants)
    yield Part("+ input", input + scaled)


def embedding(input: Array, weight: Array, *_: Any, **__: Any) -> Parts:
    """`weight[input]`."""
    yield Part("rows", weight[input])


def einsum(equation: str, *operands: Any) -> Parts:
    """Its operands multiplied and summed pair by pair, from the left."""
    tensors = list(operands[0] if isinstance(operands[0], list | tuple) else operands)
    left, _, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not result and "->" not in equation:
        letters = left.replace(",", "")
        result = "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    while len(tensors) > 2:
        later = set(result).union(*terms[2:])
        term = "".join(dict.fromkeys(each for each in terms[0] + terms[1] if each in later))
        value = np.einsum(f"{terms[0]},{terms[1]}->{term}", *tensors[:2], optimize=True)
        yield Part(f"-> {term}", value)
        terms, tensors = [term, *terms[2:]], [value, *tensors[2:]]
    yield Part(f"-> {result}", np.einsum(f"{','.join(terms)}->{result}", *tensors, optimize=True))


def conv(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Parts:
    """The product of unfolded windows and weights, plus the bias; over as many axes as the weight has."""
    axes = weight.ndim - 2
    batched = input if input.ndim == weight.ndim else input[None]
    strides, spread = _each(stride, axes), _each(dilation, axes)
    widths = _widths(padding, [gap * (size - 1) for gap, size in zip(spread, weight.shape[2:], strict=True)])
    padded = np.pad(batched, [(0, 0), (0, 0), *widths])
    product = _windows(padded, weight, strides, spread, groups)
    product = product if input.ndim == weight.ndim else product[0]
    yield Part("product", product, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups})
    if bias is not None:
        yield Part("+ bias", product + bias.reshape(-1, *[1] * axes))


def _windows(padded: Array, weight: Array, strides: Sequence[int], spread: Sequence[int], groups: int) -> Array:
    """The sum over the places of a window, a product of matrices each: nothing is as large as all windows together."""
    batch, outputs = len(padded), weight.shape[0] // groups
    lengths = [
        (size - gap * (window - 1) - 1) // step + 1
        for size, window, step, gap in zip(padded.shape[2:], weight.shape[2:], strides, spread, strict=True)
    ]
    total = np.zeros((batch, groups, outputs, int(np.prod(lengths))), padded.dtype)
    for place in itertools.product(*map(range, weight.shape[2:])):
        places = zip(place, strides, spread, lengths, strict=True)
        seen = [slice(gap * at, gap * at + step * (length - 1) + 1, step) for at, step, gap, length in places]
        windows, kernel = _last(seen), _last(place)
        columns = padded[windows].reshape(batch, groups, weight.shape[1], -1)
        total += weight[kernel].reshape(groups, outputs, -1) @ columns
    return total.reshape(batch, groups * outputs, *lengths)


def _last(indices: Sequence[Any]) -> Any:
    """An index of the last axes."""
    return (..., *indices)


def _each(given: Any, axes: int) -> list[int]:
    return [given] * axes if isinstance(given, int) else [*given] * (axes if len(given) == 1 else 1)


def _widths(padding: Any, whole: Sequence[int]) -> list[tuple[int, int]]:
    """How far each axis is padded on either side."""
    if padding == "same":
        return [(each // 2, each - each // 2) for each in whole]
    return [(each, each) for each in _each(0 if padding == "valid" else padding, len(whole))]
