"""What a writer names by number, and the templates of rows that are made of such names."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np

from graphscope.eventlog import arguments, schema
from graphscope.eventlog.appender import FLOATING, MOST_NODES, compiled
from graphscope.eventlog.interruptions import own
from graphscope.eventlog.names import Table, encoded
from graphscope.eventlog.schema import Flag, Kind
from graphscope.eventlog.template import PACKERS, Content, Template
from graphscope.eventlog.typed import shown
from graphscope.eventlog.values import nature, storage

_Made = TypeVar("_Made")
_EARLY: Final = ("ops", "sites", "sources", "scopes", "shapes", "attrs", "threads")
"""The tables that most programs fill in their first step. Their files are made with the log: to make one takes longer
than many an op that runs."""
_TEXTS: Final = 1 << 16
"""Bytes for the texts of the program's files, to begin with."""
_MOST_BYTES: Final = (1 << 63) - 1
"""An expanded tensor may tell of more bytes than have a number."""


def _known_as(thread: threading.Thread) -> tuple[str, int | None]:
    """What a thread is known by: the system gives the number of one that has ended to another."""
    return thread.name, thread.ident


class Interning:
    """The tables of a log that is being written."""

    policy: str
    cap: int
    tables: dict[str, Table]

    def open_tables(self, folder: Path) -> None:
        """Begin the tables in a folder."""
        self._here = threading.local()
        self._contents: dict[tuple[Any, ...], Content] = {}
        self.tables = {name: Table(folder, name) for name in schema.TABLES}
        self.tables["sources"] = Table(folder, "sources", _TEXTS)
        for name in _EARLY:
            self.tables[name].begin()

    def insist(self, make: Callable[[], _Made]) -> _Made:
        """Do what opens files, also where the program has used up all."""
        raise NotImplementedError

    def give_up(self, error: OSError) -> None:
        """What to do when a table can't be written any more."""
        raise NotImplementedError

    def shape(self, shape: tuple[int, ...]) -> int:
        """The number of a shape in the table `shapes`."""
        return self.intern("shapes", shape, shape)

    def thread(self) -> int:
        """The number of the calling thread in the table `threads`; threads past the 255th share the last number."""
        number: int = getattr(self._here, "thread", 0)
        if not number:
            key = name, ident = _known_as(threading.current_thread())
            number = self._here.thread = min(self.intern("threads", key, {"name": name, "ident": ident}), 255)
        return number

    def has_seen(self, thread: threading.Thread) -> bool:
        """Whether a thread has recorded something."""
        return self.tables["threads"].find(_known_as(thread)) is not None

    def attributes(self, attrs: dict[str, Any]) -> int:
        """The number of a set of attributes in the table `attrs`; 0 for an empty one."""
        if not attrs:
            return 0
        try:
            text = encoded(attrs)
        except own(ValueError, TypeError, RecursionError):  # circular, or with keys that JSON has no place for
            text = encoded({str(name): shown(value) for name, value in attrs.items()})
        return self.intern("attrs", text, text)

    def argument(self, site: int, place: int) -> int:
        """The number of the attributes that leave a name to their reader; see `arguments.ARGUMENT`."""
        text = b'{"%s":[%d,%d]}' % (arguments.ARGUMENT.encode(), site, place)
        return self.intern("attrs", text, text)

    def intern(self, table: str, key: Any, entry: Any) -> int:
        """The number of an entry of a table; 0 once the log can't be written any more."""
        known = self.tables[table]
        number = known.find(key)
        if number is not None:
            return number
        try:
            return self.insist(lambda: known.add(key, entry))
        except own(OSError) as error:
            self.give_up(error)
            return 0

    def template(
        self,
        kind: Kind,
        *,
        op: int = 0,
        site: int = 0,
        scope: int = 0,
        shape: tuple[int, ...] = (),
        dtype: np.dtype | None = None,
        attrs: int = 0,
        version: int = 0,
        thread: int = 0,
        graph_pass: int = 0,
        input_count: int = 0,
        number_count: int = 0,
        several: bool = False,
        is_kept: bool = False,
        flags: int = 0,
    ) -> Template:
        """What rows of one call site share: these columns of the schema, and how the value is kept.

        `dtype=None` says that the row has no value. Of the inputs that a row is given, the last `number_count` are
        numbers that vary, by their bits. What `is_kept` is kept under every policy.
        """
        content = _NO_CONTENT if dtype is None else self._content(shape, dtype, several=several, is_kept=is_kept)
        fields = (  # in the order of `schema.CONSTANT`
            int(kind),
            content.dtype,
            0,
            op,
            site,
            scope,
            content.shape,
            attrs,
            version,
            thread or self.thread(),
            graph_pass,
            min(input_count, schema.INLINE_INPUTS),
            int(several),
        )
        if input_count + number_count > schema.INLINE_INPUTS:
            flags |= Flag.EDGES
        return Template(fields, flags, content, nodes=input_count if number_count else MOST_NODES)

    def _content(self, shape: tuple[int, ...], dtype: np.dtype, *, several: bool, is_kept: bool) -> Content:
        """How values of a shape and dtype are kept."""
        policy = "full" if is_kept else self.policy
        key = shape, dtype, policy, several
        found = self._contents.get(key)
        if found is None:
            name = nature(dtype).name
            nbytes = min(math.prod(shape, start=dtype.itemsize), _MOST_BYTES)
            keep = 0 if several else int(storage(policy, self.cap, nbytes, dtype))
            layout = "" if keep != Flag.INLINE else name if name in PACKERS and shape == () else "bytes"
            # Readers derive it where a value is kept whole; the compiled part looks at each anyway.
            watched = (name in FLOATING or several) and keep != Flag.SUMMARY and (compiled or not keep)
            code = schema.DTYPE_CODES.get(name, 0)
            found = Content(code, nbytes, keep, layout, watched=watched, shape=self.shape(shape))
            self._contents[key] = found
        return found


_NO_CONTENT: Final = Content(0, 0, 0, "")
"""That of rows without a value."""
