"""Two updates of one parameter: whether they did the same, up to rounding, with the same gradient."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from graphscope.compare.rounding import Allowed, agree, roundoff
from graphscope.compare.updates.update import Update, ahead_of

_ALIKE: Final = 1e-3
"""Elements of a gradient that differ by more than this part of them say nothing of the rule that uses them."""

_KEPT: Final = 3
"""So many gradients are looked at: the last ones of what momentum keeps."""

_BY_HAND: Final = 1e-5
"""Updates of which one is by hand are the same if they differ by less, as a part of them."""

_FEW: Final = 0.02
"""What rounding alone can't do is done to more than this part of the elements."""

_NORMS: Final = 1e-3
"""Norms that differ by less are the same, where values were not kept."""


@dataclass(frozen=True)
class Change:
    """What a step did to one parameter in two runs; None where one of them did nothing to it."""

    a: int
    """The parameter, by the number of its tensor."""
    b: int
    one: Update | None
    other: Update | None

    @cached_property
    def uses_another_gradient(self) -> bool:
        """Whether what was done to the gradients behind the backward passes made them differ."""
        one, other = self.one, self.other
        if one is None or other is None:
            return False
        if not (one.is_changed or other.is_changed):
            return False
        arrived, used = (
            _spread(one.arrived, self.turned(other.arrived)),
            _spread(one.gradient, self.turned(other.gradient)),
        )
        if used is None:
            return _began_alike(one, other) is not False and _norms_apart(one, other, "gradient")
        return used > 8 * (arrived or 0.0) + 64 * self.roundoff

    @cached_property
    def is_apart(self) -> bool:
        """Whether the parameter differs by more behind the step than rounding explains.

        What an optimizer was handed counts as well: by a scale of the gradients Adam moves no parameter.
        """
        one, other = self.one, self.other
        if one is None or other is None:
            return one is not other and self._moves
        changes = one.change, self.turned(other.change)
        are_told = bool(one.rule and other.rule)
        is_handed_another = are_told and one.is_seen and other.is_seen and self.uses_another_gradient
        if changes[0] is None or changes[1] is None or one.before is None:
            is_told_apart = are_told and (one.rule != other.rule or one.settings != other.settings)
            return is_told_apart or is_handed_another or _is_apart_by_norms(one, other)
        before = self.turned(other.before)
        return is_handed_another or (
            _share_apart(one, changes[0], changes[1], before, self._noise, self.roundoff, self._closeness) > _FEW
        )

    def is_beyond(self, tolerance: Allowed) -> bool:
        """Whether the parameter differs by more behind the step than a person allows."""
        one, other = self.one, self.other
        if one is None or other is None:
            moved = one or other
            known = (None, None) if moved is None else (moved.before, moved.after)
        else:
            known = one.after, self.turned(other.after)
        if known[0] is None or known[1] is None:
            return self.is_apart
        return not agree(known[0], known[1], tolerance)

    @property
    def is_unseen(self) -> bool:
        """Whether the gradient that either used is not known."""
        return any(each is not None and each.gradient is None for each in (self.one, self.other))

    @property
    def roundoff(self) -> float:
        """The unit roundoff of the coarser of the two."""
        return roundoff(*(each.node.dtype for each in (self.one, self.other) if each is not None)) or 2.0**-24

    @property
    def _moves(self) -> bool:
        done = self.one or self.other
        return done is not None and bool(done.told["update"] != 0)

    @property
    def _noise(self) -> np.ndarray | None:
        """Which part of each element of the gradients is rounding, those of earlier steps that momentum keeps among
        them; None where gradients are not known.
        """
        apart, size = np.zeros(()), np.zeros(())
        one, other = self.one, self.other
        for _ in range(_KEPT):
            if one is None or other is None:
                break
            mine, its = one.arrived, self.turned(other.arrived)
            if mine is None or its is None or mine.shape != its.shape:
                return None
            with np.errstate(all="ignore"):
                apart, size = apart + np.abs(mine - its), size + np.abs(mine)
            one, other = ahead_of(one), ahead_of(other)
        with np.errstate(all="ignore"):
            return np.asarray(np.where(apart == 0, 0.0, apart / size))

    @property
    def _closeness(self) -> float:
        """Changes that differ by less, as a part of them, are the same; by hand nobody clips by `norm + 1e-6`."""
        is_told = all(each is not None and each.rule for each in (self.one, self.other))
        return 32 * self.roundoff if is_told else max(32 * self.roundoff, _BY_HAND)

    def turned(self, value: np.ndarray | None) -> np.ndarray | None:
        """An array of the second run, laid out as the first has the parameter, which may be its transpose."""
        if value is None or self.one is None or self.other is None:
            return value
        mine, theirs = self.one.before, self.other.before
        shape = self.one.shape
        if value.ndim == 2 and shape == value.shape[::-1]:
            is_turned = shape != value.shape or (mine is not None and theirs is not None and _is_nearer(mine, theirs))
            return value.T if is_turned else value
        return value.reshape(shape) if value.size == np.prod(shape, dtype=int) else None


def _is_nearer(mine: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether the transpose of an array is nearer to another than the array is."""
    return bool(np.abs(mine - theirs.T).sum() < np.abs(mine - theirs).sum())


def _share_apart(
    one: Update, change: np.ndarray, changed: np.ndarray, begin: np.ndarray | None,
    noise: np.ndarray | None, unit: float, closeness: float,
) -> float:  # fmt: skip
    """Which share of the elements moved in ways that rounding does not explain."""
    start = np.asarray(one.before, np.float64)
    size = np.abs(start)
    apart_before = np.zeros_like(size) if begin is None else np.abs(start - begin)
    relative = float(apart_before.max()) / (float(size.max()) or 1.0)
    judged = (change != 0) | (changed != 0)
    with np.errstate(all="ignore"):
        allowed = 4 * unit * size + (closeness + 16 * relative) * np.maximum(np.abs(change), np.abs(changed))
        allowed = allowed + 4 * apart_before  # what momentum keeps of gradients whose summands cancel
        if noise is not None and noise.shape == change.shape:
            judged &= noise < _ALIKE
            allowed = allowed + 8 * np.where(judged, noise, 0.0) * np.abs(change).max(initial=0.0)
        beyond = judged & ~(np.abs(change - changed) <= allowed) & ~((change != change) & (changed != changed))
    return float(beyond.sum()) / max(int(judged.sum()), 1)


def _spread(one: np.ndarray | None, other: np.ndarray | None) -> float | None:
    """The largest difference of two arrays as a part of the largest value; None where one is not known."""
    if one is None or other is None or one.shape != other.shape:
        return None
    with np.errstate(all="ignore"):
        apart = np.abs(np.where(one == other, 0, one.astype(np.float64) - other))
        scale = float(np.abs(one).max(initial=0.0))
    largest = float(np.nan_to_num(apart, nan=0.0, posinf=np.inf).max(initial=0.0))
    return largest / scale if scale else float(largest > 0)


def _began_alike(one: Update, other: Update) -> bool | None:
    """Whether the gradients that backward passes brought are as large; None where that is not known."""
    norms = [each.arrived_norm for each in (one, other)]
    return None if np.isnan(norms).any() else bool(abs(norms[0] - norms[1]) <= _NORMS * max(norms))


def _is_apart_by_norms(one: Update, other: Update) -> bool:
    apart = [_norms_apart(one, other, name) for name in ("gradient", "update")]
    return apart == [False, True] and _began_alike(one, other) is True


def _norms_apart(one: Update, other: Update, name: str) -> bool:
    mine, theirs = float(one.told[name]), float(other.told[name])
    return bool(np.isfinite(mine) and np.isfinite(theirs) and abs(mine - theirs) > _NORMS * max(mine, theirs))
