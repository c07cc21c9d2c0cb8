"""Kernels: loops over arrays whose shapes and strides are known when they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

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
        places = []
        for each in collapsed:
            place = "0"
            for index, stride in zip(indices, each, strict=True):
                place = code.plus(place, code.times(index, stride))
            places.append(place)
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

_WIDTH: Final = {"float": 8, "double": 4}
"""Elements in a vector."""
_ROWS: Final = 4
"""Rows of the result that are computed together."""
_VECTORS: Final = 2


def product(x: Operand, y: Operand, out: Operand) -> Code:
    """A kernel of the product of two matrices: `%p0`, `%p1` to `%p2`; sums are kept in vectors."""
    (m, k), n = x.shape, y.shape[1]
    code = Code()
    a, b, c, first, second = x.strides, y.strides, out.strides, "%p0", "%p1"
    if (n == 1 or b[1] != 1) and m > 1 and a[0] == 1 and c[0] == 1:
        # The transposed product: its rows lie in order.
        m, n, a, b, c, first, second = n, m, b[::-1], a[::-1], c[::-1], second, first
    if n > 1 and b[1] == 1 and c[1] == 1:
        _by_rows(code, x.kind, (m, k, n), (a, b, c), first, second)
    else:
        _by_elements(code, x.kind, (m, k, n), (a, b, c), first, second)
    return code


def _by_rows(code: Code, kind: str, sizes: Any, strides: Any, first: str, second: str) -> None:
    m, k, n = sizes
    a, b, c = strides
    for row, rows in _blocks(m, _ROWS):
        columns = [width for _, width in _vectors(n, _WIDTH[kind])]
        starts = [sum(columns[:place]) for place in range(len(columns))]
        for group in range(0, len(columns), _VECTORS):
            block = list(zip(starts, columns, strict=True))[group : group + _VECTORS]
            with code.loop(rows.stop - rows.start, row) as index:
                base = code.plus(index, str(rows.start)) if rows.start else index
                _tile(code, kind, k, (a, b, c), first, second, base, row, block)


def _tile(
    code: Code, kind: str, k: int, strides: Any, first: str, second: str, base: str, rows: int, block: Any
) -> None:
    """A few rows by a few vectors of the result."""
    a, b, c = strides
    sums = {}
    for row in range(rows):
        for start, width in block:
            vector = _vector(kind, width)
            sums[row, start] = code.slot(vector)
            code.do(f"store {vector} zeroinitializer, ptr {sums[row, start]}")
    places = [code.times(code.plus(base, str(row)) if row else base, a[0]) for row in range(rows)]
    with code.loop(k) as step:
        line = code.times(step, b[0])
        loaded = []
        for start, width in block:
            place = code.at(second, kind, code.plus(line, str(start)))
            loaded.append(code.put(f"load {_vector(kind, width)}, ptr {place}, align {_size(kind)}"))
        for row in range(rows):
            number = code.load(first, kind, code.plus(places[row], code.times(step, a[1])))
            for (start, width), values in zip(block, loaded, strict=True):
                vector = _vector(kind, width)
                spread = _spread(code, kind, width, number)
                total = code.put(f"load {vector}, ptr {sums[row, start]}")
                added = code.put(f"fmul contract {vector} {spread}, {values}")
                total = code.put(f"fadd contract {vector} {total}, {added}")
                code.do(f"store {vector} {total}, ptr {sums[row, start]}")
    for row in range(rows):
        line = code.times(code.plus(base, str(row)) if row else base, c[0])
        for start, width in block:
            vector = _vector(kind, width)
            total = code.put(f"load {vector}, ptr {sums[row, start]}")
            place = code.at("%p2", kind, code.plus(line, str(start)))
            code.do(f"store {vector} {total}, ptr {place}, align {_size(kind)}")


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


def _blocks(count: int, size: int) -> list[tuple[int, range]]:
    """Whole blocks, and what is left."""
    whole = count - count % size
    found = [(size, range(whole))] if whole else []
    return found + ([(count - whole, range(whole, count))] if whole < count else [])


def _vectors(count: int, width: int) -> list[tuple[int, int]]:
    """A row as vectors: whole ones, then halves down to single elements."""
    found, start = [], 0
    while start < count:
        while start + width > count:
            width //= 2
        found.append((start, width))
        start += width
    return found


def _vector(kind: str, width: int) -> str:
    return f"<{width} x {kind}>"


def _size(kind: str) -> int:
    return 4 if kind == "float" else 8


def _spread(code: Code, kind: str, width: int, number: str) -> str:
    vector = _vector(kind, width)
    first = code.put(f"insertelement {vector} poison, {kind} {number}, i64 0")
    return code.put(f"shufflevector {vector} {first}, {vector} poison, <{width} x i32> zeroinitializer")


# Sums and copies ------------------------------------------------------------------------------------------------------


def total(x: Operand, dims: Sequence[int], out: Operand) -> Code:
    """A kernel of a sum over dims: `%p0` to `%p1`, whose dims that were summed have stride 0."""
    code, kind = Code(), x.kind
    kept = [place for place in range(len(x.shape)) if place not in dims]
    places = dict(
        zip(kept, out.strides if len(out.strides) == len(kept) else [out.strides[p] for p in kept], strict=True)
    )
    shape = tuple(x.shape[place] for place in kept)
    _nest(code, shape, lambda at: code.store(literal(0, kind), "%p1", kind, _place(code, at, list(places.values()))))
    inner = bool(kept) and kept[-1] == len(x.shape) - 1
    order = [*dims, *kept] if inner else [*kept, *dims]
    if inner:

        def add(indices: list[str]) -> None:
            at = dict(zip(order, indices, strict=True))
            target = _place(code, [at[p] for p in kept], list(places.values()))
            value = code.load("%p0", kind, _place(code, [at[p] for p in order], [x.strides[p] for p in order]))
            before = code.load("%p1", kind, target)
            code.store(code.put(f"fadd contract {kind} {before}, {value}"), "%p1", kind, target)

        _nest(code, [x.shape[place] for place in order], add)
        return code

    def sum_up(indices: list[str]) -> None:
        slot = code.slot(kind)
        code.do(f"store {kind} {literal(0, kind)}, ptr {slot}")
        base = _place(code, indices, [x.strides[place] for place in kept])

        def add(inside: list[str]) -> None:
            at = code.plus(base, _place(code, inside, [x.strides[place] for place in dims]))
            before = code.put(f"load {kind}, ptr {slot}")
            after = code.put(f"fadd reassoc contract {kind} {before}, {code.load('%p0', kind, at)}")
            code.do(f"store {kind} {after}, ptr {slot}")

        _nest(code, [x.shape[place] for place in dims], add)
        target = _place(code, indices, list(places.values()))
        code.store(code.put(f"load {kind}, ptr {slot}"), "%p1", kind, target)

    _nest(code, shape, sum_up)
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
