"""Which vertices of each side agree with what belongs to them on the other, as far as rounding goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.compare.alignment import NONE, Alignment, Run
from graphscope.compare.anchors import LOOSE, TIGHT
from graphscope.compare.calls import Call, facts
from graphscope.compare.deviations import Deviations
from graphscope.compare.errors import MARGIN
from graphscope.compare.kept_states import UPDATING, leave_another_state
from graphscope.compare.parameter_parts import holder
from graphscope.compare.rounding import Allowed, Deviation, agree, deviation, roundoff, statistics_agree
from graphscope.compare.updates import carried, made_by
from graphscope.compare.vocabulary import OVERWRITING, SHAPED
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.faults import EMPTY

if TYPE_CHECKING:
    from graphscope.compare.flow import Flow
    from graphscope.compare.parameter_parts import Shared

ALONE: Final = 0
"""Nothing of the other side belongs to it."""
AGREES: Final = 1
DIFFERS: Final = 2
_UNLIKE: Final = frozenset(
    {"sum", "mean", "max", "min", "amax", "amin", "prod", "relu", "gelu", "silu", "tanh", "sigmoid", "softmax",
     "log_softmax", "leaky_relu", "elu", "mse_loss", "l1_loss", "smooth_l1_loss", "layer_norm", "rms_norm"}
)  # fmt: skip
"""Ops of which none makes what another does."""
_ROUNDINGS: Final = 512
"""So many units of roundoff are what a program makes of its result where all that goes in is the same."""
_RUNNING: Final = 256
"""So many units of roundoff are what earlier steps make of what they sum up, as the running mean of a norm."""
_WRITES: Final = 64
"""So many parts of an empty tensor are followed, as they are written one by one."""
_EQUAL: Final = Deviation(1, 1.0, 0.0, 0.0)


class Judgement:
    """Of each vertex of both sides whether it agrees, and how far off it is.

    The vertices are judged in the order of the log, so that how far their inputs are apart is known.
    """

    def __init__(self, alignment: Alignment, tolerance: Allowed | None = None, parts: Sequence[Shared] = ()) -> None:
        self._tolerance = tolerance
        self.runs = alignment.a, alignment.b
        self.alignment = alignment
        self.states = tuple(np.full(len(run.flow), ALONE, np.uint8) for run in self.runs)
        self._deviations = Deviations(*self.runs)
        self._found = self._deviations.found
        self._judge_parts(parts)
        self._judge_all()

    def likely(self, which: int, vertex: int) -> float:
        """How far off a vertex is likely to be, as a part of its size."""
        found = self._found[which][vertex]
        return 0.0 if found is None else found.relative

    def _judge_parts(self, parts: Sequence[Shared]) -> None:
        """Of parameters that are parts of others, in one run alone, how far the last updates left them apart."""
        a, b = self.runs
        apart: dict[tuple[int, int], list[Deviation | None]] = {}
        for each in parts:
            one, other = holder(a.flow, each.a), holder(b.flow, each.b)
            if one is not None and other is not None and NONE == a.mates[one] == b.mates[other]:
                found = carried(a.flow, one, b.flow, other, (each.cut_a, each.cut_b))
                for key in ((0, one), (1, other)):
                    apart.setdefault(key, []).append(found)
        for (which, vertex), deviations in apart.items():
            if None not in deviations:
                self.states[which][vertex] = AGREES
                self._found[which][vertex] = max((each for each in deviations if each), key=lambda each: each.relative)

    @property
    def largest(self) -> float:
        """How far those that agree are apart at the most, as a part of the largest element: what is computed forward,
        as a gradient may be nothing but rounding.
        """
        run, found = self.runs[0], self._found[0]
        scales = run.prints.scales
        own = ~run.flow.is_backward & (np.arange(len(run.flow)) >= run.flow.sources)
        same = np.flatnonzero(own & (self.states[0] == AGREES) & (run.mates != NONE)).tolist()
        known = ((found[each], float(scales[each])) for each in same)
        return max((each.largest / scale for each, scale in known if each is not None and scale > 0), default=0.0)

    def _judge_all(self) -> None:
        a, b = self.runs
        done = 0
        for vertex in range(len(a.flow)):
            mate = a.counterpart(vertex)
            while done <= mate:
                self._deviations.arrive(1, done)
                done += 1
            self._deviations.arrive(0, vertex)
            if mate != NONE:
                self._judge(vertex, mate, a.mates[vertex] != NONE)
        for vertex in range(done, len(b.flow)):
            self._deviations.arrive(1, vertex)
        for vertex in np.flatnonzero((b.mates == NONE) & (b.echoes != NONE)).tolist():
            self._judge(int(b.echoes[vertex]), vertex, False, echo=1)

    def _judge(self, one: int, other: int, mutual: bool, echo: int = 0) -> None:
        found = self._deviation(one, other)
        state = AGREES if found is not None else DIFFERS
        for which, vertex in enumerate((one, other)):
            if mutual or (state == AGREES and which == echo):
                self.states[which][vertex] = state
                self._found[which][vertex] = found or self._found[which][vertex]

    def _deviation(self, one: int, other: int) -> Deviation | None:
        """How far apart two vertices are that are the same up to rounding; None where they are not the same."""
        a, b = self.runs
        if _is_overwritten(a, one) and _is_overwritten(b, other):
            return _EQUAL
        op = a.flow.ops[one]
        if op in UPDATING and op == b.flow.ops[other] and leave_another_state(a.flow.node(one), b.flow.node(other)):
            return None
        for which, more in enumerate((self._one_more(0, one, other), self._one_more(1, other, one))):
            if more is not None:
                self.states[which][more] = AGREES  # that it is used is what differs
                return None
        mine, its = a.flow.value(one), b.flow.value(other)
        if mine is None or its is None:
            return self._of_statistics(one, other)
        in_any_order = a.mates[one] != other or bool(a.by_value[one])
        found = deviation(mine, its) if mine.shape == its.shape and _numeric(mine, its) else None
        pair: tuple[np.ndarray, np.ndarray] | None = (mine, its)
        if found is None or (in_any_order and found.largest > LOOSE * float(a.prints.scales[one])):
            pair = self.alignment.values(one, other, LOOSE if in_any_order else TIGHT)
            found = None if pair is None or not _numeric(*pair) else deviation(*pair)
        if found is not None and not found.largest:
            return found
        if found and pair and any(agree(*pair, each, found) for each in self._allowed(one, other)):
            return found
        return carried(a.flow, one, b.flow, other) if self._are_given(one, other) else None

    def _one_more(self, which: int, one: int, other: int) -> int | None:
        """The parameter that one of two calls of an op is given and the other run has not, as a bias: it may be too
        small to be seen in what comes out.
        """
        run, rest = self.runs[which], self.runs[1 - which].flow
        flow = run.flow
        if flow.kinds[one] != Kind.OP or flow.is_backward[one] or flow.ops[one] != rest.ops[other]:
            return None
        sources = flow.inputs[one]
        if len(sources) != len(rest.inputs[other]) + 1:
            return None
        more = [each for each in sources if run.counterpart(each) == NONE]
        others = [run.counterpart(each) for each in sources if each not in more]
        if len(more) != 1 or others != [*rest.inputs[other]] or not run.prints.scales[more[0]]:
            return None
        is_trained = more[0] in flow.gathered or flow.flags[more[0]] & int(Flag.PARAMETER)
        return more[0] if is_trained else None

    def _are_given(self, one: int, other: int) -> bool:
        """Whether earlier steps have made both what they are, and nobody says how far apart they may be."""
        a, b = self.runs
        return self._tolerance is None and bool(a.flow.is_given[one] and b.flow.is_given[other])

    def _of_statistics(self, one: int, other: int) -> Deviation | None:
        a, b = self.runs
        if not (a.prints.known[one] and b.prints.known[other]):
            return None if self._is_told_differently(one, other) else _EQUAL
        if a.flow.counts[one] != b.flow.counts[other]:
            return None
        if DIFFERS in self.states[0][a.flow.inputs[one]] or DIFFERS in self.states[1][b.flow.inputs[other]]:
            return None  # statistics would not show it
        statistics = a.prints.summary(one), b.prints.summary(other)
        allowed = self._allowed(one, other)
        are_made = self._are_given(one, other) and not (made_by(a.flow, one) or made_by(b.flow, other))
        if not any(statistics_agree(*statistics, each, are_independent=are_made) for each in allowed):
            return None
        apart = float(np.abs(a.prints.features[one] - b.prints.features[other]).max())
        likely = max(apart, roundoff(a.flow.dtype(one), b.flow.dtype(other)) * float(a.prints.sizes[one]))
        return Deviation(int(a.flow.counts[one]), float(a.prints.sizes[one]), MARGIN * likely, likely)

    def _is_told_differently(self, one: int, other: int) -> bool:
        """Whether two calls whose results were not kept were given the same tensors, and can't make the same."""
        a, b = self.runs
        nodes = a.flow.node(one), b.flow.node(other)
        if any(node.kind != "op" or node.graph_pass != "forward" for node in nodes):
            return False
        if [a.counterpart(each) for each in a.flow.inputs[one]] != [*b.flow.inputs[other]]:
            return False
        if nodes[0].op == nodes[1].op:
            return any(fact.name not in ("shape", "dtype") for fact in facts(Call(nodes[0]), Call(nodes[1])))
        return all(node.op in _UNLIKE for node in nodes)

    def _allowed(self, one: int, other: int) -> Iterator[Allowed]:
        """What rounding may do on the way of either side; what a person allows in place of that."""
        if self._tolerance is not None:
            yield self._tolerance
            return
        own = [run.flow.dtype(vertex) for run, vertex in zip(self.runs, (one, other), strict=True)]
        coarsest = self._deviations.dtypes
        if own[0] == own[1]:  # what both do in a coarse dtype is as coarse for both
            coarsest[0][one] = coarsest[1][other] = own[0]
        dtypes = coarsest[0][one], coarsest[1][other]
        for which, (run, vertex) in enumerate(zip(self.runs, (one, other), strict=True)):
            if run.flow.is_given[vertex]:
                unit = (_RUNNING if _is_told_again(run, vertex) else 4) * roundoff(*dtypes)
                yield Allowed(unit * float(run.prints.scales[vertex]), unit, unit)
            else:
                found = self._deviations.allowed(which, vertex, *dtypes)
                yield self._narrowed(which, vertex, found) if vertex in run.flow.ends else found

    def _narrowed(self, which: int, end: int, found: Allowed) -> Allowed:
        """What is allowed of a result: no more than what is measured on the way to it and a program's rounding make.

        What is likely of a long way without counterparts is no measure of that.
        """
        measured, size, unit = self._behind(which, end)
        if not size:
            return found
        most = (_ROUNDINGS * unit + MARGIN * measured) * size
        return Allowed(np.minimum(found.absolute + found.relative * size, most), 0.0, found.slope, found.flips)

    def _behind(self, which: int, end: int) -> tuple[float, float, float]:
        """How far off the values are that an end is made of and that agree, the size of those that it sums, and the
        roundoff of the coarsest on the way.
        """
        run, states = self.runs[which], self.states[which]
        measured, size = 0.0, float(run.prints.sizes[end])
        unit = roundoff(run.flow.dtype(end))
        border, seen = [end], {end}
        while border:
            vertex = border.pop()
            for source in run.flow.inputs[vertex]:
                if not run.flow.is_floating[source]:
                    continue
                if run.flow.counts[vertex] == 1:
                    size = max(size, float(run.prints.sizes[source]))
                if source in seen:
                    continue
                seen.add(source)
                unit = max(unit, roundoff(run.flow.dtype(source)))
                if states[source] != AGREES:
                    border.append(source)
                elif (each := self._found[which][source]) is not None:
                    measured = max(measured, each.relative)
        return measured, size, unit


def _numeric(*values: np.ndarray) -> bool:
    return all(value.dtype.kind in "fciub" for value in values)


def _is_overwritten(run: Run, vertex: int) -> bool:
    """Whether it is memory as it was found, or as good as that: all of it is written before it is read, if it is.

    What is written part by part may hold some of that memory until the last part is written: it is read behind that.
    """
    flow = run.flow
    if _is_made_empty(flow, vertex):
        return all(_writes_into(flow, user, vertex) or flow.ops[user] in SHAPED for user in flow.users[vertex])
    users = [flow.ops[user] for user in flow.users[vertex]]
    is_arbitrary = flow.kinds[vertex] == Kind.LEAF and bool(users or flow.ops[vertex] in EMPTY)
    return is_arbitrary and (OVERWRITING | SHAPED).issuperset(users)


def _is_made_empty(flow: Flow, vertex: int) -> bool:
    """Whether it was made as memory that was found, and nothing was done since but to write into it."""
    at: int | None = vertex
    for _ in range(_WRITES):
        if at is None or flow.is_backward[at]:
            return False
        if flow.ops[at] in EMPTY:
            return True
        at = _base(flow, at)
    return False


def _writes_into(flow: Flow, vertex: int, base: int) -> bool:
    return _base(flow, vertex) == base and [*flow.inputs[vertex]].count(base) == 1


def _base(flow: Flow, vertex: int) -> int | None:
    """What an op writes into in place, or is to be written into by a view; None of one that is neither."""
    is_writing = flow.kinds[vertex] == Kind.OP and flow.flags[vertex] & int(Flag.IN_PLACE | Flag.VIEW)
    return next(iter(flow.inputs[vertex]), None) if is_writing else None


def _is_told_again(run: Run, vertex: int) -> bool:
    """Whether a leaf has been written into since a log first told of it."""
    flow = run.flow
    return bool(flow.kinds[vertex] == Kind.LEAF and flow.tensors[vertex] < flow.rows[vertex])
