"""What graphscope raises: every message says what went wrong and where, every hint what to do.

GraphscopeError
├── LogError          a log that can't be read or written
├── StateError        a file of tensors that can't be read
├── SelectorError     a SPEC that is not understood, or that nothing answers to
├── CommandError      a command of the debugger that can't be carried out
├── ExportError       a picture or file that can't be made
├── StaticError       a graph that runs later and can't be built, checked or run
├── EngineError       what lacks something that graphscope's own engine takes, and the debugger does not
└── UsageError        a command line that does not say what to do
"""

from __future__ import annotations

__all__ = [
    "CommandError",
    "EngineError",
    "ExportError",
    "GraphscopeError",
    "LogError",
    "SelectorError",
    "StateError",
    "StaticError",
    "UsageError",
]


class GraphscopeError(Exception):
    """Something that a person can put right.

    Args:
        message: One sentence: what went wrong and where.
        hint: What to do about it, if that is known.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class LogError(GraphscopeError):
    """A log that can't be read or written."""


class StateError(GraphscopeError):
    """A file of tensors that can't be read."""


class SelectorError(GraphscopeError):
    """A SPEC that is not understood, or that nothing answers to."""


class CommandError(GraphscopeError):
    """A command of the debugger that can't be carried out."""


class ExportError(GraphscopeError):
    """A picture or file that can't be made."""


class StaticError(GraphscopeError, ValueError):
    """A graph that runs later and can't be built, checked or run: the message names the node and its source line."""


class EngineError(GraphscopeError, ImportError):
    """Something is not here that graphscope's own engine takes, and the debugger does not."""


class UsageError(GraphscopeError):
    """A command line that does not say what to do."""
