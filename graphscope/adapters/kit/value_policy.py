"""The value policy: what the log wants of the value of a row, before the value is read."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from graphscope.eventlog.appender import FLOATING
from graphscope.eventlog.schema import DTYPES, Flag
from graphscope.eventlog.template import Content, Template
from graphscope.eventlog.values import summary_record


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


def told(template: Template, value: Any) -> Any:
    """What a row is given of a value: its elements, or their statistics; None where they are not read at all."""
    if not template.plain:  # measured here, so that the row is of the common kind and its writer need not look at it
        return summary_record(np.asarray(value))
    return np.asarray(value) if is_read(template) else None


def examined(template: Template) -> Template:
    """The template of the same rows, of values that are looked at, whether they are finite, and not kept."""
    flags = Flag(template.flags) & ~(Flag.KEPT | Flag.INLINE | Flag.SUMMARY)
    content = Content(template.fields[1], template.nbytes, 0, "", watched=True)
    return Template(template.fields, flags, content, nodes=template.nodes)


def unkept(template: Template) -> Template:
    """The template of the same rows, of values whose elements can't be had."""
    flags = Flag(template.flags) & ~(Flag.KEPT | Flag.INLINE | Flag.SUMMARY)
    return Template(template.fields, flags, Content(template.fields[1], 0, 0, ""), nodes=template.nodes)
