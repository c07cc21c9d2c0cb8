"""The value policy: what the log wants of the value of a row, before the value is read."""

from __future__ import annotations

from typing import NamedTuple

from graphscope.eventlog.appender import FLOATING
from graphscope.eventlog.schema import DTYPES, Flag
from graphscope.eventlog.template import Template


class Wanted(NamedTuple):
    """What the log wants of the values of a template's rows."""

    kept: bool
    """Whether the elements are kept, or their statistics."""
    summary: bool
    """Whether it is the statistics."""
    floating: int
    """How the elements are examined for NaN and Inf (`appender.FLOATING`); 0 where they can't hold any."""


def wanted(template: Template) -> Wanted:
    """What the log wants of the values of a template's rows."""
    return Wanted(bool(template.keep), template.keep == Flag.SUMMARY, FLOATING.get(DTYPES[template.fields[1]], 0))


def is_read(template: Template) -> bool:
    """Whether the elements of the values of a template's rows are read at all: kept, or examined."""
    return bool(template.keep or template.floating)


def unkept(template: Template) -> Template:
    """The template of the same rows, of values whose elements can't be had."""
    flags = Flag(template.flags) & ~(Flag.KEPT | Flag.INLINE | Flag.SUMMARY)
    return Template(template.fields, flags, 0, Flag(0), "", nodes=template.nodes)
