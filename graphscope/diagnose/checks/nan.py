"""A NaN or an Inf: where it was born, and of what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, replaced, steps, title, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.gradients.flow import hops, op_of
from graphscope.diagnose.gradients.paths import GradientPaths
from graphscope.diagnose.subject import Subject
from graphscope.diagnose.values.births import first_birth, further_births, given
from graphscope.diagnose.values.exchanges import is_received, of_collective
from graphscope.diagnose.values.hazards import SAFE_DATA, Birth
from graphscope.diagnose.values.infinities import infinity_behind
from graphscope.diagnose.values.nonfinite_causes import UNSEEN, born_backward, born_forward, largest, written_unseen
from graphscope.diagnose.values.other_ranks import of_other_ranks
from graphscope.diagnose.values.unrecorded_births import LEFT_OUT, unrecorded_birth
from graphscope.diagnose.values.unrecorded_findings import as_consequence, behind_a_rise, of_lost_loss
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.begun_with import begun_with
from graphscope.graph.faults import Excuse, excuse, fault_rows, is_fault, is_finite, nonfinite_rows
from graphscope.graph.gradients import arrived

if TYPE_CHECKING:
    from graphscope.graph import Graph, Node


def explain_nan(subject: Subject) -> Explanation | None:
    """Why a value or a gradient is not finite; None when both are."""
    value, gradient = _of_value(subject), _of_gradient(subject)
    if not subject.is_leaf:
        return value or gradient
    return gradient or (value if subject.gradient is not None else None)


def first_of_run(graph: Graph) -> Iterator[Finding]:
    """The first birth that did harm, and others that are no consequences of it; what overflows has one cause."""
    born = first_birth(graph)
    lost = unrecorded_birth(graph, born)
    is_behind = born is not None and lost is not None and _is_left_behind(born)
    if lost is not None and not is_behind:
        yield of_lost_loss(graph, lost)
    if born is None:
        return
    seen = _finding(born)
    first = as_consequence(born, seen, lost) if lost is not None and is_behind else behind_a_rise(graph, seen)
    yield first
    places = {(first.file, first.line)}
    for node in further_births(graph, born) if not _overflows(first) else ():
        found = _finding(node)
        is_same_step = first.cause == LEFT_OUT == found.cause  # of which nothing else is known
        if not _overflows(found) and not is_same_step and (found.file, found.line) not in places:
            places.add((found.file, found.line))
            yield found


def _is_left_behind(born: Node) -> bool:
    """Whether nothing that was recorded made it: a weight holds it, or an optimizer that took an unseen gradient."""
    is_trained = bool(born.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD))
    return born.op == UNSEEN or _is_step(born) or (born.kind == "leaf" and is_trained)


def _overflows(found: Finding) -> bool:
    return "overflow" in found.cause


@check(
    "birth of a NaN or an Inf",
    reads=("marks", "rows", "values"),
    rows=nonfinite_rows,
    explain=explain_nan,
    of_run=first_of_run,
    sample="""
        import torch

        x = torch.tensor([0.0, 1.0], requires_grad=True)
        loss = x.log().sum()
        loss.backward()
        """,
    healthy="""
        import torch

        x = torch.tensor([0.0, 1.0], requires_grad=True)
        hidden = x.masked_fill(torch.tensor([False, True]), float("-inf"))
        loss = hidden.softmax(0).sum() + (x + 1.0).log().sum()
        loss.backward()
        """,
)
def nan(graph: Graph, row: int) -> Iterator[Finding]:
    """A NaN or an Inf is born: its inputs were finite, and it was given no infinite constant."""
    node = graph.node(row)
    if not is_fault(node) or _is_copy(node) or any(map(is_fault, given(node))):
        return
    yield _finding(node)


def _finding(node: Node) -> Finding:
    summary = node.summary
    evidence: dict[str, float] = {} if summary is None else {"nan": summary.nan, "inf": summary.inf}
    evidence |= {} if summary is None else {"elements": summary.count}
    owner = node.forward if node.kind in ("grad", "accumulate") else node
    name = title(node) if owner is None else title(owner)
    found = _birth_at(node, name)
    size, least = largest(node), _least(node)
    if found.cause == "log of zero" and least is not None:
        evidence["least of its inputs"] = least
    elif size is not None:
        evidence["largest magnitude of its inputs"] = size
    return finding("nan", "error", node.row, found, (name,), evidence)


def _least(node: Node) -> float | None:
    """The least of what an op was given, as far as that was kept."""
    summary = node.inputs[0].source.summary if node.inputs else None
    return None if summary is None else summary.minimum


def _birth_at(node: Node, name: str) -> Explanation:
    rule = _rule_around(node)
    if rule is not None:
        return _of_rule(rule, node, [node], f"{name} is {_kinds(node)}")
    if node.kind not in ("grad", "accumulate"):
        return _explained(node, [node], f"{name} is {_kinds(node)}")
    what = f"the gradient of {name} is {_kinds(node)}"
    if _is_put_there(node):
        return _edited(node, [node], what)
    rules = _rules_of(node)
    path = [owner for owner in (node.forward,) if owner is not None]
    if of_collective(node):
        return _received(node, path, what)
    if len(rules) == 1 and rules[0].forward is not None:
        owner = rules[0].forward
        return _of_rule(rules[0], node, path if owner in path else [*path, owner], what)
    if rules or node.inputs:
        return _summed(node, path or [node], what)
    return _begun(path or [node], what, node)


def _rules_of(node: Node) -> list[Node]:
    """The rules whose results a gradient is made of."""
    return [edge.source for edge in node.inputs if edge.source.kind == "grad"]


def _rule_around(node: Node) -> Node | None:
    """The rule that an op of the backward pass is a part of; None of others, and of what the program itself wrote."""
    return node.forward if node.kind == "op" and node.forward is not None and not _is_written(node) else None


def _is_written(part: Node) -> bool:
    """Whether an op that runs in a backward pass stands in the program itself: in a function of its own, in a hook."""
    begins = part.graph.index.marks(Kind.BACKWARD_BEGIN)
    begins = begins[begins < part.row]
    return not len(begins) or part.graph.index.event(int(begins[-1])).site != part.event.site


def _is_copy(node: Node) -> bool:
    """Whether a leaf is known from before: it was only written again, or comes from where the log does not look."""
    if node.kind != "leaf":
        return False
    again = node.graph.log.first <= node.tensor < node.row
    return again or ("function" not in node.attrs and _earlier(node) is not None)


def _of_value(subject: Subject) -> Explanation | None:
    newest = subject.graph.node(max(subject.rows))
    if is_finite(newest):
        return None
    reason = excuse(newest)
    if reason is not None:
        words, cure = _EXCUSES[reason]
        path = steps([newest], {newest.row: words})
        return Explanation("nonfinite", "deliberate", f"{subject.title} is {_kinds(newest)} {words}", path, cure)
    return _explained(newest, [subject.node], f"{subject.title} is {_kinds(newest)}")


_EXCUSES: Final[dict[Excuse, tuple[str, str]]] = {
    "constant": ("as the program asked for: a constant of it is infinite, as a mask's is", "softmax makes 0 of -inf"),
    "scaled": ("because its loss is scaled up: the GradScaler leaves this step out", "it takes a smaller scale itself"),
    "unwritten": ("because nothing has been written to its memory yet", "write to it before it is used"),
}


def _of_gradient(subject: Subject) -> Explanation | None:
    gradient = subject.gradient
    if gradient is None:
        return None
    what = f"{subject.title}.grad is {'nan' if np.isnan(gradient).any() else 'inf'}"
    came = arrived(subject.node)
    if np.isfinite(gradient).all():
        return None
    if came is not None and np.isfinite(came).all():
        return replaced("nonfinite", f"{subject.title}.grad is not finite", [subject.node])
    last = None
    for hop in hops(subject.node):
        made = subject.graph.node(hop.row)
        if is_finite(made):
            continue
        if excuse(made) == "scaled":
            verdict = f"{what} {_EXCUSES['scaled'][0]}"
            return Explanation("nonfinite", "deliberate", verdict, steps([subject.node]), _EXCUSES["scaled"][1])
        if is_received(made):
            return _received(made, [subject.node], what)
        last = hop
        if is_finite(hop.grad):
            return _of_rule(hop.grad, made, [subject.node, *hop.trail], what)
    if last is None:
        return _summed(_last_arrived(subject.node), [subject.node], what)
    return _begun([subject.node, *last.trail], what, last.grad)


def _last_arrived(node: Node) -> Node:
    """The row that tells of the newest contribution to a gradient."""
    return max((each.told_by for each in node.contributions), key=lambda row: row.row, default=node)


def _received(made: Node, nodes: list[Node], what: str) -> Explanation:
    cause, why, cure = of_other_ranks(made)
    path = steps(nodes if made in nodes else [*nodes, made], {made.row: f"from {cause}"})
    return Explanation("nonfinite", cause, f"{what}: {why}", path, cure)


def _summed(made: Node, nodes: list[Node], what: str) -> Explanation:
    """Finite numbers were added up; they overflow to an infinity, never to nan."""
    found = made.summary
    if found is not None and found.nan:
        return replaced("nonfinite", what, nodes)
    verdict = f"{what}: its contributions are finite, and their sum overflows"
    return Explanation("nonfinite", "overflow of a sum", verdict, steps(nodes), _SAFE_SUM)


_SAFE_SUM: Final = "make the loss, or its scale, smaller, or keep the numbers that it is made of small"


def _begun(nodes: list[Node], what: str, first: Node) -> Explanation:
    """The first of a backward pass is not finite: because of what the program gave, where that is known."""
    given = begun_with(first)
    if given is not None and not is_finite(given):
        return _explained(given, nodes, what)
    verdict = f"{what}: the backward pass began with a gradient that is not finite{where(nodes[-1])}"
    cure = "give backward() a gradient that is finite"
    return Explanation("nonfinite", "began so", verdict, steps(nodes, {nodes[-1].row: "began so"}), cure)


def _of_rule(rule: Node, made: Node, nodes: list[Node], what: str) -> Explanation:
    """A rule made it of a finite gradient: of what its op had been given, or by itself."""
    owner = op_of(rule)
    sick = [node for node in (owner, *(edge.source for edge in owner.inputs)) if is_fault(node)]
    if sick:
        return _explained(min(sick, key=lambda node: node.row), nodes, what)
    verdict = f"{what}: the first non-finite gradient comes from the rule of {owner.op}{where(owner)}"
    path = nodes if owner in nodes else [*nodes, owner]
    return _caused(owner, born_backward(owner, rule, made), path, verdict)


def _caused(node: Node, found: Birth, path: list[Node], verdict: str) -> Explanation:
    """What an op is said to have done, or what made the infinity that it could not take."""
    made = infinity_behind(node, found)
    if made is not None:
        node, found = made
        path = _with(path, node)
    path_of_steps = steps(path, {node.row: found.why})
    return Explanation("nonfinite", found.cause, f"{verdict}: {found.why}", path_of_steps, found.cure)


def _is_put_there(node: Node) -> bool:
    """Whether a person put it in the place of a finite value."""
    return node.edited and not node.graph.log.nonfinite(node.row)


def _edited(born: Node, nodes: list[Node], what: str) -> Explanation:
    why = "a person put it in the place of what was computed"
    verdict = f"{what}: the first non-finite value is that of {born.op}{where(born)}: {why}"
    cure = "set a finite value there, or none"
    return Explanation("nonfinite", "edited", verdict, steps(_with(nodes, born), {born.row: why}), cure)


def _explained(sick: Node, nodes: list[Node], what: str) -> Explanation:
    """Where what makes a node non-finite was born."""
    born = _birth(sick)
    if _is_put_there(born):
        return _edited(born, nodes, what)
    if born.kind == "leaf":
        return _of_leaf(born, sick, nodes, what)
    if born.kind in ("grad", "accumulate"):
        rules = _rules_of(born)
        if len(rules) == 1 and rules[0].forward is not None:
            return _taken_over(_of_rule(rules[0], born, [rules[0].forward], what), nodes, what)
    rule = _rule_around(born)
    if rule is not None:
        return _taken_over(_of_rule(rule, born, [op_of(rule)], what), nodes, what)
    if of_collective(born):
        return _received(born, _with(nodes, born), what)
    verdict = f"{what}: the first non-finite value was made by {born.op}{where(born)}"
    return _caused(born, _POISONED if _is_step(born) else born_forward(born), _with(nodes, born), verdict)


_POISONED: Final = Birth(
    "poisoned by a step",
    "of a gradient that was not recorded",
    "record with capture='calls+backward', which sees where that came from",
)


def _is_step(born: Node) -> bool:
    """Whether an optimizer wrote it, and the log does not hold the gradient that it took."""
    return bool(born.flags & Flag.IN_PLACE) and "lr" in born.attrs and len(born.inputs) == 1


def _of_leaf(leaf: Node, sick: Node, nodes: list[Node], what: str) -> Explanation:
    first = Subject(leaf).node
    if not is_fault(first):
        contribution = _poison(first, sick.row)
        if contribution is not None:
            found = _of_gradient(Subject(first.graph.at(contribution.row).node(first.row)))
            if found is not None:
                return _taken_over(found, nodes, what)
    earlier = _earlier(first) if "function" not in first.attrs else None
    if earlier is not None:
        found = _birth_at(earlier, title(earlier))
        _, _, why = found.verdict.partition(": ")
        verdict = f"{what}; before that, {why}"
        return Explanation("nonfinite", found.cause, verdict, (*steps(nodes), *found.path), found.cure)
    if first.row < leaf.row and is_finite(first):
        cause, why, cure = written_unseen(leaf)
        verdict = f"{what}: finite at first, {why}"
        return Explanation("nonfinite", cause, verdict, steps(_with(nodes, leaf), {leaf.row: why}), cure)
    verdict = f"{what}: {title(first)}{where(first)} holds {_kinds(leaf)} from the beginning"
    path = steps(_with(nodes, first), {first.row: "not finite"})
    trained = bool(first.flags & (Flag.PARAMETER | Flag.REQUIRES_GRAD))
    cure = "initialise it: nothing was written to it, or nan" if trained else SAFE_DATA
    return Explanation("nonfinite", "not initialised" if trained else "data", verdict, path, cure)


def _earlier(leaf: Node) -> Node | None:
    """The first fault of the log, where it is older than a leaf that came from outside of what was recorded."""
    row = next(fault_rows(leaf.graph), leaf.row)
    return leaf.graph.node(row) if row < leaf.row else None


def _taken_over(found: Explanation, nodes: list[Node], what: str) -> Explanation:
    """The same birth, of a gradient that a step of the optimizer took over."""
    _, _, why = found.verdict.partition(": ")
    verdict = f"{what}, since a step took over a gradient that was not finite: {why}"
    path = (*steps([node for node in nodes if all(node.row != step.row for step in found.path)]), *found.path)
    return Explanation("nonfinite", "poisoned by a step", verdict, path, found.cure, found.others)


def _birth(sick: Node) -> Node:
    """The oldest fault that a node was computed from."""
    node = sick
    while True:
        worse = [edge.source for edge in node.inputs if edge.source.row < node.row and is_fault(edge.source)]
        if not worse:
            return _poisoned_leaf(node) or node
        node = min(worse, key=lambda each: each.row)


def _poisoned_leaf(node: Node) -> Node | None:
    """A leaf among the inputs that an optimizer wrote unseen, after a gradient that was not finite."""
    leaves = (edge.source for edge in node.inputs if edge.source.kind == "leaf")
    return next((leaf for leaf in leaves if _poison(leaf, node.row) is not None), None)


def _poison(leaf: Node, before: int) -> Node | None:
    """The contribution to a leaf's gradient that was a fault before a row, if one was."""
    rows = (each for each in leaf.backward if each.kind == "accumulate" and each.row < before)
    return next((each for each in rows if is_fault(each)), None)


def _with(nodes: list[Node], born: Node) -> list[Node]:
    """The path, so that it holds the node where it began."""
    if born in nodes:
        return nodes
    paths = GradientPaths(born.graph, nodes[-1].row, {born.row})
    between = paths.path() if nodes[-1].row in paths.reached else [born, nodes[-1]]
    return [*nodes[:-1], *between[::-1]]


def _kinds(node: Node) -> str:
    found = node.summary
    if found is None:
        return "not finite"
    value = node.value
    negative = np.isneginf(value).sum() if value is not None and value.dtype.kind == "f" else -1
    infinity = "-inf" if negative == found.inf else "inf"
    return " and ".join(name for name, number in (("nan", found.nan), (infinity, found.inf)) if number) or "not finite"
