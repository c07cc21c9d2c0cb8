"""What goes wrong in the recorder is told and ends the recording; the program goes on as if it were not there.

A tensor that does not answer as others do ends nothing: what is done with it is not recorded, which is told once.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from graphscope.adapters.torch.unusual import unusual

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
        except Exception as error:  # noqa: BLE001 - whatever it is, it is ours and not the program's
            found = unusual(args)
            if found is None:
                give_up(self.session, error)
            elif found not in self.session.skipped:
                self.session.skipped.add(found)
                say(f"what is done with tensors of {found.__qualname__} is not recorded: {error}")
            return None
        finally:
            if turn is not None:
                turn(before)

    return safely  # type: ignore[return-value]


def say(text: str) -> None:
    """Tell a person something that is not worth a warning; there may be nobody to read it."""
    with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
        sys.stderr.write(f"graphscope: {text}\n")


def give_up(session: Any, error: Exception) -> None:
    """Record nothing of torch any more, and say why."""
    if session.ended:
        return
    session.ended = True
    _warn("recording PyTorch ended", error, "the program goes on unrecorded")


def left_changed(error: Exception) -> None:
    """Say that something of torch could not be put back as it was."""
    _warn("leaving PyTorch as it was failed", error, "start the program anew where it behaves otherwise than before")


def _warn(what: str, error: Exception, then: str) -> None:
    trace = traceback.extract_tb(error.__traceback__)
    place = f" at {trace[-1].filename}:{trace[-1].lineno}" if trace else ""  # compiled code has no lines
    text = f"graphscope: {what}{place}: {type(error).__name__}: {error}; {then}"
    warnings.warn(text, RuntimeWarning, stacklevel=4)
