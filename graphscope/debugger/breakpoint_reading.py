"""What a person types of a breakpoint, `SPEC[ before][, CONDITION]`, as a selector and a condition."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from graphscope.debugger.breakpoint_checks import ANY, names_in, words_of_checks
from graphscope.debugger.expressions import Expression, parse
from graphscope.debugger.results import PassName
from graphscope.diagnose import every
from graphscope.errors import CommandError
from graphscope.graph import select

if TYPE_CHECKING:
    from graphscope.graph.select import Selector

_BEFORE = re.compile(r"\s+before\s*$")
_SPEC = re.compile(r'(?:"[^"]*"|(?! if )[^,])*', re.DOTALL)
_LINE = re.compile(r"(?:(?P<file>[^\s:]+\.\w+):)?(?P<line>\d+)")

PASSES: Final[dict[str, PassName]] = {"forward": "forward", "backward": "backward"}
"""The words of a SPEC that name a pass."""


def read(text: str, file: str | None = None) -> tuple[str, Selector | None, Expression | None, bool]:
    """The SPEC, its selector, the condition, and whether to stop before the node, of what a person typed.

    Args:
        text: `SPEC[ before][, CONDITION]`; as in pdb, a number alone is a line, and so is `FILE:NUMBER`.
        file: The file that a line number alone means.

    Raises:
        GraphscopeError: The SPEC or the condition is not understood.
    """
    spec, condition = _divided(text)
    before = _BEFORE.search(spec) is not None
    spec = _BEFORE.sub("", spec).strip()
    if not spec:
        raise CommandError("A breakpoint needs a SPEC", "for example: b mul, b #12, b op:tanh backward, b nan")
    place = _LINE.fullmatch(spec)
    if place is not None:
        named = place["file"] or file
        if named is None:
            raise CommandError(f"Line {spec} of which file?", f"b FILE:{spec}, or b #{spec} for node {spec}")
        spec = f'line:"{named}":{place["line"]}' if " " in named else f"line:{named}:{place['line']}"
    word = spec.split()[0]
    is_check = word in words_of_checks()
    if word.startswith(f"{ANY}:") and not is_check:
        unknown = [name for name in names_in(word) if name not in every()]
        if unknown:
            raise CommandError(f"There is no check `{unknown[0]}` to stop at", f"there are {', '.join(every())}")
        is_check = True
    selector = None if is_check and pass_of(spec) is not False else select.parse(spec)
    if before and selector is None:
        raise CommandError(
            f"`{word}` and `before` exclude each other: a node is looked at when it is there", f"b {word}"
        )
    if before and selector is not None and selector.graph_pass == "backward":
        raise CommandError("`before` is for the forward pass: in backward, a stop is ahead of the rule", f"b {spec}")
    return spec, selector, parse(condition) if condition.strip() else None, before


def pass_of(spec: str) -> PassName | Literal["", False]:
    """The pass that `nan backward` names, or nothing; False when the words behind the first say something else."""
    words = [word for word in spec.split()[1:] if word != "and"]
    return "" if not words else PASSES.get(" ".join(words), False)


def _divided(text: str) -> tuple[str, str]:
    """SPEC and CONDITION: the first comma outside quotation marks parts them, as in pdb, or `if`, as in gdb."""
    found = _SPEC.match(text)
    end = found.end() if found is not None else 0
    return text[:end], text[end:].removeprefix(",").removeprefix(" if ")
