"""Sessions: run what is fetched of a graph, with what is fed; each run is recorded like any other."""

from __future__ import annotations

import contextvars
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record, training_steps
from graphscope.eventlog.schema import Kind
from graphscope.static.graphs import interpreter, run_recorder
from graphscope.static.graphs.graph import Node, Value, walk
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.passes.telling import tell_run
from graphscope.static.sessions.default_graph import get_default_graph
from graphscope.static.words.missing import absent
from graphscope.static.words.tensors import Operation

_sessions: contextvars.ContextVar[tuple[Session, ...]] = contextvars.ContextVar("sessions", default=())


class Session:
    """Runs a graph.

    Args:
        target: Accepted for TensorFlow's sake: there is one machine.
        graph: The graph; the default one if it is left out.
        config: Accepted, likewise.
    """

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        self._builder: Builder = (get_default_graph() if graph is None else graph).builder
        self._closed = False
        self._runs = itertools.count(1)
        self._plans: dict[Any, list[Node]] = {}
        self._nodes: tuple[int, set[Node]] = 0, set()

    @property
    def graph(self) -> Any:
        """The graph that it runs."""
        return self._builder.graph

    def run(self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: Any = None) -> Any:
        """Compute what is fetched, and no more than that takes.

        Args:
            fetches: Tensors, nodes or their names, alone or in lists, tuples and dicts of any depth.
            feed_dict: What stands for tensors in this run: by tensor or name, arrays, tensors or numbers. Any tensor
                can be fed; what leads to it is not computed then.
            options: Accepted for TensorFlow's sake.

        Returns:
            NumPy arrays in the form of `fetches`; None for nodes that give nothing.

        Raises:
            StaticError: The session is closed, a fetch or feed is unknown, a placeholder that is needed was not fed,
                or what was fed does not fit.
        """
        asked = leaves_of(fetches)
        wanted = [self.named(fetch) for fetch in asked]
        values = self.fed(feed_dict or {})
        key = (tuple(wanted), tuple(values), len(self.graph.nodes))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = walk(wanted, stop=values)
        self._run(plan, wanted, values)
        found = zip(asked, wanted, strict=True)
        return with_leaves(fetches, [None if _is_operation(fetch) else _shown(values[value]) for fetch, value in found])

    def close(self) -> None:
        """Let it run nothing any more."""
        self._closed = True

    @contextmanager
    def as_default(self) -> Iterator[Self]:
        """`tensor.eval()` and `node.run()` inside speak of this session."""
        before = _sessions.get()
        _sessions.set((*before, self))
        try:
            yield self
        finally:
            _sessions.set(before)

    def __enter__(self) -> Self:
        _sessions.set((*_sessions.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _sessions.set(_sessions.get()[:-1])
        self.close()

    def __getattr__(self, name: str) -> Any:
        raise absent(f"Session.{name}")

    # Inside ----------------------------------------------------------------------------------------------------------

    def _run(self, plan: Sequence[Node], wanted: Sequence[Value], values: dict[Value, Any]) -> None:
        if self._closed:
            raise StaticError("the session is closed", hint="open another: with static.Session() as session: ...")
        fed = list(values)
        number = next(self._runs)
        began: int | None = None
        with self._builder.active(), modes.grad_mode(True):
            if record.writer is not None:
                began = record.writer.mark(
                    Kind.PRINT,
                    text=f"run {number}: fetches {_listed(wanted)}; feeds {_listed(fed)}",
                    run=number,
                    fetches=[value.name for value in wanted],
                    feeds=[value.name for value in fed],
                    nodes=[[v.node.name, v.node.op, 1] for v in fed]
                    + [[n.name, n.op, _feedable(n), [each.name for each in n.after]] for n in plan],
                )
                run_recorder.tell(record.writer, values, began)
                tell_run(f"fetches {_listed(wanted)}", plan, fed, wanted)
            try:
                interpreter.run_nodes(plan, values, self.graph, began)
            except Exception as error:
                node = getattr(error, "node_that_failed", None)
                if node is None or isinstance(error, StaticError):
                    raise
                told = ", ".join(value.name for value in node.values) or "what it needs"
                inside = node not in self._known()
                cure = f"tf.Print({told}, [{told}]) in the body shows" if inside else f"fetch {told} to see"
                raise StaticError(
                    f"{node.where} failed: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}",
                    hint=f"{cure} what it was given",
                ) from error
            training_steps.step()

    def fed(self, feed_dict: Mapping[Any, Any]) -> dict[Value, Any]:
        """What is fed, by value, as tensors.

        Raises:
            StaticError: Something is unknown, or does not fit.
        """
        found: dict[Value, Any] = {}
        for key, what in feed_dict.items():
            value = self.named(key)
            if not _feedable(value.node):
                raise StaticError(
                    f"{value.node.where} can't be fed: it gives nothing", hint="leave it out of feed_dict"
                )
            if isinstance(what, Symbol):
                raise StaticError(
                    f"{value.node.where} was fed the tensor {what.name!r} of a graph", hint="feed what a run gave of it"
                )
            try:
                found[value] = interpreter.fed(value, what)
            except StaticError:
                raise
            except (ValueError, TypeError) as error:
                raise StaticError(
                    f"{value.node.where} can't be fed {type(what).__name__}: {error}", hint="feed an array"
                ) from None
        return found

    def named(self, thing: Any) -> Value:
        """The value that a tensor, node or name means in this session's graph.

        Raises:
            StaticError: There is none.
        """
        if thing is None:
            raise StaticError(
                "None can't be fetched or fed", hint="gradients gives None where ys do not depend on an x"
            )
        if isinstance(thing, Value):
            value = thing
        elif isinstance(thing, Symbol):
            value = thing.output
        elif isinstance(thing, Node):
            value = thing.outputs[0]
        elif isinstance(thing, Operation):
            value = thing.node.outputs[0]
        elif isinstance(thing, str):
            name, _, slot = thing.rpartition(":") if thing.rpartition(":")[2].isdigit() else (thing, "", "0")
            node = self.graph[name]
            if int(slot) >= len(node.outputs):
                raise StaticError(f"{node.where} has no output {slot}", hint=f"it has {len(node.outputs)}")
            value = node.outputs[int(slot)]
        else:
            raise StaticError(
                f"{thing!r} ({type(thing).__name__}) is neither tensor nor node of a graph",
                hint="fetch and feed what placeholder, Variable and the ops gave, or their names",
            )
        if value.node not in self._known():
            raise StaticError(
                f"{value.node.where} is no node of the graph of this session",
                hint="open the session with graph=..., or build in the default graph",
            )
        return value

    def _known(self) -> set[Node]:
        if self._nodes[0] != len(self.graph.nodes):
            self._nodes = len(self.graph.nodes), set(self.graph.nodes)
        return self._nodes[1]


class InteractiveSession(Session):
    """A session that is the one entered from the moment it is made until it is closed: for a prompt."""

    def __init__(self, target: str = "", graph: Any = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        _sessions.set((*_sessions.get(), self))

    def close(self) -> None:
        """Let it run nothing any more, and be entered no more."""
        _sessions.set(tuple(each for each in _sessions.get() if each is not self))
        super().close()


def get_default_session() -> Session | None:
    """The innermost session that is entered."""
    return _sessions.get()[-1] if _sessions.get() else None


def evaluated(value: Value | Symbol, feed_dict: Mapping[Any, Any] | None, session: Session | None) -> Any:
    """What `tensor.eval()` gives.

    Raises:
        StaticError: No session is given and none is entered.
    """
    chosen = session or get_default_session()
    if chosen is None:
        raise StaticError("no session is entered here", hint="with static.Session(): ..., or eval(session=...)")
    return chosen.run(value, feed_dict)


def _is_operation(fetch: Any) -> bool:
    """Whether a fetch asks that something runs, and for no value."""
    return isinstance(fetch, Operation) or (isinstance(fetch, str) and not fetch.rpartition(":")[2].isdigit())


def _feedable(node: Node) -> int:
    return int(node.op not in ("group", "assert"))


def _listed(values: Iterable[Value]) -> str:
    return ", ".join(value.name for value in values) or "nothing"


def _shown(found: Any) -> Any:
    return (np.asarray(found.array) if found.array.ndim else found.array) if isinstance(found, Tensor) else found
