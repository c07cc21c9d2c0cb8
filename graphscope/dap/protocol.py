"""The base protocol: messages framed by a header, and arguments of requests read with care."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graphscope.errors import GraphscopeError

LONGEST: Final = 1 << 26
"""A message that claims to be longer is skipped and refused."""

MOST_HEADERS: Final = 32

_MOST_CELLS: Final = (1 << 16) - 1
"""No terminal is wider or higher."""


class RequestError(GraphscopeError):
    """A request that can't be carried out."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """What arrived in place of a message."""

    reason: str


def framed(message: Mapping[str, Any]) -> bytes:
    """A message with its header."""
    text = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)


async def read_message(reader: asyncio.StreamReader) -> tuple[dict[str, Any] | Malformed, dict[str, str]] | None:
    """The next message and its headers; None when there are no more."""
    headers = await _headers(reader)
    if headers is None:
        return None
    claimed = headers.get("content-length", "")
    if not claimed.isascii() or not claimed.isdigit() or len(claimed) > 18:
        return Malformed(f"a header without a usable Content-Length: {claimed[:40]!r}"), headers
    length = int(claimed)
    if length > LONGEST:
        await _skip(reader, length)
        return Malformed(f"a message of {length} bytes is longer than the {LONGEST} that are read"), headers
    try:
        text = await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        return None
    try:
        message = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Malformed(f"what is no JSON: {error}"), headers
    if not isinstance(message, dict):
        return Malformed("a message that is no object"), headers
    return message, headers


async def _headers(reader: asyncio.StreamReader) -> dict[str, str] | None:
    """The header fields up to the blank line, by their names in small letters; lines that are none are passed over."""
    found: dict[str, str] = {}
    while True:
        try:
            line = await reader.readline()
        except ValueError:  # longer than any header; what was read of it is gone
            continue
        if not line.endswith(b"\n"):
            return None
        text = line.strip().decode("latin-1")
        if not text:
            if found:
                return found
            continue
        name, colon, value = text.partition(":")
        if colon and len(found) < MOST_HEADERS:
            found[name.strip().lower()] = value.strip()


async def _skip(reader: asyncio.StreamReader, length: int) -> None:
    while length:
        data = await reader.read(min(length, 1 << 16))
        if not data:
            return
        length -= len(data)


class Arguments:
    """The arguments of a request; what is missing or of another type than it must be is refused by name."""

    def __init__(self, command: str, fields: object) -> None:
        if fields is not None and not isinstance(fields, dict):
            raise RequestError(f"the arguments of {command} must be an object")
        self.command = command
        self.fields: dict[str, Any] = fields or {}

    def __contains__(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text."""
        return str(self._read(name, str, default, "a text"))

    def number(self, name: str, default: int | None = None, most: int = 1 << 53) -> int:
        """A whole number; one that no row, line or size can be is refused."""
        found = self._read(name, int, default, "a whole number")
        if isinstance(found, bool) or abs(found) > most:
            raise RequestError(f"{self.command}: {name!r} is no number that can be meant")
        return int(found)

    def size(self, rows: int | None = None, columns: int | None = None) -> tuple[int, int]:
        """Rows and columns of a terminal."""
        found = self.number("rows", rows, _MOST_CELLS), self.number("columns", columns, _MOST_CELLS)
        return max(found[0], 1), max(found[1], 1)

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        return bool(self._read(name, bool, default, "true or false"))

    def texts(self, name: str) -> list[str]:
        """A list of texts; numbers are taken as their text."""
        found = self._read(name, list, [], "a list")
        if not all(isinstance(item, str | int | float) for item in found):
            raise RequestError(f"{self.command}: {name!r} must be a list of texts")
        return [str(item) for item in found]

    def objects(self, name: str) -> list[Arguments]:
        """A list of objects."""
        return [Arguments(f"{self.command}: {name}", item or {}) for item in self._read(name, list, [], "a list")]

    def object(self, name: str) -> Arguments:
        """An object; an empty one if there is none."""
        return Arguments(f"{self.command}: {name}", self._read(name, dict, {}, "an object"))

    def _read(self, name: str, kind: type, default: Any, wanted: str) -> Any:
        found = self.fields.get(name)
        if found is None:
            if default is None:
                raise RequestError(f"{self.command} needs {name!r}, {wanted}")
            return default
        if not isinstance(found, kind):
            raise RequestError(f"{self.command}: {name!r} must be {wanted}")
        return found
