"""The characters that pictures are made of: one set for terminals that show Unicode, one in ASCII."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Characters by what they mean."""

    op: str
    leaf: str
    grad: str
    accumulate: str
    mark: str
    current: str
    breakpoint: str
    nonfinite: str
    finding: str
    in_place: str
    edited: str
    view: str
    opened: str
    closed: str
    rising: str
    """A gradient has reached this forward node."""
    lane: str
    across: str
    fork_left: str
    """A lane that is used here and goes on, to the left of the node."""
    fork_right: str
    end_left: str
    """A lane that ends here."""
    end_right: str
    crossing: str
    more: str
    bars: str
    """From almost nothing to full, from the bottom."""
    shades: str
    """From empty to full."""
    steps: str
    """A bar that grows from the left: half a cell, a whole one."""
    box: str
    """Corners, horizontal and vertical of a box: `┌┐└┘─│`."""
    strong_box: str
    """The same of a box that stands out."""
    arrow: str
    strong_arrow: str
    up: str
    ellipsis: str
    times: str
    same: str
    differs: str
    leads_to: str
    """Between what something takes and what it gives."""
    ahead: str
    """The forward pass."""
    behind: str
    """The backward pass."""


UNICODE: Final = Glyphs(
    op="●", leaf="◆", grad="▲", accumulate="◇", mark="·", current="▶", breakpoint="●", nonfinite="!", finding="✗",
    in_place="✎",
    edited="✱", view="⌕", opened="▾", closed="▸", rising="▲", lane="│", across="─", fork_left="├", fork_right="┤",
    end_left="╰", end_right="╯", crossing="┼", more="┆", bars="▁▂▃▄▅▆▇█", shades=" ░▒▓█", steps="╸━",
    box="╭╮╰╯─│", strong_box="┏┓┗┛━┃", arrow="▼", strong_arrow="▼", up="▲", ellipsis="…", times="×",
    same="=", differs="≠", leads_to="→", ahead="▸", behind="◂",
)  # fmt: skip
"""For terminals that show Unicode."""

ASCII: Final = Glyphs(
    op="o", leaf="#", grad="^", accumulate="+", mark=".", current=">", breakpoint="B", nonfinite="!", finding="x",
    in_place="w",
    edited="*", view="v", opened="-", closed="+", rising="^", lane="|", across="-", fork_left="|", fork_right="|",
    end_left="`", end_right="'", crossing="+", more=":", bars="_.,-~=+#", shades=" .:*#", steps="-=",
    box="++++-|", strong_box="####=#", arrow="v", strong_arrow="V", up="^", ellipsis="~", times="x",
    same="=", differs="/", leads_to="->", ahead=">", behind="<",
)  # fmt: skip
"""For terminals that show nothing else."""


def for_terminal() -> Glyphs:
    """The set that this terminal shows, by its encoding and type."""
    encoding = (getattr(sys.__stdout__, "encoding", None) or "").lower().replace("-", "")
    return UNICODE if encoding.startswith("utf") and os.environ.get("TERM") not in ("dumb", "vt100") else ASCII
