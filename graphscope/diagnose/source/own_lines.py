"""The program's own line in the place of one in a library: nobody is to change files of Python or of a package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graphscope.eventlog.schema import NODES
from graphscope.graph.callers import callers
from graphscope.graph.reading import once_a_length

if TYPE_CHECKING:
    from graphscope.diagnose.finding import Finding
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log


def at_own_line(log: Log, found: Finding) -> Finding:
    """A finding, where the program itself says what is to blame: of a line in a library the one that led to it."""
    own = _own_lines(log).get((found.file, found.line))
    if own is None:
        return found
    row = found.place_in_log
    if log.pick("kind", np.array([row]))[0] in NODES:
        here = log.site(log.event(row).site)
        if here is not None and (here.file, here.line) == (found.file, found.line):
            own = next((each for each in callers(log, row).lines if not each.caller and each != here), own)
    return replace(found, file=own.file, line=own.line)


@once_a_length
def _own_lines(log: Log) -> Mapping[tuple[str, int], Site]:
    found: dict[tuple[str, int], Site] = {}
    for number in range(1, len(log.table("sites")) + 1):
        site = log.site(number)
        own = log.site(site.caller) if site is not None and site.caller else None
        if site is not None and own is not None:
            found.setdefault((site.file, site.line), own)
    return found
