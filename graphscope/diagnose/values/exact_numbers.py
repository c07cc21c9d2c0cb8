"""Whole numbers that must be told apart, as identifiers and keys, and that floating point rounds together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import is_forward, operand, origin
from graphscope.eventlog.schema import DTYPE_CODES, Flag
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_PROMOTING: Final = frozenset({"mul", "div", "true_divide", "add", "sub"})
_EXACT: Final = frozenset({"eq", "ne", "remainder", "fmod", "floor_divide", "unique", "isin", "bucketize"})
_INDICES: Final = frozenset({"to", "long", "int"})
"""Ops for which it matters which of two numbers that are next to each other one is."""

_WHOLE: Final = {"float32": 2.0**24, "float16": 2.0**11, "bfloat16": 2.0**8}
"""From here on, each of these dtypes leaves whole numbers out."""

_FLOATS: Final = [DTYPE_CODES[name] for name in _WHOLE]
_INTEGERS: Final = [code for name, code in DTYPE_CODES.items() if name.startswith(("int", "uint"))]

_FEWER: Final = 0.9
_WRONG: Final = 0.1
"""Such a share of the different numbers are left, or fewer; such a share of sums is rounded, or more."""
_DENSE: Final = 0.5
_NEAR: Final = 4
"""Such a share of neighbours are no farther from each other than so many steps of the dtype."""
_LEAST: Final = 8
_MOST: Final = 1 << 16
_MOST_CANDIDATES: Final = 256


class Collapsed(NamedTuple):
    """Where numbers were rounded together."""

    node: Node
    cause: str
    said: str
    numbers: dict[str, float]


def candidates(log: Log) -> list[int]:
    """The ops that may round whole numbers together, and those for which that matters."""
    promoting, exact, indices = (op_rows(log, names) for names in (_PROMOTING, _EXACT, _INDICES))
    promoting = promoting[log.pick("input_count", promoting) == 1]
    promoting = promoting[_given(log, promoting, _INTEGERS) & _made(log, promoting, _FLOATS)]
    exact = np.union1d(exact, indices[_made(log, indices, _INTEGERS)])
    exact = exact[_given(log, exact, _FLOATS)]
    return sorted([*distinct(log, promoting), *distinct(log, exact)])[:_MOST_CANDIDATES]


def _made(log: Log, rows: np.ndarray, dtypes: list[int]) -> np.ndarray:
    return np.isin(log.pick("dtype", rows), dtypes)


def _given(log: Log, rows: np.ndarray, dtypes: list[int]) -> np.ndarray:
    """Whether ops were given numbers of some dtypes that nothing learns."""
    given = sources(log, rows)
    known = given >= log.first
    given = np.where(known, given, rows)
    learned = (log.pick("flags", given) & int(Flag.REQUIRES_GRAD)) != 0
    return np.asarray(known & ~learned & _made(log, given, dtypes))


def collapsed(node: Node) -> Collapsed | None:
    """What was rounded together by an op, or ahead of one for which it matters."""
    if is_forward(node, _PROMOTING):
        return _promoted(node)
    if is_forward(node, _EXACT | _INDICES):
        return _compared(node)
    return None


def _promoted(node: Node) -> Collapsed | None:
    """Integers that a number of Python's made floating point of."""
    source = node.inputs[0].source if len(node.inputs) == 1 else None
    if source is None or not source.dtype.startswith(("int", "uint")) or node.dtype not in _WHOLE:
        return None
    before, after = source.value, node.value
    if before is None or after is None or not np.isfinite(after).all() or before.size < _LEAST:
        return None
    largest = float(np.abs(before.astype(np.float64)).max())
    had, kept = len(np.unique(before.reshape(-1)[:_MOST])), len(np.unique(after.reshape(-1)[:_MOST]))
    if largest < _WHOLE[node.dtype] or had < _LEAST or kept > _FEWER * had or not after.any():
        return None
    said = f"makes {node.dtype} of {source.dtype} as large as {largest:.4g}: of {had} different numbers {kept} are left"
    return Collapsed(
        node, "cast", said, {"largest magnitude": largest, "different before": had, "different after": kept}
    )


def _compared(node: Node) -> Collapsed | None:
    """Numbers of floating point that are compared, or taken for keys, and that are as near as their dtype has them."""
    given = operand(node, "input", 0) or (node.inputs[0].source if node.inputs else None)
    if given is None or given.dtype not in _WHOLE or given.flags & Flag.REQUIRES_GRAD:
        return None
    made = origin(given)
    value = given.value
    if value is None or made.dtype != given.dtype or not np.isfinite(value).all():
        return None
    large = np.unique(np.abs(value.reshape(-1)[:_MOST].astype(np.float64)))
    large = large[large >= _WHOLE[given.dtype]]
    if made.kind == "op" and len(large) >= _LEAST and not _is_whole(value):
        return None
    wrong = _rounded(made)
    if wrong >= _WRONG:
        said = f"computes keys as large as {large.max():.4g} in {made.dtype}, and rounds {wrong:.0%} of them"
        return Collapsed(made, "keys", said, {"largest magnitude": float(large.max()), "rounded": wrong})
    if made.kind != "leaf" or len(large) < 3 or value.size < _LEAST:
        return None
    steps = np.diff(large) / _spacing(given.dtype, large[:-1])
    if len(np.unique(value)) > _FEWER * value.size or float((steps <= _NEAR).mean()) < _DENSE:
        return None
    said = f"holds {made.dtype} as large as {large.max():.4g}, and {node.op} tells them apart"
    return Collapsed(made, "keys", said, {"largest magnitude": float(large.max()), "different": len(large)})


def _is_whole(value: np.ndarray) -> bool:
    return bool((np.trunc(value) == value).all())


def _rounded(made: Node) -> float:
    """Such a share of what whole numbers were added or multiplied to is not what it should be."""
    if not is_forward(made, {"add", "mul", "sub"}) or made.value is None:
        return 0.0
    numbers: list[Any] = []
    for each in made.operands:
        given = each.edge.source.value if each.edge is not None else each.constant
        numbers.append(given)
    if len(numbers) != 2 or any(not isinstance(each, np.ndarray | int | float) for each in numbers):
        return 0.0
    one, other = (np.asarray(each, np.float64) for each in numbers)
    if not (_is_whole(one) and _is_whole(other)):
        return 0.0
    name = made.op.rstrip("_")
    exact = one + other if name == "add" else one - other if name == "sub" else one * other
    if exact.shape != made.value.shape or np.abs(exact).max(initial=0.0) < _WHOLE[made.dtype]:
        return 0.0
    return float((exact != made.value).mean())


def _spacing(dtype: str, sizes: np.ndarray) -> np.ndarray:
    """How far apart numbers of a dtype are that are so large."""
    return np.asarray(2.0 ** np.floor(np.log2(sizes)) / (_WHOLE[dtype] / 2))
