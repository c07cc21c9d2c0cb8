"""The kinds of sections: what each is, and in which order those lie in one another that begin at one row."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np


class SectionKind(IntEnum):
    """What a section is; one that may hold another has the smaller number."""

    STEP = 1
    """A training step: a turn of the loop that trains."""
    PASS = 2
    """A backward pass; of a step with several of them, also what runs forward ahead of each."""
    MAKING = 3
    """Rows that make parameters and fill them: initialisation, copies of modules."""
    OPTIMIZER = 4
    """What an optimizer's step did."""
    PARAMETER = 5
    """What it did to one parameter."""
    SCOPE = 6
    """The call of a module; in a backward pass the rows that belong to it."""
    LIBRARY = 7
    """Rows that library files made for one line of the program."""


@dataclass(frozen=True, slots=True)
class KindOfSection:
    """What is known of all sections of a kind."""

    kind: SectionKind
    is_folded: bool
    """Whether one sees only its header until one wants more."""
    least: int
    """A section of fewer rows is none: its header would not be worth a line."""


KINDS: Final = {
    found.kind: found
    for found in (
        KindOfSection(SectionKind.STEP, is_folded=True, least=1),
        KindOfSection(SectionKind.PASS, is_folded=False, least=1),
        KindOfSection(SectionKind.MAKING, is_folded=True, least=3),
        KindOfSection(SectionKind.OPTIMIZER, is_folded=True, least=3),
        KindOfSection(SectionKind.PARAMETER, is_folded=True, least=2),
        KindOfSection(SectionKind.SCOPE, is_folded=False, least=2),
        KindOfSection(SectionKind.LIBRARY, is_folded=True, least=3),
    )
}
"""Every kind of section."""

SECTION: Final = np.dtype(
    [
        ("first", "<i8"),  # its first row
        ("last", "<i8"),  # its last row, as far as the stretch goes that it was found in
        ("kind", "u1"),  # SectionKind
        ("slot", "u1"),  # its place among what begins at the same row: what holds another has the smaller slot
        ("level", "u1"),  # how many sections it lies in
        ("is_backward", "?"),  # its rows are of a backward pass
        ("parent", "<i4"),  # the section that it lies in, by its place in the stretch; -1 where it lies in none
        ("subject", "<i8"),  # the step's place; the row where the pass or the module's call begins; the tensor of the
        #                      parameter; the number of the program's line that called a library
        ("scope", "<i4"),  # of a SCOPE its number in the log's table
        ("goes_on", "?"),  # it began ahead of the stretch
    ]
)
"""A section of a stretch of rows."""

ROW: Final = 255
"""The slot of the row itself, behind all that begins at it."""

SLOT_BITS: Final = 8


def key_of(first: int, slot: int) -> int:
    """What names a section, or with the slot `ROW` a row: in the order in which one reads them."""
    return first << SLOT_BITS | slot
