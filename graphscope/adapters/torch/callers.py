"""The lines that led to a call: the program's own frames around it, told once of each call site."""

from __future__ import annotations

from types import FrameType
from typing import Final

from graphscope.eventlog.own_files import is_own
from graphscope.eventlog.places import site_number
from graphscope.eventlog.writer import Writer

_MOST_LINES: Final = 32
_MOST_STACKS: Final = 4
"""So many lines of one stack are told, and so many stacks of one call site."""

_CALLING: Final = "_call_impl"
"""The function of torch that stands between the line that calls a module and what the module does."""


class Callers:
    """Tells of them.

    Args:
        writer: The log.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._told: dict[tuple[int, int, bool], set[tuple[int, ...]]] = {}

    def tell(self, frame: FrameType, site: int, attrs: int = 0, no_grad: bool = False) -> None:
        """Tell of a call site that is met: an op with these attributes, with gradients off or on, or a mark."""
        known = self._told.setdefault((site, attrs, no_grad), set())
        if len(known) >= _MOST_STACKS:
            return
        lines, outside = self._lines(frame)
        if lines not in known and lines != (site,):
            told = {"call": "callers", "site": site, "op_attrs": attrs, "no_grad": no_grad}
            self._writer.attributes({**told, "lines": lines, "outside": outside})
        known.add(lines)

    def tell_once(self, frame: FrameType) -> None:
        """Tell of the line of a mark, when it is met first."""
        site = site_number(self._writer, frame)
        if (site, 0, False) not in self._told:
            self.tell(frame, site)

    def _lines(self, frame: FrameType) -> tuple[tuple[int, ...], int]:
        """The lines from the innermost outward, up to that of a file itself; and which is outside of all modules."""
        lines: list[int] = []
        outside, at = 0, frame
        while len(lines) < _MOST_LINES:
            if is_own(at.f_code.co_filename):
                lines.append(site_number(self._writer, at))
                if at.f_code.co_name == "<module>":
                    break
            elif at.f_code.co_name == _CALLING:
                outside = len(lines)
            if at.f_back is None:
                break
            at = at.f_back
        return tuple(lines), outside
