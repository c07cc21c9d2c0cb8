"""An objective that is ascended: the error is made larger, or the likelihood smaller."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, Step, listed, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.source.places import only_call
from graphscope.diagnose.training.climbing import Climbing, climbing
from graphscope.diagnose.training.divergences import enlarged
from graphscope.diagnose.training.linear_terms import LinearTerm, rewarded_weights, shrunk_overlaps
from graphscope.diagnose.training.objectives import objective, only_losses, trains_weights
from graphscope.diagnose.training.optimized import LEAST, names_of, optimizer_at, told
from graphscope.diagnose.training.policies import entropies, weighted
from graphscope.graph import series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_WORSE: Final = 1.1
"""The error grew by that much, from the first to the last quarter of the steps."""

_WANTED: Final = re.compile("reward|score|utility|gain|likelihood|log_?prob|elbo|objective|return", re.IGNORECASE)
"""What is called so is to become large: its own sign is right, that of the loss that is made of it is not."""


def _rows(log: Log) -> list[int]:
    climbed, losses = climbing(log), only_losses(log)
    if climbed is not None and _grows(np.abs(losses["value"]), losses["value"]):
        return [climbed.node.row]
    if not len(series.updates(log)):
        return []
    rows = {each.product.row for each in weighted(log)} | {each.node.row for each in entropies(log)}
    rows |= {each.node.row for each in enlarged(log)}
    rows |= {each.node.row for each in (*rewarded_weights(log), *shrunk_overlaps(log))}
    found = only_losses(log)
    if len(found) >= 2 * LEAST and (_grows(np.abs(found["value"]), found["value"]) or _turns(found["value"])):
        rows.add(int(found["root"][0]))
    return sorted(rows)


def _grows(sizes: np.ndarray, values: np.ndarray) -> bool:
    """Whether a loss goes away from zero: those that are errors get larger, as do the logarithms of probabilities."""
    known = sizes[np.isfinite(sizes)]
    if len(known) < 2 * LEAST or len(np.unique(np.sign(values[np.isfinite(values)]))) > 1:
        return False
    part = len(known) // 4
    return bool(np.median(known[-part:]) > _WORSE * np.median(known[:part]) and known[-1] > known[0])


def _turns(values: np.ndarray) -> bool:
    """Whether a loss falls to the negative of what similarities can be at most."""
    part = len(values) // 4
    before, after = np.median(values[:part]), np.median(values[-part:])
    return bool(np.abs(values).max() <= 1 and after < _OPPOSITE and after < before + _OPPOSITE)


_OPPOSITE: Final = -0.3


@check(
    "objective that is ascended",
    reads=("marks", "rows", "series"),
    rows=_rows,
    shows="run",
    sample="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        x = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
        optimizer = torch.optim.SGD([weight], lr=0.05)
        for _ in range(12):
            optimizer.zero_grad()
            error = ((x @ weight - 3.0) ** 2).mean()
            loss = -error
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.tensor([1.0, 2.0], requires_grad=True)
        x = torch.tensor([[1.0, 0.5], [0.5, 1.0]])
        optimizer = torch.optim.SGD([weight], lr=0.05)
        for _ in range(12):
            optimizer.zero_grad()
            reward = -((x @ weight - 3.0) ** 2).mean()
            loss = -reward
            loss.backward()
            optimizer.step()
        """,
)
def wrong_sign(graph: Graph, row: int) -> Iterator[Finding]:
    """What is minimised is the negative of an error, or a likelihood itself; and it gets worse.

    So is the probability of actions, times what these have brought, and the entropy of a policy beside that.
    """
    climbed = climbing(graph.log)
    if climbed is not None:
        yield _of_climbing(climbed)
        return
    update = series.updates(graph.log)[0]
    maximized = bool(graph.log.arguments(int(update["row"])).attributes.get("maximize"))
    yield from _of_policies(graph, row, -1 if maximized else 1)
    if not maximized:
        yield from _of_divergences(graph, row)
        yield from _of_terms(graph, row)
    found = objective(graph, row) if row in only_losses(graph.log)["root"] else None
    if found is None or found.ascended == maximized or not trains_weights(graph):
        return
    losses = only_losses(graph.log)["value"]
    what = "a likelihood gets smaller" if found.likelihood else "an error gets larger"
    name = f"{found.node.op}{where(found.node)}"
    verdict = f"the objective is ascended: {what} by minimising the negative of {name}"
    cure = "take the minus away: backward() and step() minimise"
    if found.likelihood:
        verdict = f"the objective is ascended: {what} by minimising {name} itself"
        cure = "minimise the negative of the likelihood"
    negated, root = found.negated, graph.node(row)
    named = negated is not None and _WANTED.search(negated.source_line.partition("=")[0])
    whole = bool(named) or (root.op in ("add", "sub") and len(root.inputs) > 1)
    blamed = _given_at(step_of(root if negated is None or whole else negated, "has the wrong sign"), root)
    if whole:
        cure = "minimise its negative"
    if maximized:
        verdict = f"the objective is ascended: {what}, since the optimizer maximises {name}"
        blamed, cure = optimizer_at(graph, int(update["row"]), "maximises an error"), "leave maximize=True away"
    evidence = {"first loss": float(losses[0]), "last loss": float(losses[-1]), "passes": len(losses)}
    explained = Explanation("fine", "wrong sign", verdict, (blamed,), cure)
    yield finding("wrong_sign", "error", row, explained, (graph.node(row).name or "loss",), evidence)


def _of_divergences(graph: Graph, row: int) -> Iterator[Finding]:
    """What is wrong with the divergences of a loss, where not the whole loss has the wrong sign."""
    roots = only_losses(graph.log)["root"]
    whole = objective(graph, int(roots[0])) if len(roots) else None
    for each in enlarged(graph.log):
        if each.node.row == row and (whole is None or not whole.ascended):
            verdict = f"the loss falls as the divergence{where(each.node)} grows, which has no largest value"
            blamed = step_of(each.blamed, "has the wrong sign")
            cure = "add the divergence to the loss: -0.5 * (1 + log_variance - mean**2 - exp(log_variance))"
            explained = Explanation("fine", "wrong sign", verdict, (blamed,), cure)
            yield finding("wrong_sign", "error", row, explained, ("divergence",), {"sign": -1.0})


def _of_terms(graph: Graph, row: int) -> Iterator[Finding]:
    """What is wrong with sizes of weights and with overlaps."""
    for term in rewarded_weights(graph.log):
        if term.node.row == row:
            verdict = (
                f"the loss falls as the weights grow{where(term.node)}: their size is taken from it and not added, so "
                "that it has no least value"
            )
            cure = "add the size of the weights to the loss"
            yield _of_term(term, "weights", verdict, cure)
    for term in shrunk_overlaps(graph.log):
        if term.node.row == row:
            verdict = (
                f"the loss grows with the share in which the answer and what is right overlap{where(term.node)}: to "
                "minimise it drives them apart"
            )
            yield _of_term(term, "overlap", verdict, "minimise one less the share: 1 - overlap")


def _of_term(term: LinearTerm, name: str, verdict: str, cure: str) -> Finding:
    row, names = term.node.row, (name,)
    return Finding(
        "wrong_sign", "error", row, row, term.file, term.line, names, "wrong sign", verdict, cure, {"sign": 1.0}
    )


def _of_climbing(climbed: Climbing) -> Finding:
    """What is wrong with updates by hand."""
    graph, node, measured = climbed.node.graph, climbed.node, climbed.found.node
    way, wanted = ("down", "likelihood") if climbed.found.ascended else ("up", "error")
    worse = "smaller" if climbed.found.ascended else "larger"
    names = names_of(graph, np.array(climbed.tensors))
    losses = only_losses(graph.log)["value"]
    verdict = (
        f"this update goes {way} the gradient of {measured.op}{where(measured)}, and the {wanted} gets {worse}: "
        f"{told(names)} {'is' if len(names) == 1 else 'are'} changed in the wrong direction"
    )
    cure = "take the step against the gradient of what is to become small: p -= lr * p.grad"
    explained = Explanation("fine", "wrong direction", verdict, (step_of(node, "has the wrong sign"),), cure)
    evidence = {"first loss": float(losses[0]), "last loss": float(losses[-1]), "passes": len(losses)}
    return finding("wrong_sign", "error", node.row, explained, names, evidence)


def _given_at(step: Step, root: Node) -> Step:
    """A step at the line that calls for a loss, where the function that gives it is called after what is wanted."""
    site = root.site
    name = "" if site is None else site.function.rpartition(".")[2]
    place = only_call(root.graph.log, name) if step.row == root.row and _WANTED.search(name) else None
    if place is None:
        return step
    line = (root.graph.log.source(place[0]) or "").splitlines()[place[1] - 1 : place[1]]
    return replace(step, file=place[0], line=place[1], text="".join(line).strip())


def _of_policies(graph: Graph, row: int, minimised: int) -> Iterator[Finding]:
    """What is wrong with the gradient of a policy.

    Args:
        graph: The graph.
        row: A product of logarithms of probabilities and what the actions have brought, or an entropy.
        minimised: 1 of what an optimizer minimises, -1 of what it maximises.
    """
    products, right = weighted(graph.log), False
    for each in products:
        right = right or each.sign != minimised
        if each.product.row == row and each.sign == minimised:
            name = listed(each.names)
            verdict = (
                f"the objective is ascended: the loss grows with the probability of actions times {name}"
                f"{where(each.product)}, so that what has brought much becomes rare"
            )
            blamed = step_of(each.blamed, "has the wrong sign")
            cure = f"minimise the negative: -(log_prob * {each.names[0]})"
            explained = Explanation("fine", "wrong sign", verdict, (blamed,), cure)
            yield finding("wrong_sign", "error", row, explained, each.names, {"sign": float(each.sign)})
    for part in entropies(graph.log):
        if right and part.node.row == row and part.sign == minimised:
            verdict = (
                f"the entropy of the policy{where(part.node)} is minimised beside its gain: it stops to explore at once"
            )
            blamed = step_of(part.blamed, "has the wrong sign")
            explained = Explanation("fine", "wrong sign", verdict, (blamed,), "take the entropy from the loss")
            yield finding("wrong_sign", "error", row, explained, ("entropy",), {"sign": float(part.sign)})
