"""Why an op, or its rule, gave NaN or Inf."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import where
from graphscope.diagnose.gradients.flow import op_of
from graphscope.diagnose.values.backward_hazards import BACKWARD, SINGULAR
from graphscope.diagnose.values.forward_hazards import FORWARD, hazards_of
from graphscope.diagnose.values.hazards import (
    HANDED_ON,
    SAFE_COUNT,
    SAFE_DATA,
    SAFE_INFINITY,
    Birth,
    Given,
    birth,
    filled,
)
from graphscope.diagnose.values.numbers import Numbers, numbers_of, operand_numbers
from graphscope.diagnose.values.unrecorded_births import CURE, LEFT_OUT, left_out, unrecorded_birth
from graphscope.eventlog.schema import Flag
from graphscope.graph.faults import is_finite

if TYPE_CHECKING:
    from graphscope.graph import Node


def born_forward(node: Node) -> Birth:
    """Why an op made a non-finite value of finite operands."""
    if node.op == UNSEEN:
        return written_unseen(node)
    given = _given(node)
    told = birth(hazards_of(FORWARD, node.op), given) or _of_any_op(given)
    return _masked(node, _of_probabilities(node, told))


UNSEEN: Final = "changed"
"""What a tensor is after a write that no recorded call made."""


def written_unseen(node: Node) -> Birth:
    """Why a tensor holds what no recorded call has written."""
    every = int(node.graph.log.metadata.get("every", 1))
    if every == 1:
        cure = "look for who writes into its memory: NumPy, which may share it, or a library in C"
        return Birth("unseen write", "it was written by no call that is recorded", cure)
    found = unrecorded_birth(node.graph, node)
    seen = "" if found is None else f", and the loss of {found.title} was the first that is not finite"
    return Birth(LEFT_OUT, f"it was written in a training step that {left_out(every)}{seen}", CURE)


_LOGARITHMS: Final = {"softmax": "log_softmax", "sigmoid": "logsigmoid"}


def _of_probabilities(node: Node, found: Birth) -> Birth:
    """The same; of probabilities that became 0, there is an op that takes the logarithm with them."""
    if found.cause != "log of zero" or node.op != "log" or not node.inputs:
        return found
    source = node.inputs[0].source
    rest = _rest_of_one(source)
    made = source if rest is None else rest
    safe = _LOGARITHMS.get(made.op)
    if safe is None or (rest is not None and made.op != "sigmoid"):
        return found
    if rest is None:
        return found._replace(cure=f"take {safe} of what {made.op} is given, in place of log({made.op}(x))")
    why = f"{found.why}, as sigmoid{where(made)} is exactly 1"
    return found._replace(
        why=why, cure="take logsigmoid(-x) in place of log(1 - sigmoid(x)), of the x that it is given"
    )


def _rest_of_one(node: Node) -> Node | None:
    """What `1 - p` is made of."""
    constants = [each.constant for each in node.operands if not each.edge]
    return node.inputs[0].source if node.op in ("rsub", "sub") and constants[:1] == [1] and node.inputs else None


def born_backward(node: Node, rule: Node | None, made: Node) -> Birth:
    """Why the rule of an op made a non-finite gradient of a finite one.

    Args:
        node: The op.
        rule: The backward node that its rule ran at.
        made: The gradient.
    """
    given = _given(node, rule, made)
    told = birth(hazards_of(BACKWARD, node.op), given) or _of_any_rule(given)
    no_infinity = given.made.infinite().some is False  # infinite slopes times 0: nothing was to flow through them
    return _masked(node, told) if no_infinity and hazards_of(SINGULAR, node.op) else told


def is_singular(node: Node) -> bool:
    """Whether the rule of an op has no finite slope where its operands are, however small the gradient."""
    given = _given(node)
    return any(hazard.where(given).some for hazard in hazards_of(SINGULAR, node.op))


def largest(node: Node) -> float | None:
    """The largest magnitude of what an op, or a rule, was given; None where nothing of it was kept."""
    rules = [edge.source for edge in node.inputs if edge.source.kind == "grad"]
    given = [] if node.kind != "op" else [operand_numbers(each) for each in node.operands]
    for rule in rules:
        given += [numbers_of(rule), *(operand_numbers(each) for each in op_of(rule).operands)]
    return max((float(each.magnitude) for each in given if each.magnitude == each.magnitude), default=None)


def _given(node: Node, rule: Node | None = None, made: Node | None = None) -> Given:
    operands = [operand_numbers(each) for each in node.operands if each.edge or _is_number(each.constant)]
    if node.op == "multi_head_attention_forward":  # its masks are no operands
        operands = [numbers_of(edge.source, edge.slot) for edge in node.inputs]
    out = numbers_of(node)
    g = Numbers() if rule is None else numbers_of(rule)
    attributes = node.arguments.attributes
    return Given(node.op.rstrip("_"), operands, out, out if made is None else numbers_of(made), g, attributes)


def _is_number(constant: object) -> bool:
    return isinstance(constant, int | float) and not isinstance(constant, bool)


_HIDING: Final = frozenset({"where", "masked_fill", "nan_to_num", "getitem", "index", "masked_select", "index_select"})
_MOST_USERS: Final = 200
_SAFE_WHERE: Final = "choose before {op}, not after it: take {op} of torch.where(mask, x, 1.0)"
_SAFE_WHERES: Final = {
    **dict.fromkeys(
        ("exp", "exp2", "expm1", "sinh", "cosh", "square", "asin", "acos", "atanh", "erfinv"),
        _SAFE_WHERE.replace("1.0", "0.0"),
    ),
    **dict.fromkeys(("acosh", "arccosh"), _SAFE_WHERE.replace("1.0", "2.0")),
    **dict.fromkeys(("logit", "ndtri"), _SAFE_WHERE.replace("1.0", "0.5")),
    **dict.fromkeys(
        ("div", "true_divide", "divide", "fmod", "remainder"),
        "choose before {op}, not after it: divide by torch.where(mask, divisor, 1.0)",
    ),
}
"""With a number that the op can take, and its rule as well."""


def _masked(node: Node, found: Birth) -> Birth:
    """The same; where `where`, `masked_fill` or an index hides all that the op made, that is what to change."""
    if found.cause == "data" or not _is_hidden(node):
        return found
    why = f"{found.why}, and what hides it afterwards can't keep it out of the gradient"
    given = _given(node)
    return Birth(f"masked {found.cause}", why, filled(_SAFE_WHERES.get(given.op, _SAFE_WHERE), given))


def _is_hidden(node: Node) -> bool:
    """Whether all that was computed of a non-finite value, as far as it goes, ends where something takes it out.

    What is finite itself, as a root of 0 is, must be hidden by all who use it.
    """
    if is_finite(node):
        users = _users(node)
        return bool(users) and all(user.op.rstrip("_") in _HIDING for user in users)
    waiting, seen, ended = [node], {node.row}, False
    while waiting and len(seen) < _MOST_USERS:
        users = _users(waiting.pop())
        if not users:  # it is what the loss is
            return False
        for user in users:
            if user.row in seen:
                continue
            seen.add(user.row)
            if not is_finite(user):
                if user.shape != node.shape:  # it is mixed with others, which nothing can take apart
                    return False
                waiting.append(user)
            elif user.op.rstrip("_") not in _HIDING:
                return False
            else:
                ended = True
    return ended


def _users(node: Node) -> list[Node]:
    """What was computed of a node on the way to a loss; a message that is printed, or a test, is not."""
    found = (edge.target for edge in node.users)
    learns = (each for each in found if each.graph_pass == "forward" and each.flags & Flag.REQUIRES_GRAD)
    return list(islice(learns, _MOST_USERS))


def _of_any_op(given: Given) -> Birth:
    """What can be said of any op."""
    op = given.op
    if any(each.nan().some for each in given.operands):
        return Birth("data", f"{op} was given nan by the program", SAFE_DATA)
    if any(not each.count for each in given.operands):
        return Birth("mean of nothing", f"{op} was given nothing: its input has no elements", SAFE_COUNT)
    if given.infinite().some:
        return Birth(HANDED_ON, f"{op} was given an infinity", SAFE_INFINITY)
    why, cure = f"{op} has no finite result for what it was given ({given.sizes})", _UNDEFINED
    kind = "undefined" if given.made.nan().some else "no finite result"
    return Birth(f"overflow or {kind}" if _is_large(given) else kind, why, cure)


def _of_any_rule(given: Given) -> Birth:
    """What can be said of any rule."""
    if given.infinite().some:
        why = f"the rule of {given.op} computes with an infinity that the op was given"
        return Birth(HANDED_ON, why, SAFE_INFINITY)
    why = f"the rule of {given.op} has no finite gradient for what it was given ({given.sizes})"
    return Birth("overflow or no finite slope" if _is_large(given) else "no finite slope", why, _UNDEFINED)


def _is_large(given: Given) -> bool:
    """Whether something that it was given is so large that computing with it may overflow: exp of it may."""
    return any(each.magnitude > np.log(given.limit) / 2 for each in (*given.operands, given.g))


_UNDEFINED: Final = "keep its input away from where it has no finite value or slope: 0, ends of its domain, huge ones"
