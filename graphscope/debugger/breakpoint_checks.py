"""The checks that breakpoints may ask for: what they are called, and what they say of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphscope.diagnose import Check, Finding, every
from graphscope.diagnose.check_table import Moment

if TYPE_CHECKING:
    from graphscope.graph import Node

Moments = frozenset[Moment]
RECORDED: Final[Moments] = frozenset({"node", "pass"})
"""At a node of a recording, its pass may have ended with it."""
NODE_MADE: Final[Moments] = frozenset({"node"})
PASS_ENDED: Final[Moments] = frozenset({"pass"})


def words_of_checks() -> list[str]:
    """The words that stand in the place of a SPEC; a check of a run as a whole is called `finding:NAME` alone."""
    names = [check.name for check in every().values() if not check.is_of_run]
    return [*names, ANY, *(f"{ANY}:{name}" for name in every())]


ANY: Final = "finding"
"""The word for whatever a check finds."""


def checks_of(word: str) -> tuple[Check, ...]:
    """The checks that a word of `words_of_checks` means."""
    if word == ANY:
        return tuple(every().values())
    return tuple(every()[name] for name in names_in(word))


def names_in(word: str) -> list[str]:
    """The names in `finding:zero_grad|lr_vanished`."""
    return word.removeprefix(f"{ANY}:").split("|")


def findings_at(check: Check, node: Node) -> list[Finding]:
    """What a check finds at a node, if that is one of those it is to be asked about.

    To know which these are takes a look at the whole log, so it is asked first.
    """
    try:
        found = list(check.judge(node.graph, node.row))
    except Exception:  # noqa: BLE001 - it was not made for this node
        return []
    return found if found and node.row in check.rows(node.graph.log) else []


def to_blame(node: Node, owner: int | None) -> int:
    """Of a cotangent or contribution, the backward node whose rule is to blame; else the node itself."""
    sources = [edge.source for edge in node.inputs if node.kind in ("grad", "accumulate")]
    found = (each.row for each in sources if each.forward is not None and each.forward.row == owner)
    return next(found, node.row)
