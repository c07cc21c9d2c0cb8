"""What hooks a backward node: its row when the cotangent has arrived, and the contributions that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch import control
from graphscope.adapters.torch.identity import Known
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.values import Keeping, log_dtype
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass

if TYPE_CHECKING:
    from graphscope.adapters.torch.backward import Run
    from graphscope.adapters.torch.session import Session

_no_function = torch._C.DisableTorchFunction


class Rule:
    """A backward node: which call made it, and where it stands in the pass that runs. It keeps no node and no tensor."""

    __slots__ = (
        "fields", "forward", "name", "parts", "row", "run", "session", "since", "sources", "targets", "watched",
    )  # fmt: skip

    def __init__(self, session: Session, forward: int, fields: Fields, name: str, since: int = 1 << 63) -> None:
        self.session = session
        self.forward = forward
        self.fields = fields
        self.name = name
        """The node's own name where it is one of several of its call, else empty."""
        self.since = since
        """Torch's number of the first backward node that the same call may have made."""
        self.run: Run | None = None
        self.row = 0
        """Of this pass: its GRAD row, once it is written."""
        self.sources: list[tuple[Rule, int]] = []
        """Of this pass: the nodes whose rules make its cotangent, and which of their results it is."""
        self.parts: list[int] | None = None
        """Of this pass: the rows of the contributions, where there may be several."""
        self.targets: tuple[Rule | None, ...] = ()
        """Of this pass: which of its results go to nodes that several feed."""
        self.watched = False
        """Whether `after` is hooked."""

    def before(self, cotangents: tuple[torch.Tensor | None, ...]) -> Any:
        """The cotangent of the node's output is whole, and its rule has not run."""
        session = self.session
        run = self.run
        place = session.place
        if run is None or run.ended or place.busy:
            return None
        writer = session.writer
        now = run.turn()
        with _no_function():
            parts = self.parts
            sources = self.sources
            if parts is not None:
                edges = parts
            elif sources:
                edges = [
                    source.row | index << SLOT_SHIFT for source, index in sources if source.run is run and source.row
                ]
            else:
                edges = ()  # type: ignore[assignment]
            count = len(edges)
            if len(cotangents) > 1 or count > 3 or cotangents[0] is None:
                row = self._wide(cotangents, edges, now)
                cotangent = next((each for each in cotangents if each is not None), None)
                array = None
            else:
                cotangent = cotangents[0]
                if self.name:
                    keeping = self.fields.gradient(count, cotangent, self.name)
                elif count == 1:
                    keeping = self.fields.single
                else:
                    keeping = self.fields.gradient(count)
                template, array = keeping.read(cotangent)
                row = writer.append(template, array, now, 0, self.forward, *edges)
        self.row = row
        place.backward_row = run.opened = row
        if writer.gate is not None and cotangent is not None:
            replaced = control.ask(session, row, cotangent, array, run.frame)
            if replaced is not None:
                return tuple(replaced if each is cotangent else each for each in cotangents)
        return None

    def _wide(self, cotangents: Any, edges: Any, now: int) -> int:
        session = self.session
        pairs = [(edge & ROW_MASK, edge >> SLOT_SHIFT) for edge in edges]
        if len(cotangents) == 1 and cotangents[0] is not None:
            keeping = self.fields.gradient(len(edges), cotangents[0] if self.name else None, self.name)
            template, value = keeping.read(cotangents[0])
            return session.append_wide(template, value, pairs, now, 0, self.forward)
        known = [each for each in cotangents if each is not None]
        like = known[0] if known else None
        keeping = self.fields.gradient(len(edges), like, self.name, several=len(cotangents) > 1)
        return session.append_slots(keeping.template, list(cotangents), pairs, now, 0, self.forward)

    def after(self, results: tuple[torch.Tensor | None, ...], _: Any) -> Any:
        """The rule has run: what it adds to a cotangent that others add to is a row of its own."""
        session = self.session
        run = self.run
        if run is None or run.ended or session.place.busy:
            return None
        changed: list[Any] | None = None
        with _no_function():
            for index, (target, result) in enumerate(zip(self.targets, results, strict=False)):
                if target is None or result is None or target.parts is None:
                    continue
                replaced = target.receive(result, self.row | index << SLOT_SHIFT, run)
                if replaced is not None:
                    changed = changed or list(results)
                    changed[index] = replaced
        return tuple(changed) if changed is not None else None

    def receive(self, result: torch.Tensor, origin: int, run: Run) -> torch.Tensor | None:
        """Append the row of one of several contributions; what a person puts in its place, if that."""
        session = self.session
        writer = session.writer
        keeping = self.fields.partial(int(origin > 0), result)
        template, array = keeping.read(result)
        row = writer.append(template, array, writer.clock(), 0, self.forward, origin)
        assert self.parts is not None
        self.parts.append(row)
        return control.ask(session, row, result, array, run.frame) if writer.gate is not None else None


class Arrivals:
    """The templates of the rows that tell what was added to a leaf's gradient."""

    __slots__ = ("dtype", "forms", "shape")

    def __init__(self, session: Session, like: torch.Tensor, row: int) -> None:
        self.shape = like.shape
        self.dtype = like.dtype
        writer = session.writer
        self.forms = {
            (flag, count): Keeping(
                writer.template(
                    Kind.ACCUMULATE,
                    shape=tuple(like.shape),
                    dtype=log_dtype(like.dtype),
                    graph_pass=Pass.BACKWARD,
                    input_count=count,
                    flags=flag,
                )
            )
            for flag in (Flag(0), Flag.FRESH)
            for count in (0, 1)
        }


class LeafRule(Rule):
    """The end of a way back: what arrives is added to the gradient of a leaf."""

    __slots__ = ("known",)

    known: Known

    def before(self, cotangents: tuple[torch.Tensor | None, ...]) -> Any:
        """The sum of what arrived for the leaf is about to be added to its gradient."""
        session = self.session
        run = self.run
        result = cotangents[0]
        if run is None or run.ended or session.place.busy or result is None:
            return None
        run.turn()
        run.opened = 0
        if self.parts:
            return None  # each contribution has a row already
        origin = 0
        for source, index in self.sources:
            if source.run is run and source.row:
                origin = source.row | index << SLOT_SHIFT
        with _no_function():
            replaced = self.receive(result, origin, run)
        return None if replaced is None else (replaced,)

    def receive(self, result: torch.Tensor, origin: int, run: Run) -> torch.Tensor | None:
        """Append the row of a contribution to the leaf's gradient."""
        session = self.session
        writer = session.writer
        known = self.known
        leaf = known()
        if leaf is None:
            return None
        if known.row < writer.low:
            session.leaves.leaf(leaf, run.frame, None, known)
        more = known.extended()
        arrivals = more.arrivals
        if arrivals is None or arrivals.shape != result.shape or arrivals.dtype is not result.dtype:
            arrivals = more.arrivals = Arrivals(session, result, known.row)
        fresh = not self.parts and (leaf.grad is None or more.zeroed)
        more.zeroed = False
        keeping = arrivals.forms[Flag.FRESH if fresh else Flag(0), int(origin > 0)]
        template, array = keeping.read(result)
        row = writer.append(template, array, writer.clock(), 0, known.row & ROW_MASK, origin)
        more.accumulated = row
        if self.parts is not None:
            self.parts.append(row)
        return control.ask(session, row, result, array, run.frame) if writer.gate is not None else None
