"""Divergences of a normal distribution from the standard one, as losses have them: `-0.5 * (1 + v - m**2 - exp(v))`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.training.policies import flips, pushed
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.eventlog.schema import Flag
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_SUMS: Final = frozenset({"add", "sub", "rsub"})
_SQUARES: Final = frozenset({"pow", "square"})
_SCALING: Final = _SUMS | {"mul", "div", "neg", "sum", "mean"}
_MOST: Final = 8


class Divergence(NamedTuple):
    """A divergence that a loss makes as large as it can."""

    node: Node
    """The sum that it is made of."""
    blamed: Node
    """Where its sign is to be changed."""


@once_a_length
def enlarged(log: Log) -> list[Divergence]:
    """The divergences of a log whose losses fall as they grow, one of each line."""
    nodes = map(log.graph.node, distinct(log, op_rows(log, {"exp"})))
    return [each for each in map(_enlarged, nodes) if each is not None]


def _enlarged(variance: Node) -> Divergence | None:
    if not variance.inputs or not variance.flags & Flag.REQUIRES_GRAD or pushed(variance) != -1:
        return None
    total, sign, met = variance, 1, set[str]()
    logarithm = variance.inputs[0].source.row
    for _ in range(_MOST):
        after = [edge for edge in total.users if edge.target.graph_pass == "forward"]
        if len(after) != 1 or after[0].target.op not in _SUMS:
            break
        edge = after[0]
        place = next(at for at, each in enumerate(edge.target.inputs) if each.source.row == total.row)
        sign = -sign if flips(edge.target, place) else sign
        total = edge.target
        met |= {_kind(each, logarithm) for each in _terms(total)}
    if not met >= {"logarithm", "square"}:
        return None
    return Divergence(total, _blamed(total, sign))


def _terms(total: Node) -> list[Node]:
    found: list[Node] = []
    waiting = [total]
    while waiting and len(found) < 2 * _MOST:
        at = waiting.pop()
        found.append(at)
        if at.op in _SUMS:
            waiting += [edge.source for edge in at.inputs]
    return found


def _kind(term: Node, logarithm: int) -> str:
    if term.row == logarithm:
        return "logarithm"
    is_square = term.op == "mul" and len(term.inputs) == 2 and len({edge.source.row for edge in term.inputs}) == 1
    return "square" if (term.op in _SQUARES or is_square) and term.flags & Flag.REQUIRES_GRAD else ""


def _blamed(total: Node, sign: int) -> Node:
    """The sum itself; or, where it has become a divergence above zero first, what takes that away."""
    at = total
    for _ in range(2 * _MOST):
        after = [edge.target for edge in at.users if edge.target.graph_pass == "forward"]
        if len(after) != 1 or after[0].op not in _SCALING:
            return total
        place = next(number for number, each in enumerate(after[0].inputs) if each.source.row == at.row)
        if flips(after[0], place):
            if sign > 0:
                return after[0]
            sign = 1
        at = after[0]
    return total
