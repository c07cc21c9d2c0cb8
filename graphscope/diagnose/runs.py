"""A run of a sweep in a few facts, which are small enough to be gathered from thousands of logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.doctor import examined
from graphscope.diagnose.finding import Finding, with_consequences
from graphscope.diagnose.ranks.log_ends import state_of
from graphscope.diagnose.ranks.reading import Unread
from graphscope.errors import LogError
from graphscope.eventlog.reader import load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.wholeness import cut
from graphscope.graph import Graph, series
from graphscope.graph.outline import facts
from graphscope.graph.outline.steps import steps
from graphscope.graph.step_marks import step_ends
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

CURVE: Final = 100
"""So many points a curve of losses has at most."""


@dataclass(frozen=True)
class Run:
    """What one run was given, and how it went; None stands for what its log does not tell."""

    name: str
    log: str
    ranks: int
    program: str
    arguments: Mapping[str, str]
    """What the program was given: `--lr 0.1` is `lr`, of words without a name the first is `1`."""
    state: str
    missing: str
    """What of its log is not there, as words; empty where all is."""
    rows: int
    steps: int
    first_rate: float | None
    """The learning rate of the first step, and of the last one; of several optimizers that of the last."""
    last_rate: float | None
    loss: float | None
    """The last one."""
    best: float | None
    gradient: float | None
    """The norm of all gradients in the last step."""
    seconds: float | None
    """How long a step takes, the median."""
    nan: str
    """Where the first NaN or Inf was born: `log at train.py:12`, and the step; empty where none was."""
    found: tuple[str, ...]
    """What the doctor finds, `nan train.py:12`: the causes, the worst first, then what came of them."""
    curve: tuple[float, ...] = field(default=(), repr=False)
    """Losses, thinned out."""


def read_run(named: tuple[Path, str, int]) -> Run | Unread:
    """What a log says of its run, which is to be called so and has so many ranks."""
    path, name, ranks = named
    try:
        log = load(path)
        return _run(log, name, ranks)
    except LogError as error:
        return Unread(path, name, error.message)


def arguments_of(words: Sequence[str]) -> dict[str, str]:
    """What a program was given, by name: `--lr 0.1`, `--lr=0.1`, `lr=0.1`; a switch alone is `yes`."""
    return dict(_arguments(words))


def _arguments(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    place = count = 0
    while place < len(words):
        word = words[place]
        following = words[place + 1] if place + 1 < len(words) else "-"
        place += 1
        if match := re.fullmatch(r"-{0,2}([A-Za-z_][\w.-]*)=(.*)", word, re.DOTALL):
            yield match[1], match[2]
        elif match := re.fullmatch(r"--?([A-Za-z_][\w.-]*)", word):
            has_value = not following.startswith("-") or _is_number(following)
            yield match[1], following if has_value else "yes"
            place += has_value
        else:
            count += 1
            yield str(count), word


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _run(log: Log, name: str, ranks: int) -> Run:
    argv = [str(word) for word in log.metadata.get("argv") or [""]]
    losses, rates, seconds = _losses(log), _rates(log), steps(log).durations(log) / 1e9
    known = losses[np.isfinite(losses)]
    graph = Graph(log)
    report = examined(graph)
    findings = [*report, *(each for root in report for each in with_consequences(root.consequences))]
    found = Run(
        name=name,
        log=str(log.path),
        ranks=ranks,
        program=Path(argv[0]).name,
        arguments=arguments_of(argv[1:]),
        state=state_of(log),
        missing=cut(log),
        rows=len(log),
        steps=series.steps_made(log) or len(seconds),
        first_rate=float(rates[0]) if len(rates) else None,
        last_rate=float(rates[-1]) if len(rates) else None,
        loss=float(losses[-1]) if len(losses) else None,
        best=float(known.min()) if len(known) else None,
        gradient=_gradient(graph),
        seconds=float(np.median(seconds)) if len(seconds) else None,
        nan=next((_born(each) for each in findings if each.kind == "nan"), ""),
        found=tuple(dict.fromkeys(f"{each.kind} {each.place}".rstrip() for each in findings)),
        curve=_thinned(losses),
    )
    log.release()
    return found


def _losses(log: Log) -> np.ndarray:
    """The losses of all steps; of a log that leaves out steps also of those."""
    every = series.every_step(log)
    if len(every):
        return np.asarray(every["loss"][every["has_loss"]])
    return np.asarray(series.losses(log)["value"])


def _rates(log: Log) -> np.ndarray:
    """The learning rates of all steps, likewise: of the first parameter of the optimizer that ends a step."""
    every = series.every_step(log)
    if len(every):
        return np.asarray(every["rate"][~np.isnan(every["rate"])])
    updates, end = series.norms(log), step_ends(log)[:1]
    others = log.marks(Kind.STEP, stop=int(end[0])) if len(end) else end
    updates = updates[~np.isnan(updates["rate"])]  # what other ranks have updated came with none
    first = updates["tensor"][updates["row"] > others[-1]][:1] if len(others) else updates["tensor"][:1]
    return np.asarray(updates["rate"][updates["tensor"] == first])


def _thinned(losses: np.ndarray) -> tuple[float, ...]:
    if not len(losses):
        return ()
    return tuple(losses[np.unique(np.linspace(0, len(losses) - 1, CURVE).astype(int))].tolist())


def _gradient(graph: Graph) -> float | None:
    """The norm in the last step that has a backward pass."""
    known, counts = steps(graph.log), step_numbers(graph.log).counts
    for place in reversed(range(len(known))):
        begins = known.begins[list(known.passes_of(place))]
        if len(begins):
            first, last = int(known.first[place]), int(known.last[place])
            return facts.of_step(graph, first, last, begins, int(counts[place])).norm
    return None


def _born(found: Finding) -> str:
    when = f", {found.step}" if found.step else ""
    return f"{found.place}{when}"
