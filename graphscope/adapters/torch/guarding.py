"""What goes wrong in the recorder is told and ends the recording; the program goes on as if it were not there."""

from __future__ import annotations

import functools
import traceback
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])


def guarded(method: _Function) -> _Function:
    """A method of something that has a `session`, which raises nothing of our own making."""

    @functools.wraps(method)
    def safely(self: Any, *args: Any) -> Any:
        try:
            return method(self, *args)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is ours and not the program's
            give_up(self.session, error)
            return None

    return safely  # type: ignore[return-value]


def give_up(session: Any, error: Exception) -> None:
    """Record nothing of torch any more, and say why."""
    if session.ended:
        return
    session.ended = True
    place = traceback.extract_tb(error.__traceback__)[-1]
    warnings.warn(
        f"graphscope: recording PyTorch ended at {place.filename}:{place.lineno}: {type(error).__name__}: {error}; "
        "the program goes on unrecorded",
        RuntimeWarning,
        stacklevel=3,
    )
