"""Formulas with the names and numbers of one node put in: of the program's own, of scalars, of one element."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from graphscope.graph.node import Node

_MOST_TERMS: Final = 6
"""Of longer sums the first and the last are written."""
_LETTERS: Final = ("i", "j")


@dataclass(frozen=True, slots=True)
class Row:
    """How one element of a result came to be."""

    names: str
    """`h[2, 3] = x[2, :] · W[:, 3]`."""
    numbers: str
    """`0.13 · 0.2 + ... = 0.41`."""


def replaced(text: str, values: Mapping[str, str], *, parts: bool = False) -> str:
    """A formula with names replaced by what they stand for: `out = x · y` becomes `300 = 15 · 20`.

    Args:
        text: The formula.
        values: By name; what has an empty text stays.
        parts: Replace names that an index or attribute follows, too.
    """
    known = {name: value for name, value in values.items() if value}
    if not known:
        return text
    words = "|".join(map(re.escape, sorted(known, key=len, reverse=True)))
    behind = r"(?![A-Za-z0-9_(])" if parts else r"(?![A-Za-z0-9_(.\[])"
    return re.sub(rf"(?<![\w.])({words}){behind}", lambda found: known[found[1]], text)


def with_names(node: Node, text: str) -> str:
    """A formula or rule of an op with the program's names and constants in the place of the formula's."""
    called = {"out": node.name or f"#{node.row}"}
    for name, value in node.defaults.items():
        called[name] = str(value) if isinstance(value, (int, float)) else ""
    for operand in node.operands:
        source = operand.edge.source if operand.edge is not None else None
        called[operand.name] = operand.text if source is None else source.name or f"#{source.row}"
    called |= {name: text for name, text in node.constants if _is_number(text)}
    return replaced(text, called, parts=True)


def with_numbers(node: Node, text: str, more: Mapping[str, object]) -> str:
    """The same with the numbers of what is a single number.

    Args:
        node: The op.
        text: Its formula, or a rule.
        more: Values of `out` and `g`.
    """
    values = dict(more)
    for operand in node.operands:
        if operand.edge is not None:
            values[operand.name] = operand.edge.source.output(operand.edge.slot)
    numbers = {name: scalar(value) for name, value in values.items()}
    if replaced(text, numbers) == text:  # names say as much
        return text
    constants = {each.name: each.constant for each in node.operands if each.edge is None}
    settings = {**node.defaults, **node.arguments.attributes, **constants}
    return replaced(text, {name: scalar(value) for name, value in settings.items()} | numbers)


def in_formula(node: Node, values: Mapping[str, object]) -> list[str]:
    """The formula of an op with names, and with numbers, where these say more than the formula.

    Args:
        node: The op.
        values: Of `out` and `g`.
    """
    return _saying_more(node, node.formula, values)


def in_rule(node: Node, rule: str, values: Mapping[str, object]) -> str:
    """A rule with names, and with numbers: `g * b = 1 * 20`; empty where these say no more than the rule."""
    found = _saying_more(node, rule, values) if "\n" not in rule else []
    return " = ".join(found[:1] if " where " in rule else found)


def _saying_more(node: Node, text: str, values: Mapping[str, object]) -> list[str]:
    found = with_names(node, text), with_numbers(node, text, values)
    return [each for each in dict.fromkeys(found) if each != text]


def scalar(value: object) -> str:
    """The text of a single number; empty of all else."""
    array = np.asarray(value) if isinstance(value, (int, float, np.ndarray, np.generic)) else None
    if array is None or array.size != 1 or array.dtype.kind not in "fiub":
        return ""
    return _number(array.reshape(-1)[0])


def element(node: Node, index: tuple[int, ...]) -> Row | None:
    """How one element of the result of an op came to be; None where the log does not say.

    Args:
        node: The op.
        index: The element's place: one number for each dim.

    Raises:
        IndexError: The result has no such element.
    """
    op, result = node.graph.log.op(node.event.op), node.value
    if result is None or not op.element:
        return None
    made = _number(result[index]).strip("()")
    place = f"[{', '.join(map(str, index))}]" if index else ""
    left = f"{node.name or f'#{node.row}'}{place}"
    operands = _Operands(node, index, np.asarray(result))
    right = re.split(r" [=←] ", op.formula, maxsplit=1)[-1] if op.element == "each" else op.element
    try:
        names = _PART.sub(operands.names, right)
        numbers = _PART.sub(operands.numbers, right)
    except LookupError:  # something that was not kept
        return None
    return Row(f"{left} = {names}", f"{numbers} = {made}")


_PART: Final = re.compile(
    r"(?<![\w.])(?P<fold>[ΣΠ] )?(?P<power>e\^)?(?P<name>[A-Za-z_]\w*)(?![\w(])(?P<index>\[[^\]]*\])?"
    r"(?: · (?P<other>[A-Za-z_]\w*)(?![\w(])(?P<other_index>\[[^\]]*\]))?"
)
"""A part of a template: `Σ e^x[dim]`, `x[i, :] · y[:, j]`, `bias[j]`."""


class _Operands:
    """The operands of an op at one element of its result."""

    def __init__(self, node: Node, index: tuple[int, ...], result: np.ndarray) -> None:
        self._index = index
        self._result = result
        self._known: dict[str, tuple[str, Any]] = {name: ("", value) for name, value in node.defaults.items()}
        self._known |= {name: ("", value) for name, value in node.arguments.attributes.items()}
        for each in node.operands:
            edge = each.edge
            if edge is None:
                self._known[each.name] = (each.text, each.constant)
            else:
                source = edge.source
                self._known[each.name] = (source.name or f"#{source.row}", source.output(edge.slot))

    def names(self, part: re.Match[str]) -> str:
        """A part in the program's names."""
        if part["name"] not in self._known:
            return part[0]
        found = f"{part['fold'] or ''}{part['power'] or ''}{self._named(part['name'], part['index'], part['fold'])}"
        return f"{found} · {self._named(part['other'], part['other_index'])}" if part["other"] else found

    def numbers(self, part: re.Match[str]) -> str:
        """A part in numbers."""
        if part["name"] not in self._known:
            whole = self._known.get("x", ("", None))[1] if part["name"] == "n" else None
            return part[0] if whole is None else str(np.asarray(whole).size // max(self._result.size, 1))
        first = self._taken(part["name"], part["index"], part["fold"])
        power = part["power"] or ""
        if part["other"]:
            second = self._taken(part["other"], part["other_index"])
            pairs = zip(np.atleast_1d(first).tolist(), np.atleast_1d(second).tolist(), strict=False)
            return _joined(list(pairs), " + ", lambda pair: f"{_number(pair[0])} · {_number(pair[1])}")
        if part["fold"]:
            sign = " + " if part["fold"] == "Σ " else " · "
            return f"({_joined(first.reshape(-1).tolist(), sign, lambda one: power + _number(one))})"
        return power + (_number(first.reshape(-1)[0]) if isinstance(first, np.ndarray) else str(first))

    def _named(self, name: str, index: str | None, fold: str | None = None) -> str:
        called, value = self._known[name]
        where = self._where(np.asarray(value), index, fold) if isinstance(value, np.ndarray) else ()
        text = ", ".join(":" if isinstance(each, slice) else str(each) for each in where)
        return (called or _number(value)) + (f"[{text}]" if text else "")

    def _taken(self, name: str, index: str | None, fold: str | None = None) -> Any:
        value = self._known[name][1]
        if value is None:
            raise LookupError(name)
        if not isinstance(value, np.ndarray):
            return np.asarray(value) if isinstance(value, (int, float)) else value
        return np.asarray(value[self._where(value, index, fold)])

    def _where(self, array: np.ndarray, index: str | None, fold: str | None) -> tuple[Any, ...]:
        """Which part of an operand the element is made of."""
        if index is None:
            return (slice(None),) * array.ndim if fold else self._broadcast(array.shape)
        words = [each.strip() for each in index[1:-1].split(",")]
        if words == ["dim"]:
            return self._along(array.ndim)
        letters = dict(zip(reversed(_LETTERS), reversed(self._index), strict=False))
        if not any(each == "j" for each in words) and self._result.ndim == 1:
            letters = {"i": self._index[-1]}
        ends = [letters.get(each, slice(None)) for each in words][-array.ndim or len(words) :]
        kept = len(ends)
        before = self._index[: max(array.ndim - kept, 0)]
        return (*before, *ends)

    def _broadcast(self, shape: Sequence[int]) -> tuple[int, ...]:
        last = self._index[len(self._index) - len(shape) :]
        return tuple(0 if length == 1 else at for length, at in zip(shape, last, strict=False))

    def _along(self, rank: int) -> tuple[Any, ...]:
        """All along the dims that were reduced, or along which it was computed."""
        given = self._known.get("dim", ("", None))[1]
        dims = range(rank) if given is None else given if isinstance(given, (tuple, list)) else (given,)
        reduced = {each % rank for each in dims} if rank else set()
        rest = list(self._index) if len(self._index) == rank else None
        left = iter(self._index)
        return tuple(
            slice(None) if place in reduced else rest[place] if rest is not None else next(left)
            for place in range(rank)
        )


def _joined(terms: list[Any], sign: str, text: Callable[[Any], str]) -> str:
    written = [text(each) for each in (terms if len(terms) <= _MOST_TERMS else [*terms[:3], terms[-1]])]
    if len(terms) > _MOST_TERMS:
        written.insert(3, "...")
    return sign.join(written)


def _number(value: Any) -> str:
    """A number as people write it; a negative one in brackets."""
    text = str(value) if isinstance(value, (int, bool, np.integer, np.bool_)) else f"{float(value):.4g}"
    return f"({text})" if text.startswith("-") else text


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) is not None
