"""What comes of what: the table that says which finding explains which, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from graphscope.diagnose.gradients.paths import is_trained
from graphscope.diagnose.values.unrecorded_births import BEFORE
from graphscope.eventlog.schema import Kind
from graphscope.graph import walk

if TYPE_CHECKING:
    from graphscope.diagnose.finding import Finding
    from graphscope.graph import Graph

Link = Literal["always", "after", "graph", "overflow", "lost", "name", "line"]
"""What must hold beside the kinds: nothing; the cause shows first; the graph leads from it to the other, or to weights
that an optimizer has written since; the cause shows first and the other is an overflow; the other goes by a loss that
is not finite, and the cause is no overflow; they are about the same tensor; they name the same line."""


class Rule(NamedTuple):
    """Findings of some kinds explain findings of others."""

    causes: tuple[str, ...]
    link: Link
    effects: tuple[str, ...]


_LEARNING: Final = (
    "missing", "not_registered", "not_in_optimizer", "frozen", "stale_optimizer", "never_used", "lost_update",
    "lr_vanished", "zero_grad", "step_order", "clip_order", "broadcast", "softmax_axis", "double_softmax",
    "missing_log", "double_sigmoid", "constant_data", "unnormalised_inputs", "train_eval_mode", "bad_init",
    "update_ratio", "wrong_sign", "precision_lost", "state_not_detached", "dead_relu", "saturation",
    "vanishing_gradient", "exploding_gradient", "vanished", "nan", "loss_leapt", "clipped_away", "undone_update",
    "labels_shifted_twice",
)  # fmt: skip
"""Whatever of these is found is why a loss does not fall."""

RULES: Final[tuple[Rule, ...]] = (
    Rule(("nan",), "graph", ("nan",)),
    Rule(
        ("nan",), "after",
        ("missing", "raised", "vanished", "exploding_gradient", "vanishing_gradient", "dead_relu", "saturation",
         "lost_update", "update_ratio", "frozen"),
    ),
    Rule(("nan",), "lost", ("update_ratio",)),
    Rule(("exploding_gradient",), "overflow", ("nan",)),
    Rule(
        ("zero_grad", "step_order", "clip_order", "update_ratio", "bad_init", "unnormalised_inputs", "wrong_sign"),
        "overflow", ("nan",),
    ),
    Rule(
        ("zero_grad", "step_order", "clip_order", "update_ratio", "wrong_sign", "bad_init", "unnormalised_inputs"),
        "always", ("exploding_gradient", "dead_relu", "saturation", "vanishing_gradient", "vanished"),
    ),
    Rule(("bad_init", "unnormalised_inputs", "zero_grad", "step_order", "wrong_sign"), "always", ("update_ratio",)),
    Rule(("exploding_gradient",), "after", ("update_ratio",)),
    Rule(
        ("update_ratio", "wrong_sign", "zero_grad", "step_order", "exploding_gradient", "unnormalised_inputs"),
        "always", ("loss_leapt",),
    ),
    Rule(("dead_relu", "saturation", "vanishing_gradient"), "always", ("vanished", "lost_update", "update_ratio")),
    Rule(("dead_relu", "saturation", "constant_data", "precision_lost"), "always", ("vanishing_gradient", "vanished")),
    Rule(("vanished",), "line", ("vanished",)),
    Rule(("dead_relu",), "line", ("dead_relu",)),
    Rule(("dead_relu",), "graph", ("dead_relu",)),
    Rule(
        ("double_softmax", "double_sigmoid", "missing_log", "softmax_axis"), "always",
        ("vanishing_gradient", "saturation", "vanished", "update_ratio"),
    ),
    Rule(("softmax_axis",), "line", ("nan",)),
    Rule(("softmax_axis", "precision_lost"), "graph", ("nan",)),
    Rule(("lr_vanished", "clip_order", "exploding_gradient"), "always", ("clipped_away",)),
    Rule(("lr_vanished", "zero_grad", "step_order", "clipped_away"), "always", ("lost_update", "update_ratio")),
    Rule(("not_registered", "stale_optimizer"), "always", ("not_in_optimizer",)),
    Rule(("not_registered", "never_used", "frozen"), "name", ("missing", "not_in_optimizer", "never_used")),
    Rule(("missing",), "always", ("vanished",)),
    Rule(("missing",), "line", ("raised",)),
    Rule(("missing",), "name", ("lost_update", "not_in_optimizer", "update_ratio")),
    Rule(("state_not_detached", "graph_kept", "overwritten", "broadcast"), "always", ("raised",)),
    Rule(("frozen",), "after", ("raised",)),
    Rule(("state_not_detached",), "always", ("graph_kept",)),
    Rule(("precision_lost",), "always", ("constant_data", "unnormalised_inputs", "saturation", "dead_relu")),
    Rule(_LEARNING, "always", ("loss_not_falling",)),
)  # fmt: skip
"""Rules nearer to the cause stand first."""


def arranged(graph: Graph, findings: Sequence[Finding]) -> list[Finding]:
    """Findings in the order of the log, each with what came of it beneath it and not beside it."""
    ordered = sorted(findings, key=lambda each: each.row)
    above: dict[int, int] = {}
    for place in range(len(ordered)):
        cause = _cause(graph, ordered, place, above)
        if cause is not None:
            above[place] = cause
    beneath: dict[int, list[Finding]] = {}
    for place, each in enumerate(ordered):
        root = _root(above, place)
        if root != place:
            beneath.setdefault(root, []).append(each)
    return [
        replace(each, consequences=tuple(beneath.get(place, ())))
        for place, each in enumerate(ordered)
        if place not in above
    ]


def _root(above: Mapping[int, int], place: int) -> int:
    while place in above:
        place = above[place]
    return place


def _cause(graph: Graph, ordered: Sequence[Finding], place: int, above: Mapping[int, int]) -> int | None:
    """The finding that explains another, and is not explained by it: of the first rule that holds, the earliest."""
    effect = ordered[place]
    for rule in RULES:
        if effect.kind in rule.effects:
            for other, cause in enumerate(ordered):
                if cause.kind not in rule.causes or _root(above, other) == place:
                    continue
                if LINKS[rule.link](graph, cause, effect):
                    return other
    return None


def _after(_: Graph, cause: Finding, effect: Finding) -> bool:
    return cause.row <= effect.row


def _leads(graph: Graph, cause: Finding, effect: Finding) -> bool:
    if cause.row >= effect.row:
        return False
    carriers = _Carriers(graph, cause.row, effect.row)
    return walk.nearest(effect.row, partial(_sources, graph, cause.row), carriers) is not None


def _sources(graph: Graph, oldest: int, row: int) -> Iterator[int]:
    """What a row was computed from; of rows no younger than another one, nothing."""
    if row <= oldest:
        return iter(())
    event = graph.index.event(row)
    named = [source for source, _ in event.inputs]
    backward = [event.forward] if event.kind in (Kind.GRAD, Kind.ACCUMULATE) else []
    return (source for source in (*named, *backward) if source < row and graph.log.holds(source))


class _Carriers:
    """The rows that carry on what a row holds: itself and, if an optimizer makes a step in time, what is trained."""

    def __init__(self, graph: Graph, row: int, end: int) -> None:
        self._graph = graph
        self._row = row
        steps = graph.index.marks(Kind.STEP)
        self._has_stepped = bool(((steps > row) & (steps < end)).any())

    def __contains__(self, row: object) -> bool:
        return row == self._row or (self._has_stepped and isinstance(row, int) and self._carries(row))

    def _carries(self, row: int) -> bool:
        return is_trained(self._graph, self._graph.index.event(row))


def _overflows(_: Graph, cause: Finding, effect: Finding) -> bool:
    return cause.row <= effect.row and _has_grown(effect)


def _has_grown(found: Finding) -> bool:
    largest = max(found.evidence.get(name, 0) for name in ("largest magnitude of its inputs", BEFORE))
    return found.cause.startswith("overflow") or largest > _HUGE


_HUGE: Final = 1e4
"""The largest number of half precision is not far above; what ordinary training computes lies far below."""


def _loses(_: Graph, cause: Finding, effect: Finding) -> bool:
    return not isfinite(effect.evidence.get("late loss to early loss", 0)) and not _has_grown(cause)


def _share_a_name(_: Graph, cause: Finding, effect: Finding) -> bool:
    return not set(cause.names).isdisjoint(effect.names)


def _on_one_line(_: Graph, cause: Finding, effect: Finding) -> bool:
    return cause.file != "" and (cause.file, cause.line) == (effect.file, effect.line) and cause is not effect


LINKS: Final[dict[Link, Callable[[Graph, Finding, Finding], bool]]] = {
    "always": lambda graph, cause, effect: True,
    "after": _after,
    "graph": _leads,
    "overflow": _overflows,
    "lost": _loses,
    "name": _share_a_name,
    "line": _on_one_line,
}
