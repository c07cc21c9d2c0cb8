"""The backward pass: the nodes that autograd is about to run are hooked, each with the call that made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from sys import _getframe
from types import FrameType
from typing import Any, Final

import torch
from torch.autograd import graph as autograd_graph

from graphscope.adapters.torch.forward import Calls
from graphscope.adapters.torch.rules import LeafRule, Rule
from graphscope.adapters.torch.session import LINK, RULE, Session
from graphscope.adapters.torch.sites import Fields
from graphscope.eventlog.places import site_number
from graphscope.eventlog.schema import Kind, Pass
from graphscope.eventlog.writer import Writer

ENTRY: Final = "_engine_run_backward"
"""Everything that starts the engine from Python goes through this function (private)."""


class Run:
    """One run of the engine."""

    __slots__ = ("began", "ended", "frame", "opened", "writer")

    def __init__(self, writer: Writer, frame: FrameType) -> None:
        self.writer = writer
        self.frame = frame
        """The program's frame that asked for gradients."""
        self.ended = False
        self.opened = 0
        """The GRAD row whose rule runs now, or 0."""
        self.began = 0

    def turn(self) -> int:
        """Another node is about to run: the last one took until now."""
        writer = self.writer
        if self.opened:
            now = writer.finish(self.opened, self.began)
            self.opened = 0
        else:
            now = writer.clock()
        self.began = now
        return now


class Backward:
    """Follows the runs of the engine."""

    def __init__(self, session: Session, calls: Calls) -> None:
        self._session = session
        self._calls = calls
        self._marks: dict[Any, Any] = {}
        self._before: Fields | None = None

    def entries(self) -> Iterator[tuple[Any, str]]:
        """Where the engine's entry is found: the function, and the name it was imported by."""
        for module in (autograd_graph, torch.autograd):
            if ENTRY in module.__dict__:
                yield module, ENTRY

    def wrapped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The entry, with a recorded pass around it."""
        session = self._session
        place = session.place

        def _engine_run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            if session.ended or place.busy or place.run is self:
                return original(outputs, *args, **kwargs)
            writer = session.writer
            frame = session.frames.user(_getframe(1))
            outer = (place.context, place.backward_row, place.run)
            run = Run(writer, frame)
            with torch._C.DisableTorchFunction():
                start = self._roots(outputs)
                self._mark(Kind.BACKWARD_BEGIN, frame, start)
                self._prepare(run, outputs, args[0] if args else ())
            place.context = place.context.turned()
            place.run = run
            self._calls.__enter__()
            try:
                result = original(outputs, *args, **kwargs)
            finally:
                self._calls.__exit__(None, None, None)
                run.turn()
                run.ended = True
                place.context, place.backward_row, place.run = outer
                self._mark(Kind.BACKWARD_END, frame, start)
            return result

        return _engine_run_backward

    def _roots(self, outputs: Any) -> list[int]:
        """The rows that a pass begins at."""
        found = []
        for each in outputs:
            if isinstance(each, torch.Tensor):
                known = self._session.identities.find(each)
                if known is not None:
                    found.append(known.row)
        return found

    def _mark(self, kind: Kind, frame: FrameType, start: list[int]) -> None:
        writer = self._session.writer
        count = min(len(start), 3)
        key = (kind, id(frame.f_code), frame.f_lasti, count, self._session.place.context)
        template = self._marks.get(key)
        if template is None:
            site = site_number(writer, frame)
            template = writer.template(kind, site=site, graph_pass=Pass.BACKWARD, input_count=count)
            self._marks[key] = template
        writer.append(template, None, writer.clock(), 0, 0, *start[:3])

    # The graph -------------------------------------------------------------------------------------------------------

    def _prepare(self, run: Run, outputs: Any, cotangents: Any) -> None:
        """Walk the graph from its roots: a rule for each node, and who feeds whom in this pass."""
        # Wrappers of nodes are made anew unless somebody holds them: while we walk, all are held.
        rules: dict[Any, Rule | None] = {}
        roots: list[tuple[Rule, Any]] = []
        waiting: list[Any] = []
        for number, each in enumerate(outputs):
            node = each.grad_fn if isinstance(each, torch.Tensor) else each.node
            if node is None:
                continue
            if node not in rules:
                rules[node] = self._rule(run, node, None)
                waiting.append(node)
            rule = rules[node]
            if rule is not None and number < len(cotangents):
                roots.append((rule, cotangents[number]))
        order: list[tuple[Rule, Any]] = []
        while waiting:
            node = waiting.pop()
            rule = rules[node]
            if rule is None:
                continue
            edges = node.next_functions
            order.append((rule, node))
            targets = []
            for index, (target, _) in enumerate(edges):
                if target is None:
                    targets.append(None)
                    continue
                if target in rules:
                    found = rules[target]
                else:
                    found = rules[target] = self._rule(run, target, rule)
                    waiting.append(target)
                if found is not None:
                    found.sources.append((rule, index))
                targets.append(found)
            rule.targets = tuple(targets)
        self._watch(order, roots, run)

    def _watch(self, order: list[tuple[Rule, Any]], roots: list[tuple[Rule, Any]], run: Run) -> None:
        """Hook the results of the nodes that feed one that others feed, too."""
        starts = [rule for rule, _ in roots]
        for rule, node in order:
            alone = True
            for target in rule.targets:
                if target is not None and (len(target.sources) > 1 or target in starts):
                    if target.parts is None:
                        target.parts = []
                    alone = False
            if not alone and not rule.watched:
                node.register_hook(rule.after)
                rule.watched = True
        for rule, cotangent in roots:
            if rule.parts is not None and isinstance(cotangent, torch.Tensor):
                rule.receive(cotangent, 0, run)

    def _rule(self, run: Run, node: Any, above: Rule | None) -> Rule | None:
        """The rule of a node, ready for a pass; made and hooked where the node has none yet."""
        metadata = node.metadata
        rule: Rule | None = metadata.get(RULE)
        if rule is None or rule.session is not self._session:
            rule = self._leaf_rule(run, node) if hasattr(node, "variable") else self._node_rule(node, metadata, above)
            if rule is None:
                return None
            metadata[RULE] = rule
            node.register_prehook(rule.before)
        rule.run = run
        rule.row = 0
        rule.sources = []
        rule.parts = None
        return rule

    def _leaf_rule(self, run: Run, node: Any) -> Rule:
        session = self._session
        leaf = node.variable
        known = session.identities.find(leaf) or session.leaves.leaf(leaf, run.frame)
        rule = LeafRule(session, known.row, None, "")  # type: ignore[arg-type]
        rule.known = known
        return rule

    def _node_rule(self, node: Any, metadata: dict[str, Any], above: Rule | None) -> Rule:
        link = metadata.get(LINK)
        if link is not None and link[0] >= self._session.writer.base:
            return Rule(self._session, link[0], link[1], "", link[2])
        name = node.name()
        if above is not None and above.fields is not None and node._sequence_nr() >= above.since:
            rule = Rule(self._session, above.forward, above.fields, name, above.since)
        else:
            rule = Rule(self._session, self._unknown(name), self._unrecorded(), name)
        return rule

    def _unknown(self, name: str) -> int:
        """A row for what was computed before the recording began, of which only a backward node is left."""
        writer = self._session.writer
        entry = {"name": name, "formula": "", "doc": "Computed before the recording began.", "vjp": [], "inputs": []}
        template = writer.template(Kind.OP, op=writer.intern("ops", name, entry))
        return writer.append(template, None, writer.clock())

    def _unrecorded(self) -> Fields:
        if self._before is None:
            writer = self._session.writer
            entry = {
                "name": "unrecorded",
                "formula": "",
                "doc": "Computed before the recording began.",
                "vjp": [],
                "inputs": [],
            }
            base = {
                "op": writer.intern("ops", "unrecorded", entry),
                "site": 0,
                "scope": 0,
                "shape": (),
                "dtype": None,
                "attrs": 0,
            }
            self._before = Fields(writer, "", base)
        return self._before
