"""Settings of torch that change numbers: told as they are at the start, and again where a program sets one."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import torch

from graphscope.adapters.kit.imported import importers
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.eventlog.training_marks import TrainingMarks

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

SETTINGS: Final[dict[str, Callable[[], Any]]] = {
    "float32_matmul_precision": torch.get_float32_matmul_precision,
    "deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
    "default_dtype": lambda: str(torch.get_default_dtype()).removeprefix("torch."),
    "num_threads": torch.get_num_threads,
}
"""By name, what tells each setting."""

_SETTERS: Final = (
    "set_float32_matmul_precision", "use_deterministic_algorithms", "set_default_dtype", "set_num_threads",
)  # fmt: skip
"""The functions of torch that set them."""


class Settings:
    """Follows them, at no cost for an op: the functions that set them are what is replaced."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._marks = TrainingMarks(session.writer)
        self._told = _current()
        self._marks.describe("settings", 0, self._told)

    def entries(self) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
        """What is to be replaced."""
        originals = {name: getattr(torch, name) for name in _SETTERS}
        followed = {name: self._followed(original) for name, original in originals.items()}
        for module, name in importers(originals):
            yield module, name, followed[name]

    def _followed(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def setter(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            self._set(sys._getframe(1))
            return result

        return setter

    @guarded
    def _set(self, frame: FrameType) -> None:
        current = _current()
        if current != self._told and not self.session.ended and not self.session.places.here.busy:
            self._told = current
            self._marks.append("setting", 0, self.session.frames.user(frame), tuple(current.values()), current)


def _current() -> dict[str, Any]:
    return {name: ask() for name, ask in SETTINGS.items()}
