"""Why a gradient is None: one function a cause; the first that applies tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, Step, steps, title, where, with_others
from graphscope.diagnose.gradients.exits import left_graph
from graphscope.diagnose.gradients.passes import newest_pass
from graphscope.diagnose.gradients.paths import DETACHING, FLOATING, Cut, GradientPaths
from graphscope.eventlog.schema import NODES, Flag, Kind
from graphscope.graph.gradients import arrivals

if TYPE_CHECKING:
    from graphscope.diagnose.subject import Subject
    from graphscope.eventlog.reader import Event
    from graphscope.graph import Graph, Node

_RETAIN: Final = "call {0}.retain_grad() before backward, or hook it: {0}.register_hook(print)"


def no_number(subject: Subject) -> Explanation | None:
    """Whole numbers and truth values have no gradient."""
    node = subject.node
    if not node.dtype or node.dtype.startswith(FLOATING):
        return None
    return Explanation(
        "none",
        "dtype",
        f"{subject.title} is made of {node.dtype}{where(node)}: only floating point numbers have gradients",
        steps([node], {node.row: f"{node.dtype} has no gradient"}),
        f"make it of floats: {subject.title}.float(), or torch.tensor([1.0, 2.0])",
    )


def frozen(subject: Subject) -> Explanation | None:
    """A leaf that the program has told not to require grad any more."""
    mark = subject.frozen
    if mark is None or not subject.is_leaf:
        return None
    cleared = subject.cleared
    since = "" if cleared is None or not _came(subject) else f", and its gradient was cleared{_at(subject, cleared)}"
    return Explanation(
        "none",
        "frozen",
        f"{subject.title} is frozen: its requires_grad was set to False{_at(subject, mark)}{since}",
        steps([subject.node], {subject.node.row: "does not require grad any more"}),
        f"call {subject.title}.requires_grad_() before it is used, if it is to learn",
    )


def _came(subject: Subject) -> list[Node]:
    """What was ever added to the gradient of a leaf; other gradients went to who asked for them."""
    return [each for each in arrivals(subject.node) if each.kind == "accumulate"]


def _at(subject: Subject, mark: Event) -> str:
    site = subject.graph.log.site(mark.site)
    return "" if site is None else f" at {Step(None, '', file=site.file, line=site.line).place}"


def plain_leaf(subject: Subject) -> Explanation | None:
    """A leaf that does not require grad: by default, or because it was frozen."""
    required = subject.requires_grad
    if not subject.is_leaf or (required and (subject.live is None or subject.live.requires_grad)):
        return None
    node = subject.node
    if subject.live is not None and subject.live.requires_grad:
        used = next((each for each in subject.graph.descendants(node) if each.kind == "op"), None)
        by = "" if used is None else f" when {used.op}{where(used)} took it"
        return Explanation(
            "none",
            "required too late",
            f"{subject.title} did not require grad{by}: requires_grad_() came later",
            steps([node] if used is None else [node, used], {node.row: "did not require grad yet"}),
            f"call {subject.title}.requires_grad_() ahead of that line",
        )
    if required or node.flags & Flag.PARAMETER:
        return Explanation(
            "none",
            "frozen",
            f"{subject.title} is frozen: its requires_grad is False",
            steps([node], {node.row: "does not require grad"}),
            f"call {subject.title}.requires_grad_() before it is used, if it is to learn",
        )
    return Explanation(
        "none",
        "does not require grad",
        f"{subject.title} does not require grad: it was made{where(node)} without requires_grad=True",
        steps([node], {node.row: "does not require grad"}),
        f"make it with requires_grad=True, or call {subject.title}.requires_grad_() before it is used",
    )


def cut_behind(subject: Subject) -> Explanation | None:
    """A result that has no way back to any leaf."""
    if subject.is_leaf or subject.requires_grad:
        return None
    paths = subject.paths_from_leaves
    if not paths.cuts:
        leaves = [title(subject.graph.node(row)) for row in paths.leaves]
        of = f"none of {', '.join(leaves[:4])}{', …' if leaves[4:] else ''} does" if leaves else "no leaf does"
        return Explanation(
            "none",
            "does not require grad",
            f"{subject.title} does not require grad, because nothing that it was made of does: {of}",
            steps([subject.node], {subject.node.row: "does not require grad"}),
            "give requires_grad=True to the tensors whose gradients you want, ahead of this line",
        )
    return _at_cut(subject, paths, f"{subject.title} does not require grad")


def cleared(subject: Subject) -> Explanation | None:
    """A gradient that arrived, and was taken away again."""
    live, mark = subject.live, subject.cleared
    came = _came(subject) if subject.is_leaf else []
    begun = subject.backward
    if mark is not None and begun is not None and begun.begin > mark.row:
        return None  # a pass that ran since should have brought another one
    if not came or (mark is None if live is None else live.grad is not None):
        return None
    last = came[-1]
    where_cleared = "" if mark is None else _at(subject, mark)
    return Explanation(
        "none",
        "cleared",
        f"{subject.title}.grad had arrived (#{last.row}) and was cleared afterwards{where_cleared}, by zero_grad() or "
        "`grad = None`",
        steps([subject.node], {subject.node.row: "its gradient was cleared"}),
        "look at it between backward() and zero_grad()",
    )


def not_kept(subject: Subject) -> Explanation | None:
    """The gradient of a result passes by; only leaves keep theirs."""
    if subject.is_leaf or not subject.arrivals:
        return None
    last = subject.arrivals[-1]
    name = subject.node.name or "it"
    return Explanation(
        "none",
        "not a leaf",
        f"{subject.title} is not a leaf (the op {subject.node.op} made it{where(subject.node)}): its gradient passed "
        f"by (#{last.row}), and .grad keeps those of leaves only",
        steps([subject.node], {subject.node.row: "its gradient is not kept"}),
        _RETAIN.format(name),
    )


def no_backward(subject: Subject) -> Explanation | None:
    """Nobody has asked for gradients yet."""
    if subject.backward is not None:
        return None
    if not_recorded(subject):
        return Explanation(
            "none",
            "not recorded",
            f"the gradient of {subject.title} was not recorded: capture='calls' leaves backward passes out",
            steps([subject.node]),
            "record with capture='calls+backward'",
        )
    ahead = subject.paths_to_loss
    found = Explanation(
        "none",
        "no backward yet",
        f"no backward pass has run since {subject.title} was made{where(subject.node)}",
        steps(subject.path(ahead) if ahead is not None and ahead.target in ahead.reached else [subject.node]),
        "call backward() on the loss",
    )
    if ahead is not None and ahead.cuts and ahead.target not in ahead.open:
        return with_others(found, [f"And it would not arrive: {blame(ahead, ahead.cuts[0])}."])
    return found


def not_recorded(subject: Subject) -> bool:
    """Whether the log was told to leave backward passes out, and holds none."""
    log = subject.graph.log
    return log.metadata.get("capture") == "calls" and not len(subject.graph.index.marks(Kind.BACKWARD_BEGIN))


def unused(subject: Subject) -> Explanation | None:
    """The loss was not computed from it."""
    paths = subject.paths_to_loss
    if paths is None or subject.backward is None or paths.target in paths.reached:
        return None
    loss = subject.graph.node(paths.target)
    made = subject.graph.descendants(subject.node)
    ops = [each for each in made if each.kind == "op" and each.graph_pass == "forward"]
    if ops:
        last = ops[-1]
        went = f"what was made of it (last {title(last)}{where(last)}) does not lead there"
        path = steps([subject.node, last], {last.row: "leads to no loss"})
    else:
        went = "nothing uses it"
        path = steps([subject.node], {subject.node.row: "nothing uses it"})
    return Explanation(
        "none",
        "not on a path to the loss",
        f"{title(loss)}{where(loss)}, where backward began, was not computed from {subject.title}: {went}",
        path,
        "use it in the loss; what leaves the graph by .item(), .numpy(), .data or tensor(...) does not come back",
    )


def cut_ahead(subject: Subject) -> Explanation | None:
    """All paths to the loss lead through something that no gradient passes."""
    paths = subject.paths_to_loss
    if paths is None or paths.target in paths.open or not paths.cuts:
        return None
    loss = subject.graph.node(paths.target)
    return _at_cut(subject, paths, f"no gradient flows from {title(loss)} to {subject.title}")


def on_its_way(subject: Subject) -> Explanation | None:
    """The backward pass has not come so far at this position in time."""
    begun = subject.backward
    if begun is None or subject.arrivals:
        return None
    ends = subject.graph.index.marks(Kind.BACKWARD_END)
    ended = ends[np.searchsorted(ends, begun.begin) :]
    if len(ended) and not _node_between(subject.graph, int(ended[0])):
        return None
    return Explanation(
        "none",
        "on its way",
        f"the backward pass that began at #{begun.begin} has not come to {subject.title} yet",
        steps(subject.path(subject.paths_to_loss) if subject.paths_to_loss is not None else [subject.node]),
        "go on: it arrives later in this pass",
    )


def _node_between(graph: Graph, end: int) -> bool:
    """Whether a node is yet to come between now and a row."""
    return bool(np.isin(graph.log.column("kind", graph.now + 1, end), NODES).any())


def swallowed(subject: Subject) -> Explanation | None:
    """A rule of the program's own (a custom Function, a compiled region) gave no gradient for it."""
    begun, paths = subject.backward, subject.paths_to_loss
    if begun is None or paths is None or paths.target not in paths.reached or subject.arrivals:
        return None
    entries = subject.graph.log.table("scopes")
    own = {entry.get("name") for entry in entries if isinstance(entry, dict) and entry.get("type") == "Function"}
    way = subject.path(paths)
    ran = [any(each.row > begun.begin for each in node.backward if each.kind == "grad") for node in way]
    for place, node in enumerate(way[1:], 1):
        if ran[place] and not ran[place - 1]:
            compiled = node.op.startswith("compiled_")
            if node.op not in own and not compiled:
                return None
            return Explanation(
                "none",
                "none from a rule",
                f"no gradient flows from {node.op}{where(node)} to {subject.title}: its backward gave None for it",
                steps(way, {node.row: "its backward gave None"}),
                "record it with capture='calls+backward', which looks inside"
                if compiled
                else "return a gradient for it",
            )
    return None


def frozen_since(subject: Subject) -> Explanation | None:
    """The pass filled other leaves and left this one out, though nothing cuts the way: the program wanted it so."""
    ended = newest_pass(subject.graph)
    if subject.backward is None or not subject.is_leaf or subject.paths_to_loss is None or ended is None:
        return None
    if ended.begin != subject.backward.begin or not ended.filled:
        return None
    return Explanation(
        "none",
        "frozen",
        f"the last backward pass (#{ended.begin}) left {subject.title} out, though the way is open: it is frozen "
        "by now (requires_grad_(False)), or backward(inputs=...) named others",
        steps(subject.path(subject.paths_to_loss)),
        f"call {subject.title}.requires_grad_() before it is used, if it is to learn",
    )


def not_accumulated(subject: Subject) -> Explanation | None:
    """The gradient was computed for somebody else: `autograd.grad` returns it and keeps nothing."""
    if subject.backward is None or not subject.is_leaf or subject.paths_to_loss is None:
        return None
    return Explanation(
        "none",
        "not accumulated",
        f"the last backward pass (#{subject.backward.begin}) computed gradients without keeping them in "
        f"{subject.title}.grad: autograd.grad() returns them, and backward(inputs=...) fills those of its inputs only",
        steps(subject.path(subject.paths_to_loss)),
        "take what autograd.grad() returns, or call backward()",
    )


def gradient_itself(subject: Subject) -> Explanation:
    """It is itself the gradient of something."""
    row = subject.given.row
    verdict = f"this is the gradient of {subject.title} (#{row}), made without create_graph=True: it has none itself"
    cure = "for gradients of gradients: autograd.grad(..., create_graph=True), or backward(create_graph=True)"
    return Explanation("none", "a gradient", verdict, steps([subject.node]), cure)


CAUSES: Final[tuple[Callable[[Subject], Explanation | None], ...]] = (
    no_number,
    frozen,
    plain_leaf,
    cut_behind,
    cleared,
    not_kept,
    no_backward,
    left_graph,
    unused,
    cut_ahead,
    on_its_way,
    swallowed,
    frozen_since,
    not_accumulated,
)
"""The causes in the order in which they are tested."""


def explain_missing(subject: Subject) -> Explanation:
    """Why there is no gradient."""
    found = (cause(subject) for cause in CAUSES)
    return next(
        (explanation for explanation in found if explanation is not None),
        Explanation("none", "unknown", f"{subject.title} has no gradient, and the log does not tell why"),
    )


def blame(paths: GradientPaths, cut: Cut) -> str:
    """What a cut is, as the end of a sentence."""
    node = paths.graph.node(cut.row)
    for applies, words, _ in CUTS:
        if applies(node):
            return words.format(op=f"{node.op}{where(node)}", dtype=node.dtype)
    return f"{node.op}{where(node)} has no gradient for its input {cut.argument}"


def stopped(paths: GradientPaths) -> list[str]:
    """Where a way was cut by the program's own will: by `detach()`, or with gradients off."""
    cuts = [cut for cut in paths.cuts if _without_grad(node := paths.graph.node(cut.row)) or _detached(node)]
    return [blame(paths, cut) for cut in cuts]


def _at_cut(subject: Subject, paths: GradientPaths, what: str) -> Explanation:
    cut = next((each for each in paths.cuts if paths.ends_as_term(each)), paths.cuts[0])
    node = paths.graph.node(cut.row)
    cure = next((cure for applies, _, cure in CUTS if applies(node)), _NO_RULE_CURE)
    cause = next((kind for applies, kind in KINDS if applies(node)), "no rule")
    also = dict.fromkeys(blame(paths, other) for other in paths.cuts[:4])
    others = tuple(f"Also cut: {each}." for each in also if each != blame(paths, cut))
    verdict = f"{what}: {blame(paths, cut)}"
    return Explanation(
        "none", cause, verdict, steps(subject.path(paths, cut), {cut.row: f"cut: {cause}"}), cure, others
    )


def _without_grad(node: Node) -> bool:
    return bool(node.flags & Flag.NO_GRAD)


def _detached(node: Node) -> bool:
    return node.op in DETACHING


def _not_floating(node: Node) -> bool:
    return bool(node.dtype) and not node.dtype.startswith(FLOATING)


_CASTS: Final = frozenset({"to", "type", "type_as", "int", "long", "short", "char", "byte", "bool"})
_NO_RULE_CURE: Final = "use something smooth in its place (softmax for argmax, sigmoid for a comparison, tanh for sign)"

KINDS: Final[tuple[tuple[Callable[[Node], bool], str], ...]] = (
    (_without_grad, "no_grad"), (_detached, "detach"), (_not_floating, "no rule"),
)  # fmt: skip
"""The kinds of cut."""

CUTS: Final[tuple[tuple[Callable[[Node], bool], str, str], ...]] = (
    (
        _without_grad,
        "{op} ran with gradients off (no_grad or inference_mode)",
        "compute it outside of no_grad() and inference_mode()",
    ),
    (lambda node: node.op == "data", "{op} cuts the way", "leave .data out where the gradient is wanted"),
    (lambda node: node.op.endswith("tensor"), "{op} cuts the way", "take the tensor itself, not a copy of its numbers"),
    (_detached, "{op} cuts the way", "leave detach() out where the gradient is wanted"),
    (
        lambda node: _not_floating(node) and node.op in _CASTS,
        "{op} makes {dtype}, which no gradient passes",
        "keep floating point numbers where the gradient is wanted: leave this conversion out",
    ),
    (_not_floating, "{op} makes {dtype}, which no gradient passes", _NO_RULE_CURE),
)
"""How each kind of cut is told, and what to do about it; what is none of these is an op without a rule."""
