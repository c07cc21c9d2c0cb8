"""Gradients of policies: logarithms of probabilities of actions, times what these have brought; and entropies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import is_forward
from graphscope.eventlog.schema import Flag
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

_PRODUCTS: Final = frozenset({"mul"})
_LOGARITHMS: Final = frozenset({"log_softmax", "logsumexp", "logsigmoid"})
_ON_THE_WAY: Final = frozenset({
    "squeeze", "unsqueeze", "view", "reshape", "flatten", "sum", "mean", "stack", "cat", "gather", "getitem", "select",
    "index_select", "exp", "sub", "add", "clamp", "clip", "neg", "mul", "div", "index_put", "copy_slices", "to",
})  # fmt: skip
"""Ops between the logarithm of a probability and what it is multiplied by."""

_FAR: Final = 14
_MOST: Final = 64

_WANTED: Final = frozenset({
    "adv", "advs", "advantage", "advantages", "reward", "rewards", "return", "returns", "ret", "rets", "gae", "gain",
    "gains", "td", "delta", "deltas", "utility",
})  # fmt: skip
"""What is called so is to become large."""

_UNWANTED: Final = frozenset({
    "cost", "costs", "loss", "losses", "error", "errors", "distance", "distances", "length", "lengths", "regret",
    "penalty", "energy", "makespan", "tour", "tours", "latency", "violation", "adversary", "adversarial", "attacker",
    "opponent",
})  # fmt: skip
"""What is called so is to become small, or another's gain."""

_SHORT: Final = frozenset({"G", "R"})
_WORD: Final = re.compile(r"[A-Za-z]+")


class Weighted(NamedTuple):
    """Where a loss is made of the logarithms of probabilities of actions."""

    product: Node
    sign: int
    """1 where the loss grows with the probability of what has brought much; -1 where it falls."""
    blamed: Node
    """Where the sign is to be changed."""
    names: tuple[str, ...]
    """What the program calls what the actions have brought."""


class Entropy(NamedTuple):
    """Where the entropy of a policy is a part of a loss."""

    node: Node
    sign: int
    """1 where the loss grows with the entropy."""
    blamed: Node


@once_a_length
def weighted(log: Log) -> list[Weighted]:
    """All of a log, one of each line; none of programs in which they have both signs, as those of adversaries."""
    if not any("log_prob" in str(each) for each in log.table("sources")) and not len(op_rows(log, _LOGARITHMS)):
        return []
    rows = distinct(log, op_rows(log, _PRODUCTS))
    found = [each for each in map(_weighted, map(log.graph.node, rows)) if each is not None]
    return found if len({each.sign for each in found}) == 1 else []


@once_a_length
def entropies(log: Log) -> list[Entropy]:
    """The entropies of policies that losses have, one of each line; none of programs without gradients of policies."""
    rows = distinct(log, op_rows(log, {"sum"})) if weighted(log) else []
    return [each for each in map(_entropy, map(log.graph.node, rows)) if each is not None]


def pushed(node: Node) -> int:
    """1 where a loss grows with a node, -1 where it falls; 0 where neither is so of all its elements, or not known."""
    found = next((each.summary for each in node.backward), None)
    if found is None or not found.finite or found.minimum == found.maximum == 0:
        return 0
    return 1 if found.minimum >= 0 else -1 if found.maximum <= 0 else 0


def _weighted(product: Node) -> Weighted | None:
    sources = [edge.source for edge in product.inputs]
    trained = [each for each in sources if _is_trained(each)]
    if len(trained) != 1 or len(sources) > 2:
        return None
    sign = pushed(product) * _sign_of_logarithm(trained[0])
    known = _named(next((each for each in sources if each != trained[0]), None), product)
    if not sign or known is None:
        return None
    names, polarity = known
    return Weighted(product, sign * polarity, _blamed(product), names)


def _is_trained(node: Node) -> bool:
    return bool(node.flags & Flag.REQUIRES_GRAD) or bool(node.backward)


def _sign_of_logarithm(node: Node) -> int:
    """1 of the logarithm of the probability of what was picked, or given to `log_prob`; -1 of its negative, else 0."""
    nodes, picked = [(node, 1)], False
    for _ in range(_FAR):
        for at, sign in nodes:
            picked = picked or at.op in ("gather", "getitem", "select", "index_select")
            is_negative = at.op == "neg" and _MINUS.search(at.source_line) is not None
            if (".log_prob(" in at.source_line and not is_negative) or (picked and at.op.rstrip("_") in _LOGARITHMS):
                return sign
        nodes = [
            (edge.source, -sign if flips(at, place) else sign)
            for at, sign in nodes
            if at.op.rstrip("_") in _ON_THE_WAY
            for place, edge in enumerate(at.inputs)
            if _is_trained(edge.source)
        ][:_MOST]
    return 0


_MINUS: Final = re.compile(r"-\s*[\w.\[\]]+(?:\([^()]*\))?\.log_prob\(")


def flips(node: Node, place: int) -> bool:
    """Whether an op turns the sign of one of its inputs."""
    name, operands = node.op.rstrip("_"), node.operands
    constants = [each.constant for each in operands if each.edge is None]
    if name in ("mul", "div"):
        return any(isinstance(each, int | float) and each < 0 for each in constants)
    return name in ("neg", "rsub") or (name == "sub" and (place == 1 or operands[0].edge is None))


def _named(weight: Node | None, product: Node) -> tuple[tuple[str, ...], int] | None:
    """What the program calls the weights, and 1 where what is to become large stands in them as it is, else -1."""
    line = product.source_line.rpartition("=")[2]
    if _words(line) & (_UNWANTED - {"loss", "losses"}):
        return None
    told = sorted({each for each in re.findall(r"\w+", line) if _words(each) & _WANTED or each in _SHORT})
    polarities = {1} if told and not re.search(r"-\s*(?:self\.)?(?:" + "|".join(told) + r")\b", line) else set()
    if weight is None:
        return (tuple(told), 1) if polarities else None
    for node, sign in _made_of(weight):
        words = _words(node.name)
        if words & _UNWANTED and "td" not in words:
            return None
        if words & _WANTED or node.name in _SHORT:
            polarities.add(sign)
            told.append(node.name)
    if len(polarities) != 1:
        return None
    return tuple(dict.fromkeys(told)), polarities.pop()


def _words(text: str) -> set[str]:
    return {each.lower() for each in _WORD.findall(text)}


def _made_of(weight: Node) -> Iterator[tuple[Node, int]]:
    """A weight and what it was computed from, each with the sign that it has in it."""
    waiting, seen = [(weight, 1)], {weight.row}
    while waiting and len(seen) < _MOST:
        at, sign = waiting.pop(0)
        yield at, sign
        if at.kind != "op" or _is_trained(at):
            continue
        for place, edge in enumerate(at.inputs):
            if (place and at.op.rstrip("_") in _OF_FIRST) or edge.source.row in seen:
                continue
            seen.add(edge.source.row)
            waiting.append((edge.source, -sign if flips(at, place) else sign))


_OF_FIRST: Final = frozenset({"div", "mul", "where", "gather", "getitem"})
"""Ops whose other inputs say nothing of what the first one is."""


def _blamed(product: Node) -> Node:
    """Where the sign of what is summed up of a product stands: behind the smaller of two, where it is one of these."""
    for edge in product.users:
        if is_forward(edge.target, {"minimum", "min", "maximum", "max"}):
            return edge.target
    return product


def _entropy(total: Node) -> Entropy | None:
    """The sum of probabilities times their logarithms: what is minimised of it makes the entropy large."""
    product = total.inputs[0].source if total.inputs else total
    sign = -1
    if product.op == "neg" and product.inputs:
        product, sign = product.inputs[0].source, 1
    sources = [edge.source for edge in product.inputs] if product.op == "mul" else []
    if len(sources) != 2 or not all(map(_is_trained, sources)):
        return None
    logs = [_behind(each, _LOGARITHMS | {"log"}) for each in sources]
    shares = [_behind(each, {"softmax", "exp"}) for each in sources]
    pushes = pushed(total)
    if not pushes or not ((logs[0] and shares[1]) or (logs[1] and shares[0])):
        return None
    return Entropy(total, sign * pushes, _joined(total))


def _behind(node: Node, names: frozenset[str] | set[str]) -> bool:
    """Whether a node is what an op of some names has made, with little around it."""
    for _ in range(4):
        name = node.op.rstrip("_")
        if name in names or (name == "sub" and any(edge.source.op in names for edge in node.inputs)):
            return True
        if name not in ("clamp", "view", "reshape", "neg", "squeeze", "add") or not node.inputs:
            return False
        node = node.inputs[0].source
    return False


def _joined(node: Node) -> Node:
    """Where a part of a loss is added to another, or taken from it."""
    for _ in range(_FAR):
        after = next((edge.target for edge in node.users if edge.target.graph_pass == "forward"), None)
        if after is None:
            return node
        node = after
        if (
            node.op in ("add", "sub")
            and len(node.inputs) == 2
            and all(_is_trained(each.source) for each in node.inputs)
        ):
            return node
    return node
