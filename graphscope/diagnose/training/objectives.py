"""What a program minimises: the loss that a backward pass begins from, and with which sign."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.values.origins import argument
from graphscope.eventlog.schema import Flag
from graphscope.graph import series
from graphscope.graph.series import unscaled

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

ERRORS: Final = frozenset({
    "cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss",
    "binary_cross_entropy_with_logits", "ctc_loss", "gaussian_nll_loss", "poisson_nll_loss",
})  # fmt: skip
"""Ops of which a program wants little: how far it is from what it should be."""

_DISTANCES: Final = frozenset({"square", "abs", "norm", "linalg_vector_norm"})
"""So are these, of the difference from a target; a square alone may be a variance, of which it wants much."""

_EXPONENTS: Final = ("exponent", "other", "y")
"""What frameworks call the exponent of a power."""

_LIKELIHOODS: Final = frozenset({"log_softmax", "logsigmoid"})
"""Ops whose results are logarithms of probabilities: a program wants much of them where it picks some out."""

_SAME: Final = frozenset({
    "mean", "sum", "nanmean", "logsumexp", "squeeze", "unsqueeze", "view", "reshape", "flatten", "to", "float",
    "double", "half", "bfloat16", "contiguous", "clone", "gather", "getitem", "select", "index_select", "diagonal",
    "expand",
})  # fmt: skip
"""Ops that keep the sign of what they are given."""

_FARTHEST: Final = 32

_GROUP: Final = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_LOG_PROB: Final = re.compile(
    rf"(?:return\s+|[\w.]+\s*=\s*)-?\s*[\w.]+(?:{_GROUP})?\.log_prob{_GROUP}(?:\.(?:mean|sum){_GROUP})*\s*(?:#.*)?"
)
"""A line that computes the logarithm of a probability, and nothing else."""

_READ: Final = "read_variable"
WEIGHTED: Final = frozenset({"linear", "conv1d", "conv2d", "conv3d", "matmul", "mm", "bmm", "addmm", "embedding", "mv"})
"""Ops of layers, which take a weight."""


@dataclass(frozen=True)
class Objective:
    """What a loss is made of, as far as one can tell."""

    node: Node
    """The op that measures: an error, or the logarithm of probabilities."""
    sign: int
    """1 where the loss grows with it, -1 where it falls."""
    negated: Node | None
    """Where the sign is changed."""
    likelihood: bool

    @property
    def ascended(self) -> bool:
        """Whether minimising the loss makes it worse."""
        return self.sign == (1 if self.likelihood else -1)


def objective(graph: Graph, root: int) -> Objective | None:
    """What a loss measures; None where it is a sum of several things, or nothing that is known.

    A sum whose parts all make the same worse is known by the first of them: what an evidence lower bound is made of.
    """
    return _objective(graph.node(unscaled(graph, root)), 1, None, False)


def _objective(node: Node, sign: int, negated: Node | None, picked: bool) -> Objective | None:
    for _ in range(_FARTHEST):
        name = node.op.rstrip("_")
        if node.kind != "op":
            return None
        if name in ERRORS or (_is_distance(node) and _has_target(node)):
            return Objective(node, sign, negated, likelihood=False)
        if name in _LIKELIHOODS:
            return Objective(node, sign, negated, likelihood=True) if picked else None
        if name == "cosine_similarity" and sum(map(_is_trained, (edge.source for edge in node.inputs))) == 1:
            return Objective(node, sign, negated, likelihood=True)
        factor = _factor(node)
        if factor is None or not node.inputs:
            if _is_log_prob(node):
                return Objective(node, sign, negated, likelihood=True)
            return _of_parts(node, sign, negated) if name in ("add", "sub") else None
        picked = picked or name in ("gather", "getitem", "select", "index_select", "diagonal")
        if factor < 0:
            sign, negated = -sign, node
        node = node.inputs[0].source
    return None


def _of_parts(node: Node, sign: int, negated: Node | None) -> Objective | None:
    """What a sum or difference measures, if all of it is ascended: what is not known must be taken from it."""
    sources = [edge.source for edge in node.inputs]
    if len(sources) != 2 or not all(map(_is_trained, sources)):
        return None
    signs = (sign, -sign if node.op.startswith("sub") else sign)
    found = [_objective(each, one, negated, False) for each, one in zip(sources, signs, strict=True)]
    known = [each for each in found if each is not None]
    fits = all(part.ascended if part is not None else one < 0 for part, one in zip(found, signs, strict=True))
    return known[0] if known and fits else None


def _is_distance(node: Node) -> bool:
    exponents = [argument(node, name, 1) for name in _EXPONENTS]
    even = any(isinstance(each, int | float) and each > 0 and each % 2 == 0 for each in exponents)
    return node.op in _DISTANCES or (node.op == "pow" and even)


def _has_target(node: Node) -> bool:
    """Whether it is the difference from something that is given that is measured."""
    difference = node.inputs[0].source if node.inputs else node
    if difference.op.rstrip("_") not in ("sub", "rsub"):
        return False
    sources = [edge.source for edge in difference.inputs]
    return len(sources) < 2 or any(
        not source.flags & Flag.REQUIRES_GRAD and not _is_trained(source) for source in sources
    )


def _is_trained(node: Node) -> bool:
    """Whether a gradient flows to a node, of producers too that do not say so of the results of ops."""
    if node.kind != "op":
        return bool(node.flags & Flag.REQUIRES_GRAD)
    return bool(node.backward)


def _is_log_prob(node: Node) -> bool:
    """Whether a difference is what `log_prob` of a distribution gives, with nothing but a mean or sum around it."""
    return node.op == "sub" and _LOG_PROB.fullmatch(node.source_line) is not None


def _factor(node: Node) -> float | None:
    """What an op multiplies its only input by, as far as the sign goes; None for ops of another kind."""
    name = node.op.rstrip("_")
    if name == "neg":
        return -1.0
    if name in _SAME:
        return 1.0
    if name in ("mul", "div", "rsub", "sub", "add") and len(node.inputs) == 1:
        constants = [each.constant for each in node.operands if each.edge is None]
        numbers = [float(each) for each in constants if isinstance(each, int | float) and not isinstance(each, bool)]
        if name in ("mul", "div"):
            return numbers[0] if numbers and numbers[0] else None
        first_is_number = bool(node.operands) and node.operands[0].edge is None
        return -1.0 if name == "rsub" or (name == "sub" and first_is_number) else 1.0
    return None


def only_losses(log: Log) -> np.ndarray:
    """The losses of a program that has but one: all backward passes begin at one line; else none."""
    found = series.losses(log)
    if not len(found) or len(np.unique(found["site"])) > 1 or len(_stepping_lines(log)) > 1:
        return found[:0]
    return found


def trains_weights(graph: Graph) -> bool:
    """Whether what is updated are weights of layers; else it may be an input that is to be made hard."""
    found = series.updates(graph.log)
    rows = found["before"][found["step"] == found["step"][0]].tolist() if len(found) else []
    return any(is_weight(graph, row) for row in rows)


def is_weight(graph: Graph, row: int) -> bool:
    """Whether a layer takes a parameter, as it is or as it was read."""
    for user in graph.index.using(row, graph.log.end):
        name = graph.log.op(graph.index.event(user).op).name
        if name in WEIGHTED or (name == _READ and is_weight(graph, user)):
            return True
    return False


def _stepping_lines(log: Log) -> np.ndarray:
    found = series.updates(log)
    return np.unique(log.pick("site", found["row"])) if len(found) else np.zeros(0)


def data_of(graph: Graph, root: int) -> frozenset[int]:
    """The tensors that a loss was computed from and that no gradient flows to: inputs and labels."""
    seen: set[int] = set()
    waiting, found = [root], set()
    while waiting and len(seen) < 20_000:
        row = waiting.pop()
        if row in seen or row < graph.log.first:
            continue
        seen.add(row)
        event = graph.index.event(row)
        if not event.inputs and not event.flags & Flag.REQUIRES_GRAD:
            found.add(event.tensor)
        elif not event.flags & Flag.NO_GRAD:
            waiting += [source for source, _ in event.inputs if source < row]
    return frozenset(found)
