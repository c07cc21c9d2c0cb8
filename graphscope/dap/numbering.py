"""Lines and columns as a client counts them: from 1, as here, or from 0, as it says when it introduces itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

LINES: Final = ("line", "endLine", "lines")
COLUMNS: Final = ("column", "endColumn")
"""What the protocol calls them, wherever they stand in a message."""


@dataclass(frozen=True)
class Numbering:
    """How far a client's numbers lie below ours."""

    line: int = 0
    column: int = 0

    def from_client(self, command: str, arguments: Any) -> Any:
        """The arguments of a request, as we count; a program's own (`env`) and those of our requests are left alone."""
        alone = command in ("launch", "attach", "restart") or command.startswith("graphscope/")
        return arguments if alone or self == Numbering() else self._moved(arguments, 1)

    def for_client(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message to the client, as it counts; 0, which says that there is no such line, stays 0."""
        alone = self == Numbering() or str(message.get("command", "")).startswith("graphscope/")
        return message if alone or "body" not in message else {**message, "body": self._moved(message["body"], -1)}

    def _moved(self, found: Any, sign: int, by: int = 0) -> Any:
        if isinstance(found, dict):
            far = dict.fromkeys(LINES, self.line) | dict.fromkeys(COLUMNS, self.column)
            return {key: self._moved(each, sign, far.get(key, 0)) for key, each in found.items()}
        if isinstance(found, list):
            return [self._moved(each, sign, by) for each in found]
        return max(found + sign * by, 0) if by and isinstance(found, int) and not isinstance(found, bool) else found


def numbering_of(introduction: dict[str, Any]) -> Numbering:
    """As the arguments of `initialize` say."""
    return Numbering(*(introduction.get(name) is False for name in ("linesStartAt1", "columnsStartAt1")))
