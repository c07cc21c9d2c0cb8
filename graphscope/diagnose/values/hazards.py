"""What can make an op give NaN or Inf: the parts that the tables of forward and backward are made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from graphscope.diagnose.values.numbers import LARGEST, NOWHERE, UNKNOWN, Extent, Numbers


class Birth(NamedTuple):
    """How a value that is not finite came into being."""

    cause: str
    """In a word or two: `log of zero`, `0/0`, `overflow`."""
    why: str
    cure: str


@dataclass(frozen=True)
class Given:
    """What an op or its rule was given, and what it made."""

    op: str
    operands: Sequence[Numbers]
    out: Numbers
    """What the op gave."""
    made: Numbers
    """What is not finite: `out`, or a gradient that the rule made."""
    g: Numbers = field(default_factory=Numbers)
    """The gradient that its rule was given."""
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def x(self) -> Numbers:
        """Its first operand."""
        return self.operands[0] if self.operands else Numbers()

    @property
    def y(self) -> Numbers:
        """Its second operand."""
        return self.operands[1] if len(self.operands) > 1 else Numbers()

    @property
    def limit(self) -> float:
        """The largest number of the dtype of what it made."""
        return LARGEST.get(self.made.dtype, LARGEST["float64"])

    @property
    def terms(self) -> int:
        """How many numbers of the first operand went into one of the result."""
        return max(self.x.count, 1) // max(self.made.count, 1) or 1

    def exceeded(self, bound: float) -> Extent:
        """Whether what is no larger than a bound may have been too large for the dtype."""
        return NOWHERE if bound * _SLACK <= self.limit else UNKNOWN

    def infinite(self) -> Extent:
        """Whether an operand is infinite."""
        known = [each.infinite().some for each in self.operands]
        return UNKNOWN if None in known and True not in known else Extent(True in known)

    @property
    def sizes(self) -> str:
        """`largest magnitudes 100 and 300; float16 reaches 6.55e+04`."""
        every = dict.fromkeys(each.magnitude for each in (*self.operands, self.g) if each.magnitude == each.magnitude)
        known = [size for size in every if size in sorted(every)[-_TOLD:]]
        told = " and ".join(f"{size:.4g}" for size in known)
        what = "" if not known else f"largest magnitude{'s' if len(known) > 1 else ''} {told}; "
        return f"{what}{self.made.dtype} reaches {self.limit:.4g}"


_SLACK: Final = 1.01
_TOLD: Final = 3
"""So many magnitudes are told: an op of a whole sequence takes a dozen numbers."""


class Hazard(NamedTuple):
    """One way in which an op can come to NaN or Inf."""

    gives: Literal["inf", "nan", "any"]
    cause: str
    why: str
    """`{op}` in it stands for the op."""
    cure: str
    where: Callable[[Given], Extent]
    """Whether, and where, what it was given is of that kind."""


def birth(hazards: Sequence[Hazard], given: Given) -> Birth | None:
    """Which of them it was: those that are certain, else those that the log leaves open; None where it is none."""
    chosen = [group for kinds in _kinds(given.made) if (group := _chosen(hazards, given, kinds))]
    if not chosen:
        return None
    told = [group for group in chosen if any(hazard.cause != HANDED_ON for hazard, _ in group)] or chosen[:1]
    causes = [_joined(group, [hazard.cause for hazard, _ in group]) for group in told]
    whys = [_joined(group, [_why(*found, given) for found in group]) for group in told]
    cures = dict.fromkeys(hazard.cure for group in told for hazard, _ in group)
    cause, why = (" and ".join(dict.fromkeys(each)) for each in (causes, whys))
    doubt = " (the log can't tell which)" if any(len(group) > 1 and _is_open(group) for group in told) else ""
    return Birth(cause, why + doubt, filled("; ".join(cures), given))


Group = Sequence[tuple[Hazard, Extent]]
"""Hazards that are all certain, or all left open."""


def _is_open(group: Group) -> bool:
    return any(extent.some is None for _, extent in group)


def _joined(group: Group, texts: Sequence[str]) -> str:
    return (" or " if _is_open(group) else " and ").join(dict.fromkeys(texts))


def filled(cure: str, given: Given) -> str:
    """A cure with the name of the op, numbers that its dtype does not round away, and a dtype that reaches farther."""
    tiny, margin = _SMALL.get(given.made.dtype, ("1e-8", "1e-6"))
    reach = math.floor(math.log2(given.limit) if given.op == "exp2" else math.log(given.limit))
    words = {"op": given.op, "tiny": tiny, "margin": margin, "reach": reach, "wider": _WIDER.get(given.made.dtype, "")}
    return cure.format(**words)


_SMALL: Final = {"float16": ("1e-4", "1e-3"), "bfloat16": ("1e-8", "1e-2")}
_WIDER: Final = {
    "float16": ", or take bfloat16, which reaches as far as float32",
    **dict.fromkeys(("bfloat16", "float32"), ", or take float64, which reaches farther"),
}


HANDED_ON: Final = "of an infinity"
"""The cause of what an op hands on: where something else came to be beside it, that is to be told."""


def _kinds(made: Numbers) -> list[list[str]]:
    """What it made, each on its own: both at once where that is not known."""
    found = [[name] for name, extent in (("nan", made.nan()), ("inf", made.infinite())) if extent.some]
    return found or [["nan", "inf"]]


def _chosen(hazards: Sequence[Hazard], given: Given, kinds: list[str]) -> list[tuple[Hazard, Extent]]:
    with np.errstate(all="ignore"):
        found = [(each, each.where(given)) for each in hazards if each.gives in ("any", *kinds)]
    certain = [(hazard, extent) for hazard, extent in found if extent.some]
    return certain or [(hazard, extent) for hazard, extent in found if extent.some is None]


def _why(hazard: Hazard, extent: Extent, given: Given) -> str:
    details = [str(extent) if extent.some else "", given.sizes if hazard.cause == "overflow" else ""]
    told = "; ".join(filter(None, details))
    return hazard.why.replace("{op}", given.op) + (f" ({told})" if told else "")


def overflow(why: str, bound: Callable[[Given], float], cure: str = "") -> Hazard:
    """Numbers that are too large for their dtype: as large as a bound at most."""
    return Hazard("any", "overflow", why, cure or TOO_LARGE, lambda v: v.exceeded(_number(bound, v)))


def _number(bound: Callable[[Given], float], given: Given) -> float:
    with np.errstate(all="ignore"):
        return float(bound(given))  # NaN, which exceeds, where it is not known


TOO_LARGE: Final = (
    "make the numbers smaller (normalise inputs, clip gradients, lower the learning rate, divide ahead of a product "
    "and not after it){wider}"
)
SAFE_LOG: Final = "keep what {op} is given above 0: clamp_min({tiny}) before it, or log_softmax instead of log(softmax)"
SAFE_LOG1P: Final = "keep what {op} is given above -1: clamp_min(-1 + {margin}) before it"
SAFE_DIV: Final = "keep the divisor away from 0: add {tiny}, or clamp_min({tiny}), before it divides"
SAFE_MASK: Final = "let a mask leave at least one element in each row, or hide with torch.finfo(x.dtype).min"
SAFE_INFINITY: Final = "don't compute with an infinity: masked_fill or where put it where it is meant"
SAFE_FILL: Final = "put a finite number there, as 0 is: of all that computes with -inf, only softmax makes 0 of it"
SAFE_DIFFERENCE: Final = "take infinities out before they are subtracted: torch.where, clamp, or torch.logsumexp"
SAFE_ROOT: Final = "keep what {op} is given above 0: add {tiny}, or clamp_min({tiny}) where it may be negative"
SAFE_COUNT: Final = "leave such a batch out (if mask.any():), or divide a sum by count.clamp_min(1)"
SAFE_SPREAD: Final = "one element has no spread: correction=0 (unbiased=False), or drop_last=True for the last batch"
SAFE_DATA: Final = "clean the data: drop such rows, or torch.nan_to_num"
SAFE_BASE: Final = "keep the base above 0: x.clamp_min({margin}) ** p"
SAFE_ARC: Final = "clamp what {op} is given: x.clamp(-1 + {margin}, 1 - {margin})"
SAFE_SHARE: Final = "clamp what {op} is given: x.clamp({margin}, 1 - {margin})"
