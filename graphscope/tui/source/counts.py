"""How many nodes each line of a program made, counted column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graphscope.debugger import nodes

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log


class Counts:
    """Nodes by file and line; `extend` counts what the log has gained."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._end = log.first
        self._by_site = np.zeros(0, np.int64)
        self._lines: dict[str, dict[int, int]] | None = None

    @property
    def complete(self) -> bool:
        """Whether all rows were counted."""
        return self._end >= self._log.end

    def extend(self, most: int = 1 << 19) -> bool:
        """Count so many rows more; whether there were any."""
        stop = min(self._log.end, self._end + most)
        if stop <= self._end:
            return False
        sites = self._log.column("site", self._end, stop)
        found = np.bincount(np.minimum(sites[nodes.rows_of(self._log, self._end, stop) - self._end], 1 << 20))
        size = max(len(found), len(self._by_site))
        self._by_site = np.pad(self._by_site, (0, size - len(self._by_site))) + np.pad(found, (0, size - len(found)))
        self._end = stop
        self._lines = None
        return True

    def of(self, file: str) -> dict[int, int]:
        """Counts by the lines of a file."""
        if self._lines is None:
            self._lines = {}
            for number in np.flatnonzero(self._by_site).tolist():
                site = self._log.site(number)
                if site is not None:
                    lines = self._lines.setdefault(site.file, {})
                    lines[site.line] = lines.get(site.line, 0) + int(self._by_site[number])
        return self._lines.get(file, {})
