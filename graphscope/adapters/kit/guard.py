"""Errors of the recorder: each is reported and ends the recording, and the program goes on as if it were not there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from graphscope.eventlog.interruptions import own

_Function = TypeVar("_Function", bound=Callable[..., Any])


def guarded(otherwise: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """A method of something that has a `session` and `is_recording`, which raises nothing of our own making.

    Args:
        otherwise: What it returns of the same arguments where nothing is recorded.
    """

    def guard(method: _Function) -> _Function:
        @functools.wraps(method)
        def safely(self: Any, *args: Any, **kwargs: Any) -> Any:
            if self.is_recording:
                try:
                    return method(self, *args, **kwargs)
                except RecursionError:  # the program goes to the end of the stack, and has news of it by itself
                    pass
                except own(Exception) as error:
                    self.session.give_up(error)
            return otherwise(*args, **kwargs)

        return safely  # type: ignore[return-value]

    return guard
