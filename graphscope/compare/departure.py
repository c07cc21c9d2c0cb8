"""Where a run parts from a baseline that was kept of an earlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.compare.baseline import Baseline, Kept, baseline_of
from graphscope.compare.difference import Fact, Parting, Side, Verdict, When, parting_data
from graphscope.compare.first_steps import leap_of
from graphscope.compare.report_lines import lines_of_parting
from graphscope.compare.rounding import PRECISION
from graphscope.diagnose.text_lines import WIDTH, Line, counted

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_UNITS: Final = 200
"""Statistics may differ by so many units of roundoff, as parts of the largest element, in the first step."""
_LARGEST: Final = 0.05
_GROWTH: Final = 4
"""In each step by so many times more than in the one before."""
_NAMES: Final = ("minimum", "maximum", "mean", "std")
_COURSE: Final = {
    "loss": "loss",
    "gradient": "norm of the gradients",
    "weight": "norm of the parameters",
    "update": "norm of the update",
    "rate": "learning rate",
    "passes": "number of backward passes",
}


@dataclass(frozen=True, repr=False)
class Departure:
    """Where a run parts from a baseline. It is true where it does."""

    baseline: Baseline
    log: Log
    verdict: Verdict
    parting: Parting | None
    matched: int
    """So many nodes were compared."""
    remarks: tuple[str, ...] = ()

    @property
    def first(self) -> Parting | None:
        """Where they part first."""
        return self.parting

    @property
    def steps(self) -> int:
        """How many steps were compared."""
        return len(self.baseline.course)

    def __bool__(self) -> bool:
        return self.verdict != "same"

    def __repr__(self) -> str:
        return "\n".join(line.text for line in self.lines())

    def lines(self, width: int | None = None) -> list[Line]:
        """All that is to be said of it, for so many columns."""
        return [*self._answer(width or WIDTH), *(Line(each, "remark") for each in self.remarks)]

    def _answer(self, width: int) -> list[Line]:
        if self.parting is not None:
            return lines_of_parting(self, self.parting, width)
        if self.verdict == "unlike":
            return [Line(f"Nothing of {self.log.path} belongs to anything of {self.baseline.path}.")]
        told = f"{counted(self.steps, 'step')}, {counted(self.matched, 'node')}"
        return [Line(f"The same as {self.baseline.path}: {told}.")]

    def data(self) -> dict[str, Any]:
        """The answer as JSON has it."""
        return {
            "a": str(self.baseline.path),
            "b": str(self.log.path),
            "same": not self,
            "verdict": self.verdict,
            "compared": "statistics",
            "steps": self.steps,
            "largest": None,
            "parting": None if self.parting is None else parting_data(self.parting),
            "others": [],
            "matched": self.matched,
            "unmatched": {"a": len(self.baseline.nodes) - self.matched, "b": 0},
            "remarks": list(self.remarks),
        }


def departure(baseline: Baseline, log: Log, rtol: float | None = None) -> Departure:
    """Where a run parts from a baseline first.

    Args:
        baseline: What was kept of an earlier run.
        log: The run.
        rtol: Statistics may differ by this part of the largest element; default: what rounding explains.
    """
    now = baseline_of(log)
    known = {each.key: each for each in now.nodes}
    pairs = [(each, known[each.key]) for each in baseline.nodes if each.key in known]
    missing = len(baseline.nodes) - len(pairs)
    remarks = (f"{missing} of the {len(baseline.nodes)} nodes of the baseline are not in the run.",) if missing else ()
    if not pairs:
        return Departure(baseline, log, "unlike" if baseline.nodes or now.nodes else "same", None, 0, remarks)
    parted = [(mine, its) for mine, its in pairs if _facts(mine, its, rtol)]
    parting = _first(baseline, now, parted, rtol) if parted else _late(baseline, now)
    return Departure(baseline, log, "same" if parting is None else "parted", parting, len(pairs), remarks)


def _first(baseline: Baseline, now: Baseline, parted: list[tuple[Kept, Kept]], rtol: float | None) -> Parting:
    """The first node that differs; or one ahead of it that the run has not, for that is why it does."""
    known = {each.key for each in now.nodes}
    mine, its = parted[0]
    ahead = next(each for each in baseline.nodes if each is mine or each.key not in known)
    if ahead is mine:
        return _parting(mine, its, _facts(mine, its, rtol), len(parted) - 1, agreed=mine is not baseline.nodes[0])
    ours = {each.key for each in baseline.nodes}
    new = (each for each in now.nodes if (each.step, each.part) == (ahead.step, ahead.part) and each.key not in ours)
    place = next(new, None)
    what = f"the run has no {ahead.op} there" + (f", but {place.op}" if place is not None else "")
    facts = () if place is None or place.op == ahead.op else (Fact("op", ahead.op, place.op),)
    other = None if place is None else _side(place)
    return Parting(ahead.part, ahead.step, _side(ahead), other, "another op", what, True, facts, None, len(parted))


def _facts(mine: Kept, its: Kept, rtol: float | None) -> tuple[Fact, ...]:
    """What differs about a node beyond rounding."""
    told = [("shape", mine.shape, its.shape), ("dtype", mine.dtype, its.dtype)]
    facts = [Fact(name, str(one), str(other)) for name, one, other in told if one != other]
    if facts or (mine.hash and mine.hash == its.hash):
        return tuple(facts)
    if mine.statistics is None or its.statistics is None:
        return (Fact("values", *(_said(each) for each in (mine, its))),) if mine.statistics != its.statistics else ()
    bound = _explained(mine.step, PRECISION.get(mine.dtype, 53)) if rtol is None else rtol
    scale = max(map(abs, mine.statistics[:2]))
    pairs = zip(_NAMES, mine.statistics, its.statistics, strict=True)
    return tuple(
        Fact(name, f"{one:.9g}", f"{other:.9g}") for name, one, other in pairs if abs(one - other) > bound * scale
    )


def _explained(step: int, bits: int) -> float:
    """By what part numbers of so many bits may differ in a step, for rounding alone."""
    return float(min(_UNITS * _GROWTH ** (step - 1) * 2.0**-bits, _LARGEST))


def _said(kept: Kept) -> str:
    return "not known, or not finite" if kept.statistics is None else "finite"


def _parting(mine: Kept, its: Kept, facts: tuple[Fact, ...], more: int, *, agreed: bool) -> Parting:
    what = f"{mine.op} {mine.name}".strip()
    sentence = f"{what} has another {facts[0].name} than in the baseline: {facts[0].b}, not {facts[0].a}"
    return Parting(
        mine.part, mine.step, _side(mine), _side(its), "baseline", sentence, agreed, facts, None, more
    )  # fmt: skip


def _side(kept: Kept) -> Side:
    return Side(0, kept.op, kept.name, kept.file, kept.line, kept.source, kept.scope, kept.shape, kept.dtype)


def _late(baseline: Baseline, now: Baseline) -> Parting | None:
    """The first step whose losses or norms leap away from those of the baseline."""
    common = min(len(baseline.course), len(now.course))
    one, other = baseline.course[:common], now.course[:common]
    place = leap_of(one, other)
    if place is None:
        return None
    with np.errstate(all="ignore"):
        apart = {name: abs(float(one[name][place] - other[name][place])) for name in _COURSE}
    bound = _explained(place + 1, PRECISION["float32"])
    name = next((each for each in _COURSE if apart[each] > bound * abs(float(one[each][place]))), "loss")
    values = float(one[name][place]), float(other[name][place])
    sentence = f"the {_COURSE[name]} of step {place + 1} is {values[1]:.6g}, and {values[0]:.6g} in the baseline"
    facts = (Fact(_COURSE[name], f"{values[0]:.9g}", f"{values[1]:.9g}"),)
    part: When = "update" if name in ("update", "rate") else "forward"
    return Parting(part, place + 1, _loss(baseline), _loss(now), "baseline", sentence, False, facts)


def _loss(baseline: Baseline) -> Side | None:
    """The last number that a forward pass made, of the last step whose nodes were kept."""
    found = [each for each in baseline.nodes if each.part == "forward" and each.shape == ()]
    return _side(found[-1]) if found else None
