"""What hooks a backward node: its row when the cotangent has arrived, and the contributions that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from graphscope.adapters.torch import compiled, control, devices, remote_values, slots, tensor_base
from graphscope.adapters.torch.dtypes import log_dtype
from graphscope.adapters.torch.known_tensors import Known
from graphscope.adapters.torch.recorder_errors import guarded
from graphscope.adapters.torch.sites import Fields
from graphscope.adapters.torch.tensor_properties import shape_of
from graphscope.adapters.torch.values import Keeping
from graphscope.eventlog.schema import ROW_MASK, SLOT_SHIFT, Flag, Kind, Pass

if TYPE_CHECKING:
    from types import FrameType

    from graphscope.adapters.torch.context import Place
    from graphscope.adapters.torch.session import Session
    from graphscope.eventlog.writer import Writer

_sequence = torch._C._autograd._get_sequence_nr

NEVER = (1 << 63) - 1
"""No backward node has a number so high."""


@compiled.given_to(compiled.Run)
class Run:
    """One run of the engine."""

    place: Place
    writer: Writer
    opened: int
    """The GRAD row whose rule runs now, or 0."""
    began: int
    creating: list[tuple[int, int, Fields]] | None
    """With `create_graph`: torch's number of the next backward node when a rule began, its row, and its fields."""

    def __init__(self, writer: Writer, frame: FrameType, place: Place) -> None:
        place.thread = place.thread or writer.thread()
        self.place = place
        self.writer = writer
        self.append = writer.append
        self.frame = frame
        """The program's frame that started the pass."""
        self.rules: list[Rule] = []
        self.held: list[Any] = []
        self.start: list[int] = []
        """The rows that the pass begins at, as far as its marks tell of them."""
        self.marks: Any = None
        """The templates of its marks: where it begins, and where it ends."""
        self.opened = 0
        self.began = 0
        self.event = 0
        """Where that began on a CUDA device, as compiled code measures it."""
        self.timer: devices.Measuring | None = None
        """Measures the rule that runs, where an accelerator runs it."""
        self.creating = None

    def end(self) -> None:
        """Hold nothing of the program any more, nor of the graph."""
        compiled.settle(self.rules, self)
        self.rules = []
        self.held = []
        del self.frame

    def turn(self) -> int:
        """Another node is about to run: the last one took until now."""
        writer = self.writer
        timer, self.timer = self.timer, None
        event, self.event = self.event, 0
        if event:
            remote_values.took(self.opened, event)
        if self.opened:
            now = writer.finish(self.opened, self.began, None if timer is None else timer.stop())
            self.place.took(self.opened)
            self.opened = 0
        else:
            now = writer.clock()
        self.began = now
        return now


@compiled.given_to(compiled.Rule)
class Rule:
    """A backward node: which call made it, and where it stands in the pass that runs. It keeps no node alive.

    That of a leaf, which has no call, is the end of a way back: what arrives is added to the leaf's gradient.
    """

    if TYPE_CHECKING:

        def ready(self, run: Run | None) -> None: ...

    run: Run | None
    row: int
    """Of this pass: its GRAD row, once it is written."""
    sources: list[tuple[Rule, int]] | None
    """Of this pass: the nodes whose rules make its cotangent, and the slot of theirs that it is, shifted."""
    parts: list[int] | None
    """Of this pass: the rows of the contributions, where there may be several."""
    targets: list[tuple[int, Rule]] | None
    """Of this pass: its results that go to nodes which several feed."""
    used: bool
    """Whether it was part of a pass."""
    watched: bool
    """Whether it is called after its node, too."""
    others: list[Rule] | None
    """Those that stand for it in passes that ran while it was part of another: within that, or in other threads."""

    def __init__(
        self,
        session: Session,
        forward: int,
        fields: Fields,
        since: int = NEVER,
        name: str = "",
        main: Rule | None = None,
        known: Known | None = None,
    ) -> None:
        self.session = session
        self.forward = forward
        """The row of the call that made the node."""
        self.fields = fields
        self.since = since
        """Torch's number of the first backward node that the same call may have made."""
        self.name = name
        """What a node is called that is not the call's own: one of several, or born in an earlier pass."""
        self.main = main
        """The call's own rule: its row is the one that such a node is part of."""
        self.used = self.watched = False
        self.known = known
        """The leaf that it is the rule of."""
        self.others = None
        self.ready(None)

    def __reduce__(self) -> tuple[Any, ...]:
        """The hooks among which it stands are copied or pickled: nothing takes its place."""
        return type(None), ()

    def in_pass(self, node: Any, run: Run) -> Rule:
        """The rule of its node in a pass: one that stands for it where a pass runs that it is part of."""
        if self.run is None or self.run is run:
            return self
        if not self.watched:  # called for all of them
            node.register_hook(self)
            self.watched = True
        self.others = self.others or []
        found = next((each for each in self.others if each.run is None), None)
        if found is None:
            found = Rule(self.session, self.forward, self.fields, self.since, self.name, self.main, self.known)
            found.watched = True
            self.others.append(found)
        return found

    def due(self) -> Rule | None:
        """Of itself and those that stand for it, the one in the pass that runs the node now; None where none is."""
        run = self.session.places.here.run
        rules = [self, *(self.others or ())]
        if run is None:  # a thread of the engine's, which does not say whose pass it runs
            return next((each for each in rules if each.run is not None), None)
        return next((each for each in rules if each.run is run), None)

    @guarded
    def before(self, cotangents: tuple[torch.Tensor | None, ...]) -> Any:
        """The cotangent of the node's output is whole, and its rule has not run."""
        run = self.run
        if run is None or run.place.busy:
            return None
        writer = run.writer
        now = run.turn()
        cotangent = cotangents[0]
        if self.known is not None:
            return _before_leaf(self, run, cotangent)
        sources = self.sources or ()
        if self.parts is None and len(sources) == 1 and cotangent is not None and len(cotangents) == 1:
            source, slot = sources[0]
            fields = self.fields.of(run.place.thread)
            keeping = fields.single
            if self.name or not keeping.fits(cotangent):
                keeping = fields.gradient(1, cotangent, self.name)
            template, value = keeping.read(cotangent)
            row = writer.append(template, value, now, 0, self.owner(), source.row | slot)
        else:
            row = self._arrived(run, cotangents, self.origins(run), now)
        self.row = row
        run.place.backward_row = run.opened = row
        if run.creating is not None:
            run.creating.append((_sequence(), row, self.fields))
        if self.session.remote:
            run.timer = devices.timer(cotangents, run.place)
        if writer.gate is not None:
            for slot, each in enumerate(cotangents):
                if each is not None:  # the first one is what a debugger shows
                    replaced = control.ask(self.session, row, each, None, run.frame)
                    if replaced is not None:
                        return (*cotangents[:slot], replaced, *cotangents[slot + 1 :])
                    break
        return None

    def owner(self) -> int:
        """The row that this one belongs to: the call's, or that of the call's own rule."""
        main = self.main
        return main.row if main is not None and main.run is self.run and main.row else self.forward

    def origins(self, run: Run) -> list[int]:
        """The rows that the cotangent came from, with their slots."""
        if self.parts is not None:
            return self.parts
        return [source.row | slot for source, slot in self.sources or () if source.run is run and source.row]

    def _arrived(self, run: Run, cotangents: Any, origins: list[int], now: int) -> int:
        """The row of a node at which the pass begins, which several feed, or which has several slots."""
        session, fields = self.session, self.fields.of(run.place.thread)
        count = len(origins)
        if len(cotangents) == 1:
            cotangent = cotangents[0]
            keeping = fields.gradient(count, cotangent, self.name)
            template, value = (keeping.unkept, None) if cotangent is None else keeping.read(cotangent)
            return session.writer.append_many(template, value, origins, now, 0, self.owner())
        like = next((each for each in cotangents if each is not None), None)
        keeping = fields.gradient(count, like, self.name, several=True)
        return slots.append(session, keeping, list(cotangents), origins, now, 0, self.owner())

    @guarded
    def after(self, results: tuple[torch.Tensor | None, ...], _: Any) -> Any:
        """The rule has run: what it adds to a cotangent that others add to is a row of its own."""
        run = self.run
        if run is None or run.place.busy:
            return None
        changed: list[Any] | None = None
        for index, target in self.targets or ():
            result = results[index]
            if result is None:
                continue
            replaced = target.receive(result, self.row | index << SLOT_SHIFT, run)
            if replaced is not None:
                changed = changed or list(results)
                changed[index] = replaced
        return tuple(changed) if changed is not None else None

    @guarded
    def receive(self, result: torch.Tensor, origin: int, run: Run) -> torch.Tensor | None:
        """Append the row of one of several contributions; what a person puts in its place, if that."""
        session, writer, known, forward = self.session, self.session.writer, self.known, self.forward
        keeping: Keeping | None
        if known is None:
            keeping = self.fields.of(run.place.thread).partial(int(origin > 0), result)
        else:
            keeping = _form_of_leaf(self, known, run, result, origin)
            forward = known.row & ROW_MASK
        if keeping is None:
            return None
        template, value = keeping.read(result)
        row = writer.append(template, value, writer.clock(), 0, forward, origin)
        if known is not None:
            known.extended().accumulated = row
        if self.parts is not None:
            self.parts.append(row)
        return control.ask(session, row, result, None, run.frame) if writer.gate is not None else None


class Arrivals:
    """The templates of the rows that tell what was added to the gradients of leaves of one kind by one thread."""

    __slots__ = ("added", "dtype", "first", "fresh", "shape", "thread")

    def __init__(self, session: Session, shape: tuple[int, ...], dtype: torch.dtype, thread: int) -> None:
        self.shape, self.dtype, self.thread = shape, dtype, thread
        self.fresh = self._form(session, Flag.FRESH, 1)
        self.added = self._form(session, Flag(0), 1)
        self.first = self._form(session, Flag.FRESH, 0), self._form(session, Flag(0), 0)
        """Of a leaf that the pass begins at."""

    def _form(self, session: Session, flags: Flag, count: int) -> Keeping:
        template = session.writer.template(
            Kind.ACCUMULATE,
            shape=self.shape,
            dtype=log_dtype(self.dtype),
            graph_pass=Pass.BACKWARD,
            input_count=count,
            flags=flags,
            thread=self.thread,
        )
        form = Keeping(template)
        form.shape, form.dtype = torch.Size(self.shape), self.dtype
        return form


def leaf_rule(session: Session, known: Known) -> Rule:
    """The rule of the node that adds to the gradient of a leaf."""
    return Rule(session, known.row, session.no_fields, known=known)


def _before_leaf(rule: Rule, run: Run, result: torch.Tensor | None) -> Any:
    """The sum of what arrived for a leaf is about to be added to its gradient."""
    if result is None:
        return None
    run.opened = 0
    if rule.parts:
        return None  # each contribution has a row already
    origin = next(iter(rule.origins(run)), 0)
    replaced = rule.receive(result, origin, run)
    return None if replaced is None else (replaced,)


def _form_of_leaf(rule: Rule, known: Known, run: Run, result: torch.Tensor, origin: int) -> Keeping | None:
    """The template of the row of a contribution to a leaf's gradient; None where the leaf is gone."""
    session = rule.session
    leaf = known()
    if leaf is None:
        return None
    if known.row < session.writer.low:
        session.leaves.leaf(leaf, run.frame, None, known)
    more = known.extended()
    arrivals: Arrivals | None = more.arrivals
    kind = shape_of(result), tensor_base.dtype(result), run.place.thread
    if arrivals is None or (arrivals.shape, arrivals.dtype, arrivals.thread) != kind:
        arrivals = more.arrivals = session.arrivals.get(kind)
    if arrivals is None:
        arrivals = more.arrivals = session.arrivals[kind] = Arrivals(session, *kind)
    fresh = not rule.parts and (tensor_base.gradient(leaf) is None or more.zeroed)
    more.zeroed = False
    if origin > 0:
        return arrivals.fresh if fresh else arrivals.added
    return arrivals.first[not fresh]
