"""The graph that a backward pass is about to run: every node gets a rule, and the rules learn who feeds whom."""

from __future__ import annotations

import bisect
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final

import torch
from torch.autograd.graph import get_gradient_edge

from graphscope.adapters.torch import compiled
from graphscope.adapters.torch.rules import Rule, Run, leaf_rule
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.supported_versions import unseen
from graphscope.adapters.torch.tensor_properties import grad_fn, requires_grad
from graphscope.eventlog.schema import Kind

if TYPE_CHECKING:
    from graphscope.adapters.torch.session import Session

_sequence: Final = torch._C._autograd._get_sequence_nr
NAMES: Final[dict[str, str]] = {}
"""The ops that backward nodes are named after, as far as they were met."""
_RUNS: Final = 256
"""So many passes are remembered whose rules made backward nodes of their own."""


def leaf_class() -> type:
    """The class of the backward nodes of leaves."""
    with unseen(), torch.enable_grad():
        leaf = torch.zeros((), requires_grad=True)
        return type(leaf.view(()).grad_fn.next_functions[0][0])  # type: ignore[union-attr]


class Walk:
    """Hooks the nodes behind the roots of a pass."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._unrecorded: Fields | None = None
        self._born: deque[list[tuple[int, int, Fields]]] = deque(maxlen=_RUNS)
        self.leaf_class = leaf_class()
        self._leaves = self.leaf_class, session.identities.table, session.no_fields, NAMES

    def remember(self, run: Run) -> None:
        """Note which rules of a pass may have made backward nodes of their own (`create_graph`)."""
        if run.creating:
            self._born.append([*run.creating, (_sequence(), *run.creating[-1][1:])])

    def prepare(self, run: Run, outputs: Any, cotangents: Any) -> None:
        """Walk the graph from its roots: a rule for each node, and who feeds whom in this pass."""
        # Wrappers of nodes are made anew unless somebody holds them: while we walk, `rules` does.
        rules: dict[Any, Rule] = {}
        nodes = [_node(each) for each in outputs]
        run.held = [node for node in nodes if node is not None]  # that of a leaf would be made anew
        try:
            compiled.walk(run.held, rules, run, self.session, self.session.writer.base, self.rule, self._leaves)
        finally:
            run.rules = list(rules.values())
        for node, cotangent in zip(nodes, cotangents, strict=False):
            if node is not None and rules[node].parts is not None and isinstance(cotangent, torch.Tensor):
                rules[node].receive(cotangent, 0, run)

    def rule(self, run: Run, node: Any, above: Rule | None) -> Rule:
        """The rule of a node, ready for a pass; made where the node has none yet."""
        rule: Rule | None = compiled.rule_of(node)
        session = self.session
        if rule is None or rule.session is not session or not (rule.used or rule.forward >= session.writer.base):
            leaf = node.__class__ is self.leaf_class
            rule = self._leaf_rule(run, node) if leaf else self._inner_rule(node, above)
            node.register_prehook(rule)
        rule = rule.in_pass(node, run)
        rule.used = True
        rule.ready(run)
        return rule

    def _leaf_rule(self, run: Run, node: Any) -> Rule:
        session = self.session
        leaf = node.variable
        known = session.identities.find(leaf) or session.leaves.leaf(leaf, run.frame)
        return leaf_rule(session, known)

    def _inner_rule(self, node: Any, above: Rule | None) -> Rule:
        """The rule of a node that no row is linked to: one of several of a call, or born in an earlier pass."""
        number = node._sequence_nr()
        name = op_name(node.name())
        if above is not None and number >= above.since:
            return Rule(self.session, above.forward, above.fields, above.since, name, above.main or above)
        for born in reversed(self._born):
            if born[0][0] <= number < born[-1][0]:
                at = bisect.bisect_right(born, number, key=lambda entry: entry[0]) - 1
                _, row, fields = born[at]
                return Rule(self.session, row, fields, born[at][0], name)
        return Rule(self.session, self._unknown(name), self._fields(), name=name)

    def _unknown(self, name: str) -> int:
        """A row for what was computed before the recording began, of which only a backward node is left."""
        writer = self.session.writer
        template = writer.template(
            Kind.OP, op=self.session.op_number(name, "Computed before the recording began, or by no call that is seen.")
        )
        return writer.append(template, None, writer.clock())

    def _fields(self) -> Fields:
        if self._unrecorded is None:
            base = {"op": 0, "site": 0, "scope": 0, "shape": (), "dtype": None, "attrs": 0}
            self._unrecorded = Fields(self.session, "", base)
        return self._unrecorded


def _node(output: Any) -> Any:
    """The node that a pass begins at; None where torch is about to say that there is none."""
    if isinstance(output, torch.Tensor):
        found = grad_fn(output)
        return get_gradient_edge(output).node if found is None and requires_grad(output) else found
    return getattr(output, "node", None)


def op_name(node: str) -> str:
    """The op that a backward node is named after: `LogSoftmaxBackward0` is that of `log_softmax`."""
    found = NAMES.get(node)
    if found is None:
        name = re.sub(r"Backward\d*$", "", node.rpartition("::")[2])
        found = NAMES[node] = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower() or node
    return found
