"""Which rank's optimizers are set up otherwise than those of the others, though they train one model together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeGuard

from graphscope.diagnose.ranks.place import Place
from graphscope.diagnose.ranks.told import Told, named, told
from graphscope.diagnose.ranks.track import Track

Setup = tuple[tuple[str, tuple[Mapping[str, Any], ...]], ...]
"""The optimizers of a rank: of each its class, and the settings of its groups of parameters."""

_HOW: Final = frozenset({"foreach", "fused", "capturable", "differentiable"})
"""Settings that say how it is computed, and not what."""

_SPOKEN: Final = {"lr": "learning rate", "weight_decay": "weight decay"}


class _Own(NamedTuple):
    """How a rank is set up."""

    name: str
    log: Path
    row: int
    """Its first update."""
    place: Place
    setup: Setup


class Settings:
    """Keeps of each rank how its optimizers are set up."""

    def __init__(self) -> None:
        self._ranks: list[_Own] = []
        self._first: Track | None = None
        self._are_of_one_model = True
        self._train_together = False

    def add(self, track: Track) -> None:
        """Look at another rank."""
        first = self._first = self._first or track
        self._are_of_one_model &= track.counts == first.counts
        self._train_together |= track.trains_with_others
        if self._are_of_one_model and track.setup:
            row = int(track.changes["row"][0].min()) if len(track.changes) else track.first
            place = track.optimizer if track.optimizer[0] else track.stepped
            self._ranks.append(_Own(track.name, track.path, row, place, track.setup))

    def told(self) -> Iterator[Told]:
        """The ranks that are set up otherwise than most; those of a search, which tell results, are let be."""
        if not self._are_of_one_model or not self._train_together or not self._ranks:
            return
        texts = [repr(_compared(each.setup)) for each in self._ranks]
        usual, _ = Counter(texts).most_common(1)[0]
        example = self._ranks[texts.index(usual)]
        odd = [each for each, text in zip(self._ranks, texts, strict=True) if text != usual]
        if not odd:
            return
        what, numbers = _difference(odd[0].setup, example.setup)
        alike = [each.name for each in odd if _difference(each.setup, example.setup)[0] == what]
        takes, its = ("takes", "its") if len(alike) == 1 else ("take", "their")
        verdict = f"{named(alike)} {takes} other steps than the others: {its} {what}"
        yield told(
            odd[0].log, odd[0].row, odd[0].place, odd[0].name, "other settings", verdict,
            "give the optimizers of all ranks the same settings", {"ranks": len(self._ranks), **numbers},
        )  # fmt: skip


def _compared(setup: Setup) -> list[Any]:
    return [(kind, [sorted((k, v) for k, v in group.items() if k not in _HOW) for group in groups])
            for kind, groups in setup]  # fmt: skip


def _difference(odd: Setup, usual: Setup) -> tuple[str, dict[str, float]]:
    """Where two ranks' optimizers first differ, said of one that is the odd one's, and the numbers."""
    if [kind for kind, _ in odd] != [kind for kind, _ in usual]:
        return f"optimizer is {_kinds(odd)}, not {_kinds(usual)}", {}
    for (kind, own), (_, others) in zip(odd, usual, strict=True):
        if len(own) != len(others):
            return f"{kind} has {len(own)} groups of parameters, not {len(others)}", {}
        for here, there in zip(own, others, strict=True):
            for name in (each for each in {**here, **there} if each not in _HOW):
                if here.get(name) != there.get(name):
                    both = {"there": here.get(name), "elsewhere": there.get(name)}
                    numbers = {f"{name} {where}": float(value) for where, value in both.items() if _is_number(value)}
                    words = _SPOKEN.get(name, name)
                    return f"{words} is {_said(here.get(name))}, not {_said(there.get(name))}", numbers
    return "settings are others", {}


def _kinds(setup: Setup) -> str:
    return " and ".join(kind for kind, _ in setup)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _said(value: Any) -> str:
    return f"{value:.6g}" if _is_number(value) else "not set" if value is None else str(value)
