"""What a parting is told as: its cause in a word or two, and why the runs part there as one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from graphscope.compare.difference import Fact, Side, When
from graphscope.diagnose.explanation import listed


class Told(NamedTuple):
    """What is told of a parting."""

    cause: str
    verdict: str


CAUSES: Final[dict[str, str]] = {
    "initialisation": "{name} holds other numbers from the start: it was made, written or loaded in another way",
    "input": "{name} holds other numbers from the start: the two runs were given other data",
    "random": "{a} draws random numbers, and drew others: other numbers were drawn ahead of it, or the seed is another",
    "redrawn": "{b} draws other random numbers where backward computes it again in b, and does not in a",
    "redrawn in a": "{a} draws other random numbers where backward computes it again in a, and does not in b",
    "operand": "{a} is given another tensor",
    "swapped": "{a} is given the same tensors in another order",
    "another order": "both sides hold the same numbers here, and {b} lays them out in another order than {a}",
    "in place": "b goes on with a tensor that {b} has written into, where a goes on with what it was before",
    "in place in a": "a goes on with a tensor that {a} has written into, where b goes on with what it was before",
    "compiled": "{b} was compiled of what a runs op by op from {a} on, and makes something else of the same",
    "compiled in a": "{a} was compiled of what b runs op by op from {b} on, and makes something else of the same",
    "mask": "{a} leaves out other elements than {b}",
    "only a": "a does one thing more than b: {a}",
    "only b": "b does one thing more than a: {b}",
    "detached": "a gradient flows back through {a} in a, and the way is cut off at {b} in b",
    "detached in a": "a gradient flows back through {b} in b, and the way is cut off at {a} in a",
    "fewer cuts": "{a} cuts gradients off in a as {b} does in b, but one more is cut off in b and flows back in a",
    "fewer cuts in a": "{b} cuts gradients off in b as {a} does in a, but one more is cut off in a and flows back in b",
    "hook": "a hook changes the gradient of {a} in b ({b}), and none does in a",
    "hook in a": "a hook changes the gradient of {b} in a ({a}), and none does in b",
    "hooks": "hooks of both change this gradient, {a} in a and {b} in b",
    "untied": "the gradients of {a} and {b} are added up with those of other uses in one run alone: only there is the "
    "tensor that they use shared",
    "unseen": "{a} makes something else; of what it is given statistics alone were kept, which agree, though single "
    "elements may not",
    "backward rule": "{a} made the same in both runs, and its gradient is computed another way in {b}",
}
"""A sentence for each cause that is known beyond what the two calls were told."""

_NAMED: Final = {
    "only a": "only one",
    "only b": "only one",
    "in place in a": "in place",
    "compiled in a": "compiled",
    "detached in a": "detached",
    "fewer cuts": "detached",
    "fewer cuts in a": "detached",
    "hook in a": "hook",
    "hooks": "hook",
    "redrawn": "random",
    "redrawn in a": "random",
    "unseen": "operand",
}
"""What a person is told as the cause, where that is not its key."""

_MADE: Final = ("dtype", "shape")
"""Facts about what comes out of a call."""


def sentence(when: When, cause: str, a: Side | None, b: Side | None, facts: Sequence[Fact]) -> Told:
    """What to tell of a place where two runs part; pass and lines are told beside it.

    Args:
        when: The pass.
        cause: What is known of the cause.
        a: The node of one run.
        b: That of the other.
        facts: What differs about their calls.
    """
    if a is None or b is None:
        here, there, known = ("b", "a", b) if a is None else ("a", "b", a)
        return Told("only one", f"{here} runs {known.op if known else 'something'}, and {there} does nothing like it")
    made = [fact.name for fact in facts if fact.name in _MADE]
    given = [fact.name for fact in facts if fact.name not in _MADE]
    if cause == "setting":
        return Told(cause, f"{title(a)} runs in b with another {listed(given)} than in a")
    if given and a.op == b.op and cause not in _NAMED:
        return Told(cause, f"{a.op} is given another {listed(given)}")
    if cause in CAUSES:
        told = CAUSES[cause].format(a=title(a), b=title(b), name=a.name or b.name or title(a))
        return Told(_NAMED.get(cause, cause), told)
    if given:
        return Told(cause, f"{title(a)} in a is given another {listed(given)} than {title(b)} in b")
    if a.op != b.op or a.part != b.part:
        return Told("another op", f"a runs {title(a)} where b runs {title(b)}")
    if made:
        return Told(made[0], f"{a.op} makes another {listed(made)}")
    what = "the gradient of " if when == "backward" else ""
    return Told("op", f"{what}{title(a)} is computed another way")


def title(side: Side) -> str:
    """An op, or a part of it: `variance + eps of layer_norm`."""
    if side.part:
        return f"`{side.part}` of {side.op}"
    return side.op if side.op not in ("leaf", "") else side.name or "a tensor"
