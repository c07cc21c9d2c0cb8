"""Kernels: loops over arrays whose shapes and strides are known when they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphscope.static.machine.assembly import Code, literal, type_of
from graphscope.static.machine.math_functions import WRITERS


@dataclass(frozen=True)
class Operand:
    """How an array lies: strides count elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str

    @property
    def kind(self) -> str:
        """LLVM's type of an element."""
        return type_of(self.dtype)


@dataclass(frozen=True)
class Expression:
    """One op of a fused kernel; its inputs are numbers, or places: of operands first, then of expressions before it."""

    op: str
    inputs: tuple[Any, ...]
    kind: str
    """The type that it computes in."""


@dataclass(frozen=True)
class Place:
    """An input of an expression that is an operand or an expression before it, by number."""

    number: int


def elementwise(
    shape: tuple[int, ...], operands: Sequence[Operand], expressions: Sequence[Expression], stores: Sequence[Any]
) -> Code:
    """A kernel of a chain of elementwise ops.

    Args:
        shape: The shape that all are computed in.
        operands: What is read: `%p0`, `%p1`, ...
        expressions: What is computed, in order.
        stores: Pairs of the number of an expression and the operand that it is stored to: pointers after the others.
    """
    strides = [_broadcast(operand, shape) for operand in operands] + [_broadcast(out, shape) for _, out in stores]
    sizes, collapsed = _collapsed(shape, strides)
    code = Code(single=not sizes)
    stored = {which: (number, out) for number, (which, out) in enumerate(stores, len(operands))}

    def body(indices: list[str]) -> None:
        known: list[str] = []
        places = [_place(code, indices, strides) for strides in collapsed]
        for number, operand in enumerate(operands):
            known.append(code.load(f"%p{number}", operand.kind, places[number]))
        for which, expression in enumerate(expressions):
            given = [
                known[value.number] if isinstance(value, Place) else literal(value, expression.kind)
                for value in expression.inputs
            ]
            known.append(WRITERS[expression.op](code, expression.kind, given))
            if which in stored:  # at once: what is kept until the end needs a register, or room on the stack
                number, out = stored[which]
                code.store(known[-1], f"%p{number}", out.kind, places[number])

    _nest(code, sizes, body)
    return code


def _nest(code: Code, sizes: Sequence[int], body: Any, indices: Sequence[str] = ()) -> None:
    if not sizes:
        body(list(indices))
        return
    with code.loop(sizes[0]) as index:
        _nest(code, sizes[1:], body, [*indices, index])


def _broadcast(operand: Operand, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides by which an array is read in a larger shape."""
    extra = len(shape) - len(operand.shape)
    own = [0 if size == 1 else stride for size, stride in zip(operand.shape, operand.strides, strict=True)]
    return (*[0] * extra, *own)


def _collapsed(shape: tuple[int, ...], strides: list[Any]) -> tuple[list[int], list[list[int]]]:
    """The same with as few dims as will do: neighbours that lie one behind the other in all arrays are one."""
    sizes: list[int] = []
    kept: list[list[int]] = [[] for _ in strides]
    for place, size in enumerate(shape):
        if size == 1:
            continue
        here = [each[place] for each in strides]
        if sizes and all(each[-1] == stride * size for each, stride in zip(kept, here, strict=True)):
            sizes[-1] *= size
            for each, stride in zip(kept, here, strict=True):
                each[-1] = stride
        else:
            sizes.append(size)
            for each, stride in zip(kept, here, strict=True):
                each.append(stride)
    return sizes, kept


# Products -------------------------------------------------------------------------------------------------------------


def product(x: Operand, y: Operand, out: Operand) -> Code:
    """A kernel of the product of two matrices: `%p0`, `%p1` to `%p2`."""
    (m, k), n = x.shape, y.shape[1]
    code = Code()
    a, b, c, first, second = x.strides, y.strides, out.strides, "%p0", "%p1"
    if (n == 1 or b[1] != 1) and m > 1 and a[0] == 1 and c[0] == 1:
        # The transposed product: its rows lie in order.
        m, n, a, b, c, first, second = n, m, b[::-1], a[::-1], c[::-1], second, first
    write = _by_rows if n > 1 and b[1] == 1 and c[1] == 1 else _by_elements
    write(code, x.kind, (m, k, n), (a, b, c), first, second)
    return code


def _by_rows(code: Code, kind: str, sizes: Any, strides: Any, first: str, second: str) -> None:
    """Rows of the result as sums of rows, which lie in order."""
    m, k, n = sizes
    a, b, c = strides
    with code.loop(m) as i:
        row = code.times(i, c[0])
        with code.loop(n) as j:
            code.store(literal(0, kind), "%p2", kind, code.plus(row, j))
        with code.loop(k) as step:
            number = code.load(first, kind, code.plus(code.times(i, a[0]), code.times(step, a[1])))
            line = code.times(step, b[0])
            with code.loop(n) as j:
                value = code.put(f"fmul contract {kind} {number}, {code.load(second, kind, code.plus(line, j))}")
                before = code.load("%p2", kind, code.plus(row, j))
                code.store(code.put(f"fadd contract {kind} {before}, {value}"), "%p2", kind, code.plus(row, j))


def _by_elements(code: Code, kind: str, sizes: Any, strides: Any, first: str, second: str) -> None:
    """Element by element; where rows and columns lie in order, sums may be vectors that are added up at the end."""
    m, k, n = sizes
    a, b, c = strides
    how = "reassoc contract" if a[1] == 1 and b[0] == 1 else "contract"
    with code.loop(m) as i, code.loop(n) as j:
        total = code.slot(kind)
        code.do(f"store {kind} {literal(0, kind)}, ptr {total}")
        row, column = code.times(i, a[0]), code.times(j, b[1])
        with code.loop(k) as step:
            one = code.load(first, kind, code.plus(row, code.times(step, a[1])))
            other = code.load(second, kind, code.plus(column, code.times(step, b[0])))
            product = code.put(f"fmul {how} {kind} {one}, {other}")
            before = code.put(f"load {kind}, ptr {total}")
            code.do(f"store {kind} {code.put(f'fadd {how} {kind} {before}, {product}')}, ptr {total}")
        place = code.plus(code.times(i, c[0]), code.times(j, c[1]))
        code.store(code.put(f"load {kind}, ptr {total}"), "%p2", kind, place)


# Sums and copies ------------------------------------------------------------------------------------------------------


def total(x: Operand) -> Code:
    """A kernel of the sum of all elements: `%p0` to `%p1`."""
    sizes, (strides,) = _collapsed(x.shape, [x.strides])
    code, kind = Code(), x.kind
    slot = code.slot(kind)
    code.do(f"store {kind} {literal(0, kind)}, ptr {slot}")

    def add(indices: list[str]) -> None:
        before = code.put(f"load {kind}, ptr {slot}")
        value = code.load("%p0", kind, _place(code, indices, strides))
        code.do(f"store {kind} {code.put(f'fadd reassoc contract {kind} {before}, {value}')}, ptr {slot}")

    _nest(code, sizes, add)
    code.store(code.put(f"load {kind}, ptr {slot}"), "%p1", kind)
    return code


def _place(code: Code, indices: Sequence[str], strides: Sequence[int]) -> str:
    place = "0"
    for index, stride in zip(indices, strides, strict=True):
        place = code.plus(place, code.times(index, stride))
    return place


def copied(x: Operand, out: Operand) -> Code:
    """A kernel that copies `%p0` to `%p1`."""
    sizes, strides = _collapsed(out.shape, [_broadcast(x, out.shape), out.strides])
    code = Code()

    def move(indices: list[str]) -> None:
        value = code.load("%p0", x.kind, _place(code, indices, strides[0]))
        code.store(value, "%p1", x.kind, _place(code, indices, strides[1]))

    _nest(code, sizes, move)
    return code
