"""Errors of the recorder: each is reported and ends the recording, and the program goes on as if it were not there.

A tensor that does not answer as others do ends nothing: what is done with it is not recorded, which is reported once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from graphscope.adapters.kit.notices import say
from graphscope.adapters.torch.tensor_properties import special_class
from graphscope.eventlog.interruptions import own

_Function = TypeVar("_Function", bound=Callable[..., Any])
_no_function = torch._C.DisableTorchFunction


class Evaluation:
    """Whether the compiler of torch may look at what we call."""

    turn: Callable[[Any], Any] | None = None
    """Where its regions are kept: sets who evaluates frames in this thread (None: Python), and tells who did."""


def guarded(method: _Function) -> _Function:
    """A method of something that has a `session`, which raises nothing of our own making.

    What it asks of tensors is asked of torch, past the functions that a class or a mode of the program puts before it.
    """

    @functools.wraps(method)
    def safely(self: Any, *args: Any) -> Any:
        turn = Evaluation.turn
        before = None if turn is None else turn(None)
        try:
            with _no_function():
                return method(self, *args)
        except RecursionError:  # the program goes to the end of the stack, and has news of it by itself
            return None
        except own(Exception) as error:
            found = special_class(args)
            if found is None:
                self.session.give_up(error)
            elif found not in self.session.skipped:
                self.session.skipped.add(found)
                say(f"what is done with tensors of {found.__qualname__} is not recorded: {error}")
            return None
        finally:
            if turn is not None:
                turn(before)

    return safely  # type: ignore[return-value]
