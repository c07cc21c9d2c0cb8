"""Formulas with the names and numbers of one node put in: of the program's own, of scalars, of one element."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.graph.rule_text import evaluated

if TYPE_CHECKING:
    from graphscope.graph.node import Node

_MOST_TERMS: Final = 6
"""Of longer sums the first and the last are written."""
_MODULE: Final = re.compile(r"(^|\.)[^.]+(\.\d+)*$")
"""The end of a module's path that tells it from others: `.linear1`, `.layers.0`."""
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


def called_at(op: Node, node: Node) -> str:
    """What the formula of an op calls a node: from the module on that the op's own module lies in.

    A gradient bears its number, for its name is that of what it is the gradient of.
    """
    if node.kind in ("grad", "accumulate") or not node.name:
        return f"#{node.row}"
    around = _MODULE.sub("", op.scope)
    return node.name.removeprefix(f"{around}.") if around else node.name


def with_names(node: Node, text: str) -> str:
    """A formula or rule of an op with the program's names and constants in the place of the formula's."""
    called = {"out": called_at(node, node)}
    for name, value in node.defaults.items():
        called[name] = str(value) if isinstance(value, (int, float)) else ""
    for operand in node.operands:
        source = operand.edge.source if operand.edge is not None else None
        called[operand.name] = operand.text if source is None else called_at(node, source)
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
    """A rule with names, with numbers, and what these come to: `g * b = 1 * 20 = 20`.

    It is empty where these say no more than the rule.
    """
    if "\n" in rule:
        return ""
    found = _saying_more(node, rule, values)
    if " where " in rule:
        return " = ".join(found[:1])
    result = _result(node, rule, values) if found else ""
    return " = ".join(dict.fromkeys([*found, *([result] if result else [])]))


def _result(node: Node, rule: str, values: Mapping[str, object]) -> str:
    """What a rule of single numbers comes to; empty of all others."""
    known = dict(values)
    for operand in node.operands:
        edge = operand.edge
        known[operand.name] = operand.constant if edge is None else edge.source.output(edge.slot)
    numbers = {
        name: np.asarray(value, np.float64).reshape(())
        for name, value in ({**node.defaults, **node.arguments.attributes} | known).items()
        if scalar(value)
    }
    try:
        with np.errstate(all="ignore"):
            return number(evaluated(rule, numbers)).strip("()")
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return ""


def _saying_more(node: Node, text: str, values: Mapping[str, object]) -> list[str]:
    found = with_names(node, text), with_numbers(node, text, values)
    return [each for each in dict.fromkeys(found) if each != text]


def scalar(value: object) -> str:
    """The text of a single number; empty of all else."""
    array = np.asarray(value) if isinstance(value, (int, float, np.ndarray, np.generic)) else None
    if array is None or array.size != 1 or array.dtype.kind not in "fiub":
        return ""
    return number(array.reshape(-1)[0])


def element(node: Node, index: tuple[int, ...]) -> Row | None:
    """How one element of the result of an op came to be, whatever is in its place now; None where nobody knows.

    Args:
        node: The op.
        index: The element's place: one number for each dim.

    Raises:
        IndexError: The result has no such element.
    """
    op, result, now = node.graph.log.op(node.event.op), node.computed, node.value
    if result is None or now is None or not op.element:
        return None
    made = number(result[index]).strip("()")
    edited = f" (edited to {number(now[index]).strip('()')})" if node.edited else ""
    place = f"[{', '.join(map(str, index))}]" if index else ""
    left = f"{called_at(node, node)}{place}"
    operands = Operands(node, index, np.asarray(result))
    right = re.split(r" [=←] ", op.formula, maxsplit=1)[-1] if op.element == "each" else op.element
    try:
        names = PART.sub(operands.names, right)
        numbers = PART.sub(operands.numbers, right)
    except LookupError:  # something that was not kept
        return None
    return Row(f"{left} = {names}", f"{numbers} = {made}{edited}")


PART: Final = re.compile(
    r"(?<![\w.])(?P<fold>[ΣΠ] )?(?P<power>e\^)?(?P<name>[A-Za-z_]\w*)(?![\w(])(?P<index>\[[^\]]*\])?"
    r"(?: · (?P<other>[A-Za-z_]\w*)(?![\w(])(?P<other_index>\[[^\]]*\]))?"
)
"""A part of a template: `Σ e^x[dim]`, `x[i, :] · y[:, j]`, `bias[j]`."""


class Operands:
    """The operands of an op at one element of its result, or of the gradient of one of them.

    Args:
        node: The op.
        index: The element's place.
        result: What it is an element of.
        more: What else is known: what it is called, and its value.
    """

    def __init__(
        self, node: Node, index: tuple[int, ...], result: np.ndarray, more: Mapping[str, tuple[str, Any]] | None = None
    ) -> None:
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
                self._known[each.name] = (called_at(node, source), source.output(edge.slot))
        self._known |= more or {}
        self.is_summed = False
        """Whether some part was met of which several elements are taken, where one is expected."""

    def known(self, name: str) -> bool:
        """Whether something is called so."""
        return name in self._known

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
        first = self.taken(part["name"], part["index"], part["fold"])
        power = part["power"] or ""
        if part["other"]:
            second = self.taken(part["other"], part["other_index"])
            pairs = zip(np.atleast_1d(first).tolist(), np.atleast_1d(second).tolist(), strict=False)
            return joined(list(pairs), " + ", lambda pair: f"{number(pair[0])} · {number(pair[1])}")
        if part["fold"]:
            sign = " + " if part["fold"] == "Σ " else " · "
            return f"({joined(first.reshape(-1).tolist(), sign, lambda one: power + number(one))})"
        return power + (number(first.reshape(-1)[0]) if isinstance(first, np.ndarray) else str(first))

    def _named(self, name: str, index: str | None, fold: str | None = None) -> str:
        called, value = self._known[name]
        where = self._where(np.asarray(value), index, fold) if isinstance(value, np.ndarray) else ()
        text = ", ".join(":" if isinstance(each, slice) else str(each) for each in where)
        return (called or number(value)) + (f"[{text}]" if text else "")

    def taken(self, name: str, index: str | None, fold: str | None = None) -> Any:
        """The numbers of an operand that the element is made of."""
        value = self._known[name][1]
        if value is None:
            raise LookupError(name)
        if not isinstance(value, np.ndarray):
            return np.asarray(value) if isinstance(value, (int, float)) else value
        return np.asarray(value[self._where(value, index, fold)])

    def _where(self, array: np.ndarray, index: str | None, fold: str | None) -> tuple[Any, ...]:
        """Which part of an operand the element is made of."""
        if index is None:
            place = (slice(None),) * array.ndim if fold else self._broadcast(array.shape)
            self.is_summed |= not fold and slice(None) in place
            return place
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

    def _broadcast(self, shape: Sequence[int]) -> tuple[Any, ...]:
        """Its own element where there is one for each; all of those that were added up where broadcasting is undone."""
        own, rank = self._result.shape, len(self._index)
        outer = [slice(None)] * max(len(shape) - rank, 0)
        ends = shape[len(outer) :]
        along = zip(ends, own[rank - len(ends) :], self._index[rank - len(ends) :], strict=True)
        return (*outer, *(0 if length == 1 else slice(None) if mine == 1 else at for length, mine, at in along))

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


def joined(terms: list[Any], sign: str, text: Callable[[Any], str]) -> str:
    """Terms with a sign between them; of many the first and the last."""
    written = [text(each) for each in (terms if len(terms) <= _MOST_TERMS else [*terms[:3], terms[-1]])]
    if len(terms) > _MOST_TERMS:
        written.insert(3, "...")
    return sign.join(written)


def number(value: Any) -> str:
    """A number as people write it; a negative one in brackets."""
    text = str(value) if isinstance(value, (int, bool, np.integer, np.bool_)) else f"{float(value):.4g}"
    return f"({text})" if text.startswith("-") else text


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?[\d.]+(e-?\d+)?", text) is not None
