"""Logs written by hand: a tape with the rows that a recording would have, so that tests know what must come out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.eventlog.writer import Writer

RULES = {
    "mul": [lambda g, x, y: g * y, lambda g, x, y: g * x],
    "add": [lambda g, x, y: g, lambda g, x, y: g],
    "mm": [lambda g, x, y: g @ y.T, lambda g, x, y: x.T @ g],
    "tanh": [lambda g, x: g * (1 - np.tanh(x) ** 2)],
    "sum": [lambda g, x: np.broadcast_to(g, x.shape)],
}
FORWARD: dict[str, Callable[..., Any]] = {
    "mul": np.multiply,
    "add": np.add,
    "mm": np.matmul,
    "tanh": np.tanh,
    "sum": np.sum,
}


class Tape:
    """Runs ops on arrays, writes what the contract says into a log, and keeps the same facts as plain Python."""

    def __init__(self, path: Path) -> None:
        self.writer = Writer(path)
        self.values: dict[int, np.ndarray] = {}
        self.inputs: dict[int, list[tuple[int, int]]] = {}
        self.ops: dict[int, str] = {}
        self.leaves: set[int] = set()
        self.fresh: set[int] = set()
        self._lines: dict[int, tuple[int, int, int]] = {}

    def site(self, line: int, column: int = 0, file: str = "/home/me/model.py", end: int | None = None) -> int:
        end_column = column + 5 if end is None else end
        entry = {"file": file, "line": line, "column": column, "end_line": line, "end_column": end_column}
        return self.writer.intern("sites", (file, line, column, end_column), {**entry, "function": "main"})

    def source(self, text: str, file: str = "/home/me/model.py") -> None:
        self.writer.intern("sources", file, {"file": file, "text": text})

    def scope(self, *names: str) -> int:
        number = 0
        for depth in range(1, len(names) + 1):
            entry = {"name": names[depth - 1], "type": "Module", "parent": number}
            number = self.writer.intern("scopes", names[:depth], entry)
        return number

    def leaf(self, value: Any, name: str | None = None, *, line: int = 1, flags: Flag = Flag(0), scope: int = 0) -> int:
        attrs = {"name": name} if name else {}
        row = self._row(Kind.LEAF, np.asarray(value, np.float32), line, scope=scope, flags=flags, attrs=attrs)
        self.leaves.add(row)
        return row

    def op(self, name: str, *inputs: int, line: int = 1, column: int = 0, scope: int = 0, **attrs: Any) -> int:
        value = FORWARD[name](*(self.values[row] for row in inputs))
        pairs = [(row, 0) for row in inputs]
        return self._row(Kind.OP, value, line, op=name, column=column, scope=scope, inputs=pairs, attrs=attrs)

    def backward(self, root: int) -> None:
        """A backward pass from `root`, written as an engine would: latest node first, one row a contribution."""
        self.writer.mark(Kind.BACKWARD_BEGIN, inputs=(root,))
        due: dict[int, list[tuple[np.ndarray, int, int]]] = {root: []}
        while due:
            node = max(due)
            arrived = due.pop(node)
            where = {"line": self._lines[node][0], "column": self._lines[node][1], "scope": self._lines[node][2]}
            if len(arrived) > 1:
                parts = [
                    self._row(Kind.ACCUMULATE, value, inputs=[(row, slot)], forward=node, **where)
                    for value, row, slot in arrived
                ]
                origins = [(row, 0) for row in parts]
            else:
                origins = [(row, slot) for _, row, slot in arrived]
            total = sum((value for value, _, _ in arrived), np.zeros_like(self.values[node])) if arrived else None
            total = np.ones_like(self.values[node]) if total is None else total
            grad = self._row(Kind.GRAD, total, op=self.ops[node], inputs=origins, forward=node, **where)
            arguments = [self.values[row] for row, _ in self.inputs[node]]
            for argument, (source, _) in enumerate(self.inputs[node]):
                value = np.asarray(RULES[self.ops[node]][argument](total, *arguments), np.float32)
                if source in self.leaves:
                    self.accumulate(source, value, grad, argument)
                else:
                    due.setdefault(source, []).append((value, grad, argument))
        self.writer.mark(Kind.BACKWARD_END, inputs=(root,))

    def accumulate(self, leaf: int, value: np.ndarray, grad: int, argument: int) -> int:
        flags = Flag(0) if leaf in self.fresh else Flag.FRESH
        self.fresh.add(leaf)
        line = self._lines[leaf][0]
        return self._row(Kind.ACCUMULATE, value, line, inputs=[(grad, argument)], forward=leaf, flags=flags)

    def _row(
        self,
        kind: Kind,
        value: np.ndarray,
        line: int = 1,
        *,
        op: str = "",
        column: int = 0,
        scope: int = 0,
        inputs: Sequence[tuple[int, int]] = (),
        forward: int = 0,
        flags: Flag = Flag(0),
        attrs: dict[str, Any] | None = None,
    ) -> int:
        value = np.asarray(value, np.float32)
        entry = {"name": op, "formula": f"out = {op}", "doc": "", "vjp": ["g"], "inputs": ["x"]}
        template = self.writer.template(
            kind,
            op=self.writer.intern("ops", op, entry) if op else 0,
            site=self.site(line, column),
            scope=scope,
            shape=value.shape,
            dtype=value.dtype,
            attrs=self.writer.attributes(attrs or {}),
            graph_pass=Pass.BACKWARD if kind in (Kind.GRAD, Kind.ACCUMULATE) else Pass.FORWARD,
            input_count=len(inputs),
            flags=flags,
        )
        row = self.writer.append_wide(template, [(value, template.keep)], inputs, forward=forward)
        self.values[row] = value
        self.inputs[row] = list(inputs)
        self.ops[row] = op
        self._lines[row] = (line, column, scope)
        return row

    def log(self) -> Log:
        return load(self.writer.path)


@pytest.fixture(scope="module")
def make_tape(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Tape]:
    folder = tmp_path_factory.mktemp("tapes")
    numbers = itertools.count()
    return lambda: Tape(folder / f"{next(numbers)}.gscope")


@pytest.fixture
def tape(make_tape: Callable[[], Tape]) -> Tape:
    return make_tape()
