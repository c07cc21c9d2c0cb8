"""`explain`: why a gradient is None, zero or not finite. The first question that fits the tensor is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphscope.diagnose import live
from graphscope.diagnose.astray import astray
from graphscope.diagnose.explanation import Explanation, Symptom, named, step_of, where
from graphscope.diagnose.live import gradient_of, numbers
from graphscope.diagnose.missing import explain_missing, stopped
from graphscope.diagnose.nonfinite import explain_nonfinite, explain_nonfinite_value
from graphscope.diagnose.shrinking import norm, norms, shrunk
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.zeros import explain_zero, mostly_zero, replaced
from graphscope.errors import UsageError
from graphscope.eventlog import record as recording
from graphscope.eventlog.reader import Log
from graphscope.eventlog.witnesses import witness_of
from graphscope.graph import Graph, Node, search

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["explain", "explain_node"]


def explain(thing: Any, spec: str = "", *, loss: Any = None) -> Explanation:
    """Why the gradient of a tensor is None, zero or not finite: the way to the loss, and the op and line to blame.

    Args:
        thing: A tensor (what was recorded of it is looked at; without a recording, its own graph), a log, a graph of
            one, or a node.
        spec: Of a log or graph: which node, as at the prompt: `fc1.weight`, `#12`, `op:tanh`.
        loss: Of a tensor that was not recorded: the loss whose `backward()` should have reached it.

    Raises:
        GraphscopeError: There is no such node, or `thing` is none of these.
    """
    if isinstance(thing, Node):
        return explain_node(thing)
    if isinstance(thing, Log):
        thing = Graph(thing)
    if isinstance(thing, Graph):
        if not spec:
            raise UsageError("explain needs a node of the log", 'for example: gs.explain(log, "fc1.weight")')
        return explain_node(_chosen(thing, spec))
    if not live.is_tensor(thing):
        raise UsageError(
            f"explain takes a tensor, a log or a node, not {type(thing).__name__}", "gs.explain(model.fc1.weight)"
        )
    node = _recorded(thing)
    return live.explain_tensor(thing, loss) if node is None else explain_node(node, live=thing)


def explain_node(node: Node, live: Any = None) -> Explanation:
    """Why the gradient of a node of a log is None, zero or not finite.

    Where nothing is wrong with it, what is wrong with those of other leaves is said beside.
    """
    found = _of_node(node, live)
    beside = found.symptom == "fine" or (found.cause == "does not require grad" and node.kind == "op")
    return named(found, astray(node)) if beside else found


def _of_node(node: Node, live: Any) -> Explanation:
    subject = Subject(node, live)
    if live is not None and node.kind in ("grad", "accumulate") and not live.requires_grad:
        return _of_gradient(node, subject)
    if live is not None and subject.is_leaf and live.grad is None:
        return explain_missing(subject)
    sick = explain_nonfinite_value(subject)
    if sick is not None and not subject.is_leaf:
        return sick
    gradient = subject.node.grad
    if gradient is None:
        unkept = subject.arrivals and subject.is_leaf
        return _not_kept(subject) if unkept else explain_missing(subject)
    changed = _changed(subject, gradient)
    if changed is not None:
        return changed
    found = explain_nonfinite(subject) or sick or explain_zero(subject)
    if found is not None:
        return found
    if not subject.is_leaf and live is not None and not getattr(live, "retains_grad", False):
        return explain_missing(subject)
    return _fine(subject, gradient)


def _changed(subject: Subject, arrived: np.ndarray) -> Explanation | None:
    """Whether the tensor holds another kind of gradient than the one that arrived: a hook, or a write, changed it."""
    held = None if subject.live is None else gradient_of(subject.live)
    if held is None:
        return None
    now, before = _symptom(numbers(held)), _symptom(arrived)
    if now in (before, "fine"):
        return None
    if now == "zero":
        verdict = (
            f"{subject.title}.grad is zero: it arrived (#{subject.arrivals[-1].row}), and zeros were put in its place"
        )
        told = (step_of(subject.node, "zeros were put in the place of its gradient"),)
        cure = "look at zero_grad(set_to_none=False), at the hooks (register_hook), and at writes to .grad"
        return Explanation("zero", "replaced", verdict, told, cure)
    what = f"{subject.title}.grad is not finite"
    return replaced(subject, now, what, [subject.node])


def _symptom(gradient: np.ndarray) -> Symptom:
    if not np.isfinite(gradient).all():
        return "nonfinite"
    return "fine" if np.count_nonzero(gradient) or not gradient.size else "zero"


def _fine(subject: Subject, gradient: np.ndarray) -> Explanation:
    size = norm(gradient) or 0.0
    ahead = subject.ahead
    path = subject.way(ahead) if ahead is not None and ahead.target in ahead.reached else [subject.node]
    verdict = f"{subject.title}.grad is neither None nor zero, and finite: its norm is {size:.4g}"
    kept = (
        ""
        if subject.is_leaf
        else "It is not a leaf: .grad keeps this only for a tensor that was told to retain_grad()."
    )
    loss = None if ahead is None else explain_nonfinite_value(Subject(subject.graph.node(ahead.target)))
    sick = "" if loss is None else f"But {loss.verdict}."
    cut = "" if ahead is None else " ".join(f"Another way is cut: {words}." for words in stopped(ahead)[:2])
    zeros = mostly_zero(subject)
    less = None if zeros else shrunk(subject)
    others = tuple(said for said in (zeros, less.sentence if less else "", kept, sick, cut) if said)
    sizes = norms(path)
    notes = {less.node.row: "most of it becomes small"} if less is not None else {}
    told = tuple(step_of(node, notes.get(node.row, ""), sizes.get(node.row)) for node in path)
    return Explanation("fine", "fine", verdict, told, others=others)


def _of_gradient(node: Node, subject: Subject) -> Explanation:
    verdict = (
        f"this is the gradient of {subject.title} (#{node.row}), made without create_graph=True: it has none itself"
    )
    cure = "for gradients of gradients: autograd.grad(..., create_graph=True), or backward(create_graph=True)"
    return Explanation("none", "a gradient", verdict, (step_of(subject.node),), cure)


def _not_kept(subject: Subject) -> Explanation:
    count = len(subject.arrivals)
    verdict = (
        f"{count} gradients have reached {subject.title}{where(subject.node)}, but the log did not keep their values"
    )
    return Explanation("fine", "values not kept", verdict, (step_of(subject.node),), "record with values='full'")


def _chosen(graph: Graph, spec: str) -> Node:
    found: Sequence[Node] = graph.select(spec)
    first = [node for node in found if node.graph_pass == "forward"]
    if not found:
        raise search.nothing_answers(graph, spec)
    return (first or found)[-1]


def _recorded(tensor: Any) -> Node | None:
    """The node of a tensor in the recording that holds it, while there is one."""
    witness = witness_of(tensor)
    row = getattr(tensor, "row", -1) if witness is None else witness.row(tensor)
    found = recording.holding(row) if isinstance(row, int) and row >= 0 else None
    if found is None:
        return None
    log, number = found
    return Graph(log).node(number)
