"""What an editor offers as kinds of exceptions to stop at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graphscope.debugger.breakpoint_checks import ANY
from graphscope.diagnose import every

RAISED: Final = "raised"
"""The filter of exceptions that may be caught, as debugpy calls it."""


@dataclass(frozen=True)
class Filter:
    """Something that one may want to stop at wherever it happens."""

    label: str
    doc: str
    spec: str = ""
    """The breakpoint that it is; empty where the program itself tells of it."""
    default: bool = False
    kinds: str = ""
    """What a client tells a person who may write a condition."""


def filters() -> dict[str, Filter]:
    """Every filter by its name: exceptions of Python, and what the table of checks knows."""
    found = {"uncaught": Filter("Python exceptions", "Where an exception leaves the program.", default=True)}
    found[RAISED] = Filter(
        "Raised exceptions", "At the line of the program where one arises, even if it is caught then."
    )
    for check in every().values():
        if not check.is_of_run:
            found[check.name] = Filter(check.title[:1].upper() + check.title[1:], f"{check.doc}.", check.name)
    anything = "Where the doctor finds anything wrong: at a node, behind a backward pass, or at the end of a step."
    found[ANY] = Filter("Any finding of the doctor", anything, ANY, kinds="kinds to stop at: zero_grad, lr_vanished")
    of_gradients = f"{found['nan'].label} in a gradient"
    return found | {"nan backward": Filter(of_gradients, "In a backward pass, as it is born.", "nan backward")}
