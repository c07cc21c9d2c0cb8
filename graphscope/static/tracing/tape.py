"""The log of a traced run, whose rows become nodes of a graph as they are written."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.engine.core.op import OPS, arity, completed
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.writes import buffer
from graphscope.engine.ops.view_layout import place_of
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.names import Site
from graphscope.eventlog.sampling import Sampling
from graphscope.eventlog.schema import SLOT_SHIFT, Flag, Kind
from graphscope.eventlog.typed import Input
from graphscope.static.graphs.graph import Graph, Node, Value

_FIRST: Final = 1 << 40
"""Rows of tapes begin here: above those of any recording, so that neither takes the other's for its own."""
_INDEXING: Final = {"getitem": 1, "setitem": 2}
"""Ops that know the elements of an index as an attribute, and where among the operands the tensors of it begin."""
_bases: Final = itertools.count(_FIRST, 1 << 28)


@dataclass(slots=True)
class _Template:
    """What rows of one call site share."""

    kind: Kind
    fields: dict[str, Any]
    keep: int = 0
    flags: int = 0
    inline: bool = False


class _Table(dict[Any, int]):
    """An interned table: what each number stands for is kept in `entries`."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Any] = [None]

    def find(self, key: Any) -> int | None:
        """The number of an entry."""
        return self.get(key)

    def intern(self, key: Any, entry: Any) -> int:
        """The number of an entry, which is added when it is new."""
        if key not in self:
            self[key] = len(self.entries)
            self.entries.append((key, entry))
        return self[key]


class _Sites(dict[Any, Any]):
    """Call sites; the one that was looked up last is the one that the next row is of."""

    last: Any = None

    def get(self, key: Any, default: Any = None) -> Any:
        found = super().get(key, default)
        return found if getattr(found, "kind", found) is None else None

    def __setitem__(self, key: Any, site: Any) -> None:
        super().__setitem__(key, site)
        self.last = site


class Tape:
    """A log that is a graph: the engine writes to it as to any log.

    Writes in place arrive as new versions of a tensor, of what it is a view of, and of the views of that: so the graph
    has none.

    Args:
        graph: Where the nodes go.
    """

    policy = "none"
    cap = 0
    gate = None
    is_ring = False
    closed = False
    broken = None

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sampling = Sampling(every=1, keep_last=None)  # no step is left out
        self.base = self.low = self.recent = self._end = next(_bases)
        self.sites = _Sites()
        self.variants: dict[Any, Any] = {}
        self.tables = {name: _Table() for name in ("ops", "sites", "scopes", "sources", "attrs", "threads", "shapes")}
        self.leaves: list[Tensor] = []
        self.made_of_numbers: list[tuple[Tensor, Site | None, str]] = []
        """Tensors that the function made of numbers: frozen."""
        self.guards: list[Node] = []
        self.clock: Callable[[], int] = lambda: 0
        self._values: dict[int, Value] = {}
        self._arrays: dict[Value, Any] = {}
        self._memory: dict[int, list[int]] = {}
        """Rows by the memory that they look at."""
        self._leaf: tuple[Site | None, str] = (None, "")

    # What the engine asks of a log -----------------------------------------------------------------------------------

    @property
    def end(self) -> int:
        """The row after the last."""
        return self._end

    def op(self, *_: Any) -> None:
        """No short way: every row is told in full."""
        return

    def finish(self, row: int, start: int) -> int:
        """Nothing is timed."""
        return 0

    def attributes(self, attrs: dict[str, Any]) -> int:
        """Call sites keep them; only what a leaf says of itself is looked at here."""
        return self.tables["attrs"].intern(len(self.tables["attrs"].entries), attrs)

    def argument(self, site: int, place: int) -> int:
        """What the program calls a leaf is not looked at."""
        return 0

    def intern(self, table: str, key: Any, entry: Any) -> int:
        """The number of an entry of a table."""
        return self.tables[table].intern(key, entry)

    def template(self, kind: Kind, **fields: Any) -> _Template:
        """What rows of one call site share."""
        return _Template(kind, fields)

    def thread(self) -> int:
        """A function is traced by one thread."""
        return 0

    def mark(self, kind: Kind, **_: Any) -> int:
        """Marks are no part of a graph."""
        return self.step()

    def step(self) -> int:
        """Nor are steps."""
        return self._end - 1

    def append(
        self, template: _Template, value: Any, time: int = 0, duration: int = 0, forward: int = 0, first: int = 0,
        second: int = 0, third: int = 0, tensor: int | None = None,
    ) -> int:  # fmt: skip
        """A row of one output."""
        count = template.fields.get("input_count", 0)
        return self._row(template, [value], [first, second, third][:count])

    def append_many(self, template: _Template, value: Any, rows: Sequence[int], *_: Any) -> int:
        """A row of one output and any number of inputs."""
        return self._row(template, [value], list(rows)[: template.fields["input_count"]])

    def append_wide(self, template: _Template, pairs: Sequence[Any], edges: Sequence[tuple[int, int]], *_: Any) -> int:
        """A row of any number of inputs and outputs."""
        return self._row(template, [pair[0] for pair in pairs], [row | slot << SLOT_SHIFT for row, slot in edges])

    def on_leaf(self, row: int, tensor: Tensor) -> None:
        """A tensor that no op of this run made: it lives beside the graph, or was made of numbers just now."""
        site, function = self._leaf
        self.leaves.append(tensor)
        if function:
            self.made_of_numbers.append((tensor, site, function))
            node = self.graph.append("constant", (), {"value": tensor.array}, name=function, site=site)
        else:
            node = self.graph.append("variable", (), {"tensor": tensor}, name=tensor.name, site=site)
        self._put(row, 0, node.outputs[0], tensor.array)

    # Rows to nodes ---------------------------------------------------------------------------------------------------

    def take(self, tensor: Tensor, value: Value) -> None:
        """Let a tensor stand for an input of the graph."""
        tensor.row = self._end
        self._end += 1
        self.leaves.append(tensor)
        self._put(tensor.row, 0, value, tensor.array)

    def read(self, value: Value, site: Site | None) -> None:
        """The program looked at the numbers of a value: they have to be the same again."""
        attributes = {"expected": np.array(self._arrays[value])}
        self.guards.append(self.graph.append("guard", (value,), attributes, site=site))

    def value_of(self, tensor: Tensor) -> Value:
        """What a tensor stands for."""
        if tensor.row < self.base:
            self._leaf = (None, "")
            tensor.row = self._end
            self._end += 1
            self.on_leaf(tensor.row, tensor)
        return self._values[tensor.row]

    def _put(self, row: int, slot: int, value: Value, array: Any) -> None:
        number = row | slot << SLOT_SHIFT
        if isinstance(array, np.ndarray) and number not in self._values:
            self._memory.setdefault(id(buffer(array)), []).append(number)
        self._values[number] = value
        self._arrays[value] = array

    def _row(self, template: _Template, values: list[Any], rows: list[int]) -> int:
        row = self._end
        self._end += 1
        kind = template.kind
        if kind == Kind.LEAF:
            about = self._entry("attrs", template.fields.get("attrs", 0)) or {}
            self._leaf = (self._site(template), about.get("function", ""))
        elif kind == Kind.OP and not template.fields.get("flags", 0) & Flag.FAILED:
            self._node(template, row, values, rows)
        elif kind in (Kind.GRAD, Kind.ACCUMULATE, Kind.BACKWARD_BEGIN):
            raise StaticError(
                "a backward pass ran inside the function that is traced", hint="trace the loss, and differentiate that"
            )
        return row

    def _node(self, template: _Template, row: int, values: list[Any], rows: list[int]) -> None:
        site = self.sites.last
        name = self._entry_key("ops", template.fields["op"])
        where = self._site(template)
        op = OPS.get(name)
        if op is None:
            line = f"{where.file}:{where.line}" if where else "the traced function"
            raise StaticError(
                f"{name} at {line} is a Function with a backward of its own: it can't be part of a graph",
                hint="write it with ops, or call it outside what is traced",
            )
        attrs = completed(op, dict(site.attrs or {}))
        given = [self._values[number] for number in rows]
        if op.name == "copy_slices" and "_place" not in attrs:  # no gradients were remembered
            attrs["_place"] = place_of(*(self._arrays[value] for value in given))
        inputs: list[Any] = [*given]
        if site.operands is not None:
            inputs = [given[each.number] if isinstance(each, Input) else each for each in site.operands]
        inputs += [None] * (arity(op) - len(inputs))
        for index in inputs[_INDEXING.get(op.name, len(inputs)) :]:
            self.read(index, where)  # the elements of an index are an attribute: they have to be the same again
        types = [(np.shape(value), np.asarray(value).dtype) for value in values]
        scope = self._scope(template.fields.get("scope", 0))
        node = self.graph.append(op.name, inputs, attrs, site=where, scope=scope, types=types)
        for slot, (value, array) in enumerate(zip(node.outputs, values, strict=True)):
            self._put(row, slot, value, array)
        if op.in_place or op.name == "copy_slices":
            self._refresh_views(node.outputs[0], values[0], {row, *rows})

    def _refresh_views(self, owner: Value, array: Any, but: set[int]) -> None:
        """After a write, let what else looks at the memory be taken of what is there now."""
        if not isinstance(array, np.ndarray) or buffer(array) is not array:
            return  # of a view: what it is a view of follows
        for other in self._memory.get(id(array), ()):
            known = self._arrays[self._values[other]]
            if other not in but and known is not array and known.dtype == array.dtype:
                place = {"_place": place_of(array, known)}
                types = [(known.shape, known.dtype)]
                node = self.graph.append("take_view", (owner,), place, site=owner.node.site, types=types)
                self._put(other, 0, node.outputs[0], known)
            elif other not in but:
                self._put(other, 0, owner, known)

    # Names -----------------------------------------------------------------------------------------------------------

    def _entry(self, table: str, number: int) -> Any:
        return self.tables[table].entries[number][1] if number else None

    def _entry_key(self, table: str, number: int) -> Any:
        return self.tables[table].entries[number][0]

    def _site(self, template: _Template) -> Site | None:
        entry = self._entry("sites", template.fields.get("site", 0))
        return None if entry is None else Site(**entry)

    def _scope(self, number: int) -> str:
        names: list[str] = []
        while number:
            entry = self._entry("scopes", number)
            names.append(entry["name"])
            number = entry["parent"]
        return "/".join(names[::-1])


@contextmanager
def taped(graph: Graph) -> Iterator[Tape]:
    """Make a graph of what runs inside; a recording that is active pauses."""
    tape: Any = Tape(graph)
    try:
        with record.recording_to(tape):
            yield tape
    finally:
        for tensor in tape.leaves:
            tensor.row = tensor.first_row = -1
