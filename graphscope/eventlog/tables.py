"""The interned tables of a log as a reader sees them: whatever an entry holds, what comes out has the right type."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeVar

from graphscope.eventlog import schema, sources
from graphscope.eventlog.arguments import ARGUMENT, CALL
from graphscope.eventlog.files import LogFiles
from graphscope.eventlog.names import Op, Scope, Site, entries
from graphscope.eventlog.typed import decode

if TYPE_CHECKING:
    from graphscope.eventlog.generated import Generated

Made = TypeVar("Made")

_MOST_DIMENSIONS: Final = 64
"""No array has more."""


class Tables:
    """Entries by number: ops, sites, sources, scopes, shapes, attributes, threads. Number 0 is "none"."""

    def __init__(self, files: LogFiles) -> None:
        self._tables: dict[str, _Table] = {name: _Table(files, name, self._is_whole) for name in schema.TABLES}
        self._source_texts: dict[str, str] | None = None
        self._paths: dict[int, str] = {}
        self._named: dict[int, dict[str, Any]] = {}

    def _is_whole(self) -> bool:
        """Whether nothing more will be written."""
        return False

    def op(self, number: int) -> Op:
        """An op by its number; of no name when the number is 0 or unknown."""
        return self._tables["ops"].made(number, _op) or _NO_OP

    def generated(self, number: int) -> Generated | None:
        """What a compiler generated for an op by its number; None where it is no compiled region."""
        from graphscope.eventlog.generated import of_entry  # few logs have any

        return of_entry(self._tables["ops"].get(number))

    def site(self, number: int) -> Site | None:
        """A source site by its number."""
        return self._tables["sites"].made(number, _site)

    def scope(self, number: int) -> Scope | None:
        """A module scope by its number."""
        return self._tables["scopes"].made(number, _scope)

    def scope_path(self, number: int) -> str:
        """Names of the scopes from the root to this one, joined by dots."""
        found = self._paths.get(number)
        if found is not None:
            return found
        names: list[str] = []
        seen: set[int] = set()
        above = number
        while above and above not in seen:
            seen.add(above)
            scope = self.scope(above)
            if scope is None:
                break
            names.append(scope.name)
            above = scope.parent
        path = ".".join(name for name in reversed(names) if name)
        if not above:  # else one of them may yet be written
            self._paths[number] = path
        return path

    def scope_title(self, number: int) -> str:
        """The path of a scope and the class of its module: `encoder.1 (ReLU)`."""
        path, scope = self.scope_path(number), self.scope(number)
        return f"{path} ({scope.type})" if path and scope is not None and scope.type else path

    def shape(self, number: int) -> tuple[int, ...]:
        """A shape by its number; () for 0."""
        return self._tables["shapes"].shape(number)

    def attrs(self, number: int) -> dict[str, Any]:
        """The facts of an entry of `attrs` by its number: names, texts; `Log.arguments` tells of a call."""
        return {name: value for name, value in self.entry(number).items() if name not in CALL}

    def entry(self, number: int) -> dict[str, Any]:
        """An entry of `attrs` as it lies there, with the name that it leaves to be read from the program's text."""
        entry = self._tables["attrs"].get(number)
        if not isinstance(entry, dict):
            return {}
        if ARGUMENT not in entry:
            return entry
        if number not in self._named:
            name = self._written(*map(_integer, [*_list(entry[ARGUMENT]), 0, 0][:2]))
            others = {fact: value for fact, value in entry.items() if fact != ARGUMENT}
            self._named[number] = others if name is None else {"name": name, **others}
        return self._named[number]

    def _written(self, site: int, argument: int) -> str | None:
        """What the program writes as an argument of the call at a site."""
        found = self.site(site)
        if found is None:
            return None
        place = found.line, found.column, found.end_line, found.end_column
        return sources.argument_at(self.source(found.file), place, argument)

    def thread(self, number: int) -> dict[str, Any]:
        """A thread by its number: its name and ident."""
        entry = self._tables["threads"].get(number)
        return entry if isinstance(entry, dict) else {}

    def table(self, name: str) -> list[Any]:
        """All entries of a table so far; number 1 is element 0."""
        return self._tables[name].all()

    def source(self, file: str) -> str | None:
        """The text of a source file as it was when the program ran."""
        if self._source_texts is None or file not in self._source_texts:
            found = [entry for entry in self._tables["sources"].all() if isinstance(entry, dict)]
            self._source_texts = {str(entry.get("file")): str(entry.get("text", "")) for entry in found}
        return self._source_texts.get(file)


def _op(entry: dict[str, Any]) -> Op:
    return Op(
        str(entry.get("name", "")),
        str(entry.get("formula", "")),
        str(entry.get("doc", "")),
        tuple(str(rule) for rule in _list(entry.get("vjp"))),
        tuple(str(name) for name in _list(entry.get("inputs"))),
        _defaults(entry.get("defaults")),
        str(entry.get("element", "")),
        bool(entry.get("cited")),
        str(entry.get("framework", "")),
        str(entry.get("function", "")),
        bool(entry.get("custom")),
    )


_NO_OP: Final = Op("")


def _site(entry: dict[str, Any]) -> Site:
    line, column, end_line, end_column, caller = (
        _integer(entry.get(name)) for name in ("line", "column", "end_line", "end_column", "caller")
    )
    file, function = str(entry.get("file", "")), str(entry.get("function", ""))
    return Site(file, line, column, end_line, end_column, function, caller)


def _scope(entry: dict[str, Any]) -> Scope:
    numbers = _integer(entry.get("parent")), _integer(entry.get("site"))
    return Scope(str(entry.get("name", "")), str(entry.get("type", "")), *numbers)


def _defaults(encoded: Any) -> dict[str, Any]:
    try:
        return {str(name): decode(each) for name, each in encoded.items()} if isinstance(encoded, dict) else {}
    except (ValueError, RecursionError):  # a damaged log
        return {}


class _Table:
    """Entries of one table, parsed at first use."""

    def __init__(self, files: LogFiles, name: str, is_whole: Callable[[], bool]) -> None:
        self._files = files
        self._name = name
        self._is_whole = is_whole
        self._read = False
        """All of a log to which nothing is added was read."""
        self._entries: list[Any] = [None]
        self._shapes: dict[int, tuple[int, ...]] = {0: ()}
        self._made: dict[int, Any] = {}
        self._chunk = 0
        self._offset = 0
        self._lock = threading.RLock()

    def get(self, number: int) -> Any:
        if number >= len(self._entries):
            self._read_on()
        return self._entries[number] if 0 <= number < len(self._entries) else None

    def made(self, number: int, make: Callable[[dict[str, Any]], Made]) -> Made | None:
        """What is made of an entry, once; None where it is unknown."""
        found: Made | None = self._made.get(number)
        if found is None and isinstance(entry := self.get(number), dict):
            found = self._made[number] = make(entry)
        return found

    def all(self) -> list[Any]:
        self._read_on()
        with self._lock:
            return self._entries[1:]

    def _read_on(self) -> None:
        """Look for more entries, unless all of a log to which nothing is added was read."""
        if not self._read:
            with self._lock:  # another thread may have read on, or be about to
                is_whole = self._is_whole()
                self._extend()
                self._read = is_whole

    def shape(self, number: int) -> tuple[int, ...]:
        found = self._shapes.get(number)
        if found is None:
            entry = self.get(number)
            if not isinstance(entry, list) or len(entry) > _MOST_DIMENSIONS:
                return ()
            found = self._shapes[number] = tuple(_integer(length) for length in entry)
        return found

    def _extend(self) -> None:
        while True:
            path = f"tables/{self._name}-{self._chunk:03d}.npy"
            if not self._files.exists(path):
                return
            # A next chunk is made only when this one is full, so look for it before reading to the end of this one.
            more = self._files.exists(f"tables/{self._name}-{self._chunk + 1:03d}.npy")
            found, self._offset = entries(self._files.array(path, schema.BYTE), self._offset)
            self._entries += _parsed(tuple(found))
            if not more:
                return
            self._chunk += 1
            self._offset = 0


@lru_cache(maxsize=32)
def _parsed(texts: tuple[bytes, ...]) -> list[Any]:
    """All of some entries; one by one where one of them is damaged. The ranks of a run say the same, log by log."""
    try:
        found = json.loads(b"[" + b",".join(texts) + b"]")
    except (ValueError, RecursionError):
        found = []
    return found if len(found) == len(texts) else [_parse(text) for text in texts]


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list(entry: Any) -> list[Any]:
    return entry if isinstance(entry, list) else []


def _integer(entry: Any) -> int:
    return entry if isinstance(entry, int) and 0 <= entry < 1 << 62 else 0
