"""Where the files of a program lie for the client: `pathMappings`, each a folder here and the same one there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from graphscope.dap.protocol import Arguments

_WINDOWS: Final = re.compile(r"[A-Za-z]:|\\")
"""How a path begins that Windows wrote."""

_Pair = tuple[PurePath, PurePath]
"""A folder of where one comes from, and the same one of where one goes."""


@dataclass(frozen=True)
class PathMappings:
    """Which folders of the client are which of the program. Paths that lie in none of them are the same for both."""

    pairs: tuple[tuple[str, str], ...] = ()
    """Each a folder of the client, and the same one as the program, or its recording, calls it."""

    def from_client(self, command: str, arguments: Any) -> Any:
        """The arguments of a request, with the paths of the program; those of our own requests are left alone."""
        alone = command in ("launch", "attach", "restart") or command.startswith("graphscope/")
        return arguments if alone or not self.pairs else _sources(arguments, self._there)

    def for_client(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message to the client, with its own paths."""
        alone = not self.pairs or str(message.get("command", "")).startswith("graphscope/")
        return message if alone or "body" not in message else {**message, "body": _sources(message["body"], self._here)}

    def _there(self, source: dict[str, Any]) -> dict[str, Any]:
        path = _moved(source.get("path"), [(_path(here), _path(there)) for here, there in self.pairs])
        return source if path is None else {**source, "path": str(path)}

    def _here(self, source: dict[str, Any]) -> dict[str, Any]:
        path = _moved(source.get("path"), [(_path(there), _path(here)) for here, there in self.pairs])
        if path is None:
            return source
        recorded = () if Path(path).is_file() else ("sourceReference", "presentationHint")
        kept = {key: source[key] for key in recorded if key in source}
        return {**kept, "name": path.name, "path": str(path)}


def mappings_of(wishes: Arguments) -> PathMappings:
    """What the arguments of `launch` or `attach` say; as for debugpy, `.` is the folder that the program runs in.

    Raises:
        RequestError: They are not understood.
    """
    given = ((each.text("localRoot"), each.text("remoteRoot")) for each in wishes.objects("pathMappings"))
    folder = str(Path(wishes.text("cwd", "") or ".").absolute()) if "program" in wishes or "module" in wishes else "."
    return PathMappings(tuple((here, folder if there == "." else there) for here, there in given))


def _sources(found: Any, moved: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """A part of a message, with whatever is a source in it moved."""
    if isinstance(found, dict):
        return {key: _source(key, each, moved) for key, each in found.items()}
    return [_sources(each, moved) for each in found] if isinstance(found, list) else found


def _source(key: str, found: Any, moved: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    if key == "source" and isinstance(found, dict):
        return moved(found)
    if key == "sources" and isinstance(found, list):
        return [moved(each) if isinstance(each, dict) else each for each in found]
    return _sources(found, moved)


def _moved(path: object, pairs: list[_Pair]) -> PurePath | None:
    """A path as it is called at the other end; None where it lies in none of the folders."""
    if not isinstance(path, str) or not path:
        return None
    found = max(_holding(_path(path), pairs), key=lambda pair: len(pair[0].parts), default=None)
    return None if found is None else found[1].joinpath(*_path(path).parts[len(found[0].parts) :])


def _holding(path: PurePath, pairs: list[_Pair]) -> Iterator[_Pair]:
    return (pair for pair in pairs if isinstance(path, type(pair[0])) and path.is_relative_to(pair[0]))


def _path(text: str) -> PurePath:
    return (PureWindowsPath if _WINDOWS.match(text) else PurePosixPath)(text)
