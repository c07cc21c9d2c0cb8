"""What a run did, small enough to commit: statistics and a hash of what its first steps computed, and its course."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.compare.first_steps import COURSE, course
from graphscope.compare.sides import side
from graphscope.compare.steps import Step, steps
from graphscope.errors import LogError
from graphscope.eventlog.schema import NODES
from graphscope.graph import Graph

if TYPE_CHECKING:
    from graphscope.compare.difference import When
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

FORMAT: Final = 1
STEPS: Final = 3
"""Of so many steps single nodes are kept."""
_MOST_NODES: Final = 240
_MOST_STEPS: Final = 100
"""So many nodes are kept in all, spread over these steps, and the course of so many steps."""
_DIGITS: Final = 9

Key = tuple[int, str, str, str, int]
"""Step, part, module, op, and how often that has run in this step."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a node."""

    step: int
    part: When
    scope: str
    op: str
    count: int
    """How many of the same step, part, module and op ran before it."""
    name: str
    shape: tuple[int, ...]
    dtype: str
    statistics: tuple[float, float, float, float] | None
    """Minimum, maximum, mean and standard deviation; None where the log does not have them."""
    hash: str
    """Of the value, bit for bit; empty where that was not kept."""
    file: str
    line: int
    source: str

    @property
    def key(self) -> Key:
        """By which nodes of two runs belong together."""
        return self.step, self.part, self.scope, self.op, self.count


@dataclass(frozen=True)
class Baseline:
    """What a run did."""

    nodes: tuple[Kept, ...]
    course: np.ndarray
    """A COURSE for each step."""
    path: Path = Path("baseline.json")

    def data(self) -> dict[str, Any]:
        """What the file holds."""
        rows = [[_number(value) for value in each.tolist()] for each in self.course]
        nodes = [[getattr(each, name) for name in _FIELDS] for each in self.nodes]
        return {"format": FORMAT, "course": {"fields": list(COURSE.names or ()), "steps": rows}, "nodes": nodes}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file: a line for each node, so that a change of it is read as one."""
        told = self.data()
        nodes = ",\n".join(json.dumps(each, separators=(",", ":")) for each in told.pop("nodes"))
        text = f'{json.dumps(told)[:-1]}, "nodes": [\n{nodes}\n]}}\n'
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")


_FIELDS: Final = tuple(each for each in Kept.__slots__)


def save_baseline(log: Log, path: str | os.PathLike[str]) -> Baseline:
    """Keep in a file what a run did."""
    found = baseline_of(log, _MOST_NODES)
    found.save(path)
    return found


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """What a file keeps of a run.

    Raises:
        LogError: It can't be read, or is none.
    """
    hint = "graphscope diff --save-baseline FILE LOG writes one"
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise LogError(f"{path} has format {told['format']}, and {FORMAT} is read", hint=hint)
        fields = told["course"]["fields"]
        rows = np.full(len(told["course"]["steps"]), np.nan, COURSE)
        for place, row in enumerate(told["course"]["steps"]):
            for name, value in zip(fields, row, strict=True):
                rows[name][place] = math.nan if value is None else float(value)
        return Baseline(tuple(_kept(each) for each in told["nodes"]), rows, Path(path))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LogError(f"{path} is no baseline: {error}", hint=hint) from error


def baseline_of(log: Log, most: int | None = None) -> Baseline:
    """What a run did; where `most` is given, of so many nodes."""
    nodes = [each for step in steps(log)[:STEPS] for each in _nodes(log, step, most)]
    return Baseline(tuple(nodes), course(log)[: _MOST_STEPS if most else None])


def _nodes(log: Log, step: Step, most: int | None) -> Iterator[Kept]:
    graph, counts = Graph(log), Counter[tuple[str, str, str]]()
    rows = step.start + np.flatnonzero(np.isin(log.column("kind", step.start, step.stop), NODES))
    every = 1 if most is None else max(math.ceil(len(rows) * STEPS / most), 1)
    for place, row in enumerate(rows.tolist()):
        node, part = graph.node(row), step.part(row)
        same = (part, node.scope, node.op)
        if place % every == 0 or place == len(rows) - 1:
            yield _described(node, step.number, part, counts[same])
        counts[same] += 1


def _described(node: Node, step: int, part: When, count: int) -> Kept:
    told, value = side(node), node.value
    found = None if not node.dtype else node.summary
    statistics = None
    if found is not None and found.finite:
        statistics = _rounded(found.minimum), _rounded(found.maximum), _rounded(found.mean), _rounded(found.std)
    digest = "" if value is None else hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=6).hexdigest()
    file = PurePath(told.file.replace("\\", "/")).name
    return Kept(
        step, part, node.scope, node.op, count, node.name, node.shape, node.dtype, statistics, digest, file, told.line,
        told.source,
    )  # fmt: skip


def _kept(told: list[Any]) -> Kept:
    fields = dict(zip(_FIELDS, told, strict=True))
    fields["shape"] = tuple(fields["shape"])
    fields["statistics"] = None if fields["statistics"] is None else tuple(fields["statistics"])
    return Kept(**fields)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _number(value: float) -> float | None:
    return _rounded(value) if math.isfinite(value) else None
