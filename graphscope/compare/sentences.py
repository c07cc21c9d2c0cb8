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


class Cause(NamedTuple):
    """Why two runs part, as far as it is known beyond what the two calls were told."""

    name: str
    """A key of CAUSES, or what a person is told as the cause."""
    run: str = ""
    """`a` or `b`, of what that run does alone."""


CAUSES: Final[dict[str, str]] = {
    "initialisation": "{name} holds other numbers from the start: it was made, written or loaded in another way",
    "input": "{name} holds other numbers from the start: the two runs were given other data",
    "random": "{a} draws random numbers, and drew others: other numbers were drawn ahead of it, or the seed is another",
    "redrawn": "{mine} draws other random numbers where backward computes it again in {run}, and does not in {other}",
    "edited": "what {a} made was changed by hand, and the program went on with that",
    "edited gradient": "the gradient that came to {a} was changed by hand, and the program went on with that",
    "operand": "{a} is given another tensor",
    "swapped": "{a} is given the same tensors in another order",
    "another order": "both sides hold the same numbers here, and {b} lays them out in another order than {a}",
    "in place": "{run} goes on with a tensor that {mine} has written into, where {other} goes on with what "
    "it was before",
    "compiled": "{mine} was compiled of what {other} runs op by op from {its} on, and makes something else of the same",
    "mask": "{a} leaves out other elements than {b}",
    "only one": "{run} does one thing more than {other}: {mine}",
    "detached": "a gradient flows back through {its} in {other}, and the way is cut off at {mine} in {run}",
    "fewer cuts": "{its} cuts gradients off in {other} as {mine} does in {run}, but one more is cut off in {run} and "
    "flows back in {other}",
    "hook": "a hook changes the gradient of {its} in {run} ({mine}), and none does in {other}",
    "hooks": "hooks of both change this gradient, {a} in a and {b} in b",
    "untied": "the gradients of {a} and {b} are added up with those of other uses in one run alone: only there is the "
    "tensor that they use shared",
    "unseen": "{a} makes something else; of what it is given statistics alone were kept, which agree, though single "
    "elements may not",
    "backward rule": "{a} made the same in both runs, and its gradient is computed another way in {b}",
}
"""A sentence for each cause that is known beyond what the two calls were told: of the nodes `a` and `b`, and of what
one run does alone of that `run` and its node, `mine`, and of the `other` and `its`.
"""

_NAMED: Final = {
    "edited gradient": "edited",
    "fewer cuts": "detached",
    "hooks": "hook",
    "redrawn": "random",
    "unseen": "operand",
}
"""What a person is told as the cause, where that is not its name."""

_MADE: Final = ("dtype", "shape")
"""Facts about what comes out of a call."""


def sentence(when: When, cause: Cause, a: Side | None, b: Side | None, facts: Sequence[Fact]) -> Told:
    """What to tell of a place where two runs part; pass and lines are told beside it.

    Args:
        when: The pass.
        cause: What is known of it.
        a: The node of one run.
        b: That of the other.
        facts: What differs about their calls.
    """
    if a is None or b is None:
        here, there, known = ("b", "a", b) if a is None else ("a", "b", a)
        return Told("only one", f"{here} runs {known.op if known else 'something'}, and {there} does nothing like it")
    made = [fact.name for fact in facts if fact.name in _MADE]
    given = [fact.name for fact in facts if fact.name not in _MADE]
    name = _NAMED.get(cause.name, cause.name)
    if name == "setting":
        return Told(name, f"{title(a)} runs in b with another {listed(given)} than in a")
    if given and a.op == b.op and not cause.run and cause.name not in _NAMED:
        return Told(name, f"{a.op} is given another {listed(given)}")
    if cause.name in CAUSES:
        other, mine, its = ("b", a, b) if cause.run == "a" else ("a", b, a)
        named = {"a": title(a), "b": title(b), "mine": title(mine), "its": title(its)}
        said = CAUSES[cause.name].format(**named, run=cause.run, other=other, name=a.name or b.name or title(a))
        return Told(name, said)
    if given:
        return Told(name, f"{title(a)} in a is given another {listed(given)} than {title(b)} in b")
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
