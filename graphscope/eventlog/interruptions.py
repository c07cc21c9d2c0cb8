"""Exceptions that come from outside, in the middle of our code: of a signal handler (Ctrl-C, a time-out), of a trace
function, or set by another thread. They are the program's, whatever their class is: none of our clauses may take one.
"""

from __future__ import annotations

import contextlib
import sys
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FrameType, TracebackType
from typing import Final, TypeVar

from graphscope.eventlog.foreign_tensors import TENSOR_READERS

_Error = TypeVar("_Error", bound=BaseException)
_KNOWN: Final = sys.stdlib_module_names | {"graphscope", "numpy"}
"""Where the classes of errors come from that our own work may raise, beside those of frameworks."""


def is_interruption(error: BaseException) -> bool:
    """Whether an exception came from outside, in the middle of what was at work."""
    if not isinstance(error, Exception):
        return True
    trace, frame = error.__traceback__, None
    while trace is not None:
        frame = trace.tb_frame
        if _interrupts(frame):
            return True
        trace = trace.tb_next
    # Another thread sets an exception without a frame of its own.
    return frame is not None and _library(frame) in _KNOWN and not _is_known(type(error))


def own(*kinds: type[_Error]) -> tuple[type[_Error], ...]:
    """What an `except` clause of ours takes: exceptions of these kinds, unless the one at hand is an interruption."""
    error = sys.exc_info()[1]
    return () if error is None or is_interruption(error) else kinds


class forgiving(contextlib.suppress):  # noqa: N801 - as `contextlib.suppress` is written
    """Suppress exceptions of some kinds, but no interruption."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return bool(super().__exit__(kind, error, trace)) and error is not None and not is_interruption(error)


def _interrupts(frame: FrameType) -> bool:
    """Whether a frame is that of a signal handler or trace function: both are given the frame that they interrupt."""
    code, outer = frame.f_code, frame.f_back
    if outer is None or _library(frame) == "graphscope":  # whose functions hand frames on, too
        return False
    stars = bool(code.co_flags & CO_VARARGS) + bool(code.co_flags & CO_VARKEYWORDS)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    given = [frame.f_locals.get(name) for name in names]
    return any(each is outer or (isinstance(each, tuple) and any(one is outer for one in each)) for each in given)


def _library(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _is_known(kind: type[BaseException]) -> bool:
    root = kind.__module__.partition(".")[0]
    return root in _KNOWN or root in TENSOR_READERS
