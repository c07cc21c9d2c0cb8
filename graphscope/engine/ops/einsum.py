"""Sums of products by Einstein's convention: two operands at a time, each pair a product of matrices."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
from typing import Any

import numpy as np

from graphscope.engine.core.calls import define
from graphscope.engine.core.composite import composite
from graphscope.engine.ops.index import getitem
from graphscope.engine.ops.reduce import sum
from graphscope.engine.ops.shape import permute, reshape

__all__ = ["einsum"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@functools.lru_cache(1024)
def _parts(equation: str) -> tuple[str, str, str]:
    letters, _, out = equation.partition("->")
    first, _, second = letters.partition(",")
    return first, second, out


@functools.lru_cache(1024)
def _orders(equation: str) -> tuple[Any, ...]:
    """How both operands and the product of matrices are transposed, and which letters go where."""
    first, second, out = _parts(equation)
    batch = [letter for letter in out if letter in first and letter in second]
    rows = [letter for letter in out if letter in first and letter not in second]
    columns = [letter for letter in out if letter in second and letter not in first]
    inner = [letter for letter in first if letter in second and letter not in out]
    made = [*batch, *rows, *columns]
    return (
        [first.index(letter) for letter in (*batch, *rows, *inner)],
        [second.index(letter) for letter in (*batch, *inner, *columns)],
        [made.index(letter) for letter in out],
        len(batch),
        len(batch) + len(rows),
        len(batch) + len(inner),
    )


def _contraction(x: Any, y: Any, *, equation: str) -> Any:
    left, right, order, batch, rows, inner = _orders(equation)
    x, y = x.transpose(left), y.transpose(right)
    shared = x.shape[:batch]
    count = math.prod(x.shape[rows:])
    shape = shared + x.shape[batch:rows] + y.shape[inner:]
    sizes = math.prod(shared), math.prod(x.shape[batch:rows]), math.prod(y.shape[inner:])
    if batch:
        made = np.matmul(x.reshape(sizes[0], sizes[1], count), y.reshape(sizes[0], count, sizes[2]))
    else:
        made = x.reshape(sizes[1], count).dot(y.reshape(count, sizes[2]))
    return made.reshape(shape).transpose(order)[()]


def _contraction_shape(x: Any, y: Any, *, equation: str) -> Any:
    first, second, out = _parts(equation)
    sizes = dict(zip(first + second, (*x, *y), strict=True))
    return tuple(sizes[letter] for letter in out)


def _left_rule(g: Any, y: Any, *, equation: str) -> Any:
    first, second, out = _parts(equation)
    return contraction(g, y, f"{out},{second}->{first}")


def _right_rule(g: Any, x: Any, *, equation: str) -> Any:
    first, second, out = _parts(equation)
    return contraction(x, g, f"{first},{out}->{second}")


contraction: Any = define(
    "contraction", "Sum of products over dims that two tensors share, by letters; every letter occurs in two of three.",
    formula="out[ik] = Σ_j x[ij] · y[jk]", tensor_method=False, torch=None,
    prepare=lambda x, y, equation: ((x, y), {"equation": equation}),
    forward=_contraction, accumulates=True,
    vjp=[_left_rule,
         _right_rule],
    shape=_contraction_shape,
    samples=[((2, 3), (3, 4), {"equation": "ij,jk->ki"}), ((2, 3, 4), (2, 4), {"equation": "bij,bj->ib"}),
             ((2,), (3,), {"equation": "i,j->ij"}), ((2, 3), (2, 3), {"equation": "ij,ij->"})],
)  # fmt: skip


def _refused(equation: str, why: str) -> RuntimeError:
    return RuntimeError(f"einsum: {equation!r}: {why}")


def _spelled(equation: str, operands: list[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with letters in the place of dots."""
    text = equation.replace(" ", "")
    left, arrow, out = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise _refused(equation, f"it names {len(terms)} operands, and {len(operands)} were given")
    free = [letter for letter in reversed(_LETTERS) if letter not in text]
    covered = [len(operand.shape) - len(term.replace("...", "")) for term, operand in zip(terms, operands, strict=True)]
    widest = max([count for term, count in zip(terms, covered, strict=True) if "..." in term], default=0)
    dots = "".join(free[: max(widest, 0)])
    for place, (term, count) in enumerate(zip(terms, covered, strict=True)):
        if (term.count(".") not in (0, 3)) or not all(letter in _LETTERS for letter in term.replace("...", "")):
            raise _refused(equation, f"operand {place} is {term!r}: letters, and at most one '...', are expected")
        if count < 0 or (count and "..." not in term):
            shape = tuple(operands[place].shape)
            raise _refused(equation, f"operand {place} has shape {shape}, and {term!r} does not name as many dims")
        terms[place] = term.replace("...", dots[len(dots) - count :])
    if not arrow:
        joined = "".join(terms)
        out = dots + "".join(sorted(letter for letter in set(joined) - set(dots) if joined.count(letter) == 1))
    else:
        out = out.replace("...", dots)
    if len(set(out)) != len(out) or not set(out) <= set("".join(terms)):
        raise _refused(equation, f"the result {out!r} must name letters of the operands, each once")
    return terms, out


def _diagonal(operand: Any, term: str) -> tuple[Any, str]:
    """An operand in which every letter occurs once: of a letter that occurs twice, the diagonal."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            i, j = term.index(letter), term.rindex(letter)
            rest = [dim for dim in range(len(term)) if dim not in (i, j)]
            along = np.arange(operand.shape[i])
            operand = getitem(permute(operand, (i, j, *rest)), (along, along))
            term = letter + "".join(term[dim] for dim in rest)
    return operand, term


def _narrowed(equation: str, terms: list[str], operands: list[Any]) -> None:
    """Check that sizes agree, and drop dims of size 1 that others spread; changes both lists."""
    sizes: dict[str, int] = {}
    for place, (term, operand) in enumerate(zip(terms, operands, strict=True)):
        for letter, size in zip(term, operand.shape, strict=True):
            known = sizes.setdefault(letter, size)
            if size != known and 1 not in (size, known):
                raise _refused(equation, f"{letter!r} is {known} in one operand and {size} in operand {place}")
            sizes[letter] = size if known == 1 else known
    for place, term in enumerate(terms):
        shape = operands[place].shape
        kept = [dim for dim, letter in enumerate(term) if shape[dim] == sizes[letter]]
        if len(kept) < len(term):
            operands[place] = reshape(operands[place], tuple(shape[dim] for dim in kept))
            terms[place] = "".join(term[dim] for dim in kept)


def _summed(operand: Any, term: str, wanted: str) -> tuple[Any, str]:
    """An operand summed over the letters that nobody else wants."""
    lone = tuple(dim for dim, letter in enumerate(term) if letter not in wanted)
    if lone:
        operand = sum(operand, lone)
        term = "".join(letter for letter in term if letter in wanted)
    return operand, term


def _path(terms: list[str], out: str, operands: list[Any]) -> list[tuple[int, ...]]:
    """Which two operands to take next, and next, until one is left."""
    if len(terms) < 3:
        return [(0, 1)] * (len(terms) - 1)
    equation = f"{','.join(terms)}->{out}"
    if importlib.util.find_spec("opt_einsum") is not None:
        contract_path: Any = importlib.import_module("opt_einsum").contract_path
        found = contract_path(equation, *(tuple(each.shape) for each in operands), shapes=True)[0]
    else:
        stands = [np.broadcast_to(np.float32(0), tuple(operand.shape)) for operand in operands]
        found = np.einsum_path(equation, *stands, optimize="greedy")[0][1:]
    steps = [tuple(sorted(step)) for step in found]
    return steps if all(len(step) == 2 for step in steps) else [(0, 1)] * (len(terms) - 1)


def _einsum_shape(*given: Any, equation: str, **_: Any) -> Any:
    operands = [np.broadcast_to(np.float32(0), shape) for shape in given]
    terms, out = _spelled(equation, operands)
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, given, strict=True):
        for letter, size in zip(term, shape, strict=True):
            sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    return tuple(sizes[letter] for letter in out)


@composite(
    "Sums of products of the elements of tensors, by letters for their dims.", formula="out[ik] = Σ_j x[ij] · y[jk]",
    samples=[("", "ij,jk->ik", (2, 3), (3, 4)), ("", "...ij,...jk", (2, 1, 2, 3), (4, 3, 2)), ("", "ii->i", (3, 3)),
             ("", "ij->", (2, 3)), ("", "ij,k,jk->ik", (2, 3), (4,), (3, 4)), ("", "bij,bj->ib", (2, 3, 4), (2, 4)),
             ("", "iij,j", (2, 2, 3), (3,)), ("", "i,j->ij", (2,), (3,)), ("", "ij,ij->i", (2, 3), (1, 3)),
             ("", "->", ())],
    shape=_einsum_shape,
)  # fmt: skip
def einsum(equation: str, *operands: Any) -> Any:
    """Sums of products of elements, by Einstein's convention.

    Args:
        equation: The letters of each operand's dims, and behind `->` those of the result: `"ij,jk->ik"`. `...` stands
            for dims that are broadcast. Without `->` the result has the letters that occur once, sorted.
        *operands: As many tensors.

    Raises:
        RuntimeError: The equation does not fit the tensors; the message says where.
    """
    given = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], list | tuple) else list(operands)
    terms, out = _spelled(equation, given)
    for place, term in enumerate(terms):
        given[place], terms[place] = _diagonal(given[place], term)
    _narrowed(equation, terms, given)
    for step in _path(terms, out, given):
        (y, second), (x, first) = ((given.pop(place), terms.pop(place)) for place in reversed(step))
        wanted = out + "".join(terms)
        x, first = _summed(x, first, wanted + second)
        y, second = _summed(y, second, wanted + first)
        kept = "".join(letter for letter in dict.fromkeys(first + second) if letter in wanted)
        given.append(contraction(x, y, f"{first},{second}->{kept if terms else out}"))
        terms.append(kept if terms else out)
    (last,), (term,) = given, terms
    last, term = _summed(last, term, out)
    return last if term == out else permute(last, tuple(term.index(letter) for letter in out))
