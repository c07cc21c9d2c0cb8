"""The table of regions: what each part of the screen shows, and its keys; `?` in one of them, and a page of the
reference, say what stands here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from textual.binding import Binding, BindingType

from graphscope.tui.findings.findings_panel import FindingList
from graphscope.tui.inspector.array import ArrayView
from graphscope.tui.map.map import Map
from graphscope.tui.prompt.prompt import Line, Prompt
from graphscope.tui.search.search_line import SearchLine
from graphscope.tui.source.source import Source
from graphscope.tui.tape.tape import Tape


@dataclass(frozen=True, slots=True)
class Region:
    """One entry of the table."""

    widget: str
    """The name of its widget on the screen."""
    title: str
    doc: str
    """What it shows."""
    bindings: Sequence[BindingType] = ()
    mouse: str = ""
    """What a mouse does there."""

    is_typed_in: bool = False
    """Its keys are those of a line that one types in."""

    @property
    def keys(self) -> tuple[Binding, ...]:
        """The keys that mean something only there."""
        return tuple(each for each in self.bindings if isinstance(each, Binding))


REGIONS: Final[tuple[Region, ...]] = (
    Region(
        "tape",
        "The tape",
        "One line a node, in the order in which they ran, beneath headers that tell what it is part of: a "
        "step, a module, a backward pass, an optimizer's step. Names are told from the module on, whose "
        "header stands above. The bar is the size of the numbers. Moving here moves in time.",
        Tape.BINDINGS,
        "A click goes to a line, a second one opens or closes it; the wheel scrolls.",
    ),
    Region(
        "source",
        "The source",
        "The program's line that made the node, what of it is meant underlined, and how many nodes each line "
        "made. In a backward pass it is the line of the forward node.",
        Source.BINDINGS,
        "A click chooses a line, in the margin it sets or clears a breakpoint.",
    ),
    Region(
        "inspector",
        "The inspector",
        "What is known of the node: its formula with the program's own names and numbers, its value and "
        "gradient, facts, and what the same line made in other steps. On a module's header it tells of the "
        "module as a whole.",
        ArrayView.BINDINGS,
        "A click opens a tab or chooses a number.",
    ),
    Region(
        "map",
        "The map",
        "The neighbourhood of the node as boxes, with the paths to the loss; or the modules of the training "
        "step, forward and backward halves in one box.",
        Map.BINDINGS,
        "A click walks to a box.",
    ),
    Region(
        "findings",
        "The findings",
        "What the doctor finds wrong with the run up to now: the verdict, the cure, the line, what was "
        "measured, and what came of it. It stays while one looks around, and opens by itself when a program "
        "ends or stops at a finding.",
        FindingList.BINDINGS,
        "A click goes to a finding.",
    ),
    Region(
        "timeline",
        "The timeline",
        "The run from left to right: passes and steps, the loss, the norm of the gradient, and where memory "
        "was recorded the bytes that were alive, with a mark at the peak. A cross marks a finding, an "
        "exclamation mark what is not finite.",
        (),
        "A click or a drag goes there, a click on a cross says what was found, the wheel zooms.",
    ),
    Region(
        "prompt",
        "The prompt",
        "Takes every command, and Python over the names of the program; what is answered stands above. Of a "
        "program that runs, the other tab is its own terminal.",
        (*Prompt.BINDINGS, *Line.BINDINGS),
        "A click on the tabs turns from one to the other.",
        is_typed_in=True,
    ),
    Region(
        "search",
        "The search",
        "Looks while one types, for a text in names, ops, modules, lines and shapes, or for a SPEC.",
        SearchLine.BINDINGS,
        is_typed_in=True,
    ),
)
"""The parts of the screen."""
