"""`explain`: why a gradient is None, zero or not finite. The first question that fits the tensor is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graphscope.diagnose.check_table import every
from graphscope.diagnose.explanation import Explanation, step_of, where, with_others
from graphscope.diagnose.gradients import unrecorded
from graphscope.diagnose.gradients.missing_causes import explain_missing, stopped
from graphscope.diagnose.gradients.passes import newest_pass
from graphscope.diagnose.gradients.size import mostly_zero, norm, norms, shrunk
from graphscope.diagnose.subject import Subject
from graphscope.errors import UsageError
from graphscope.eventlog import record as recording
from graphscope.eventlog.foreign_tensors import row_of
from graphscope.eventlog.reader import Log
from graphscope.graph import Graph, Node, search

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from graphscope.diagnose.finding import Finding

__all__ = ["explain", "explain_node"]

_MOST: Final = 4
"""So many findings are told beside."""


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
    if not unrecorded.is_tensor(thing):
        raise UsageError(
            f"explain takes a tensor, a log or a node, not {type(thing).__name__}", "gs.explain(model.fc1.weight)"
        )
    node = _recorded(thing)
    return unrecorded.explain_tensor(thing, loss) if node is None else explain_node(node, live=thing)


def explain_node(node: Node, live: Any = None) -> Explanation:
    """Why the gradient of a node of a log is None, zero or not finite: what the checks say of it.

    Where nothing is wrong with it, what they find at the node, and in other leaves, is said beside.
    """
    subject = Subject(node, live)
    for check in every().values():
        found = None if check.explain is None else check.explain(subject)
        if found is not None:
            without = found.cause == "does not require grad" and node.kind == "op"
            return with_others(found, [*_at_node(node), *(_other_leaves(subject) if without else ())])
    gradient = subject.gradient
    if gradient is None:
        return _not_kept(subject)
    if not subject.is_leaf and live is not None and not getattr(live, "retains_grad", False):
        return explain_missing(subject)
    return with_others(_fine(subject, gradient), [*_at_node(node), *_other_leaves(subject)])


def _at_node(node: Node) -> list[str]:
    """What checks that look at single nodes find at this one, beside its gradient and whether it is finite."""
    checks = (check for check in every().values() if check.shows == "node" and check.explain is None)
    found = (finding for check in checks for finding in check.judge(node.graph, node.row))
    return [_sentence(finding) for finding in found]


def _sentence(finding: Finding) -> str:
    return f"Beside it: {finding.verdict}."


def _other_leaves(subject: Subject) -> list[str]:
    """The other leaves that the newest backward pass has left without a gradient, or with one of zeros."""
    ended = newest_pass(subject.graph)
    if ended is None:
        return []
    checks = (check for check in every().values() if check.shows == "pass")
    found = (finding for check in checks for finding in check.judge(subject.graph, ended.last))
    others = [finding for finding in found if subject.title not in finding.names]
    return [_sentence(finding) for finding in others[:_MOST]]


def _fine(subject: Subject, gradient: np.ndarray) -> Explanation:
    size = norm(gradient) or 0.0
    ahead = subject.paths_to_loss
    path = subject.path(ahead) if ahead is not None and ahead.target in ahead.reached else [subject.node]
    verdict = f"{subject.title}.grad is neither None nor zero, and finite: its norm is {size:.4g}"
    kept = (
        ""
        if subject.is_leaf
        else "It is not a leaf: .grad keeps this only for a tensor that was told to retain_grad()."
    )
    of_nan = every()["nan"].explain
    loss = None if ahead is None or of_nan is None else of_nan(Subject(subject.graph.node(ahead.target)))
    sick = "" if loss is None or loss.cause == "deliberate" else f"But {loss.verdict}."
    cut = "" if ahead is None else " ".join(f"Another way is cut: {words}." for words in stopped(ahead)[:2])
    zeros = mostly_zero(subject)
    less = None if zeros else shrunk(subject)
    others = tuple(said for said in (zeros, less.sentence if less else "", kept, sick, cut) if said)
    sizes = norms(path)
    notes = {less.node.row: "most of it becomes small"} if less is not None else {}
    steps = tuple(step_of(node, notes.get(node.row, ""), sizes.get(node.row)) for node in path)
    return Explanation("fine", "fine", verdict, steps, others=others)


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
    row = row_of(tensor)
    found = None if row is None else recording.holding(row)
    if found is None:
        return None
    log, number = found
    return Graph(log).node(number)
