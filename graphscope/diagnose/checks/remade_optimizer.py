"""An optimizer that is made for each step, and so forgets what it keeps from step to step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.optimizer_order import last_before
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.graph.training import Optimizer, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 4
"""So many must have been made at one line, for the same parameters, and have made one step each."""

_REMEMBERING: Final = ("betas", "momentum", "alpha", "rho")
"""Settings that say how much of earlier gradients is kept."""


class Remade(NamedTuple):
    """Optimizers of one line and the same parameters, each of which made one step."""

    optimizer: Optimizer
    steps: np.ndarray


@check(
    "optimizer made for each step",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        for _ in range(6):
            optimizer = torch.optim.Adam([weight], lr=0.01)
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        for _ in range(6):
            optimizer = torch.optim.SGD([weight], lr=0.01)
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def remade_optimizer(graph: Graph) -> Iterator[Finding]:
    """An optimizer with momentum or moments is made anew for each step, so that it never has any.

    Where parameters are set back in between, as of networks that adapt to one task after another, each begins afresh.
    """
    read = training(graph.log)
    for optimizer, steps in _remade(graph.log):
        kept = ", ".join(name for name in _REMEMBERING if _keeps(optimizer, name))
        verdict = (
            f"{optimizer.type} is made anew for each of {len(steps)} steps, and each time forgets what it keeps of "
            f"earlier gradients ({kept})"
        )
        cure = "make the optimizer once, ahead of the loop"
        yield Finding(
            "remade_optimizer", "warning", int(steps[_LEAST - 1]), None, *read.place(optimizer.site), (), "made anew",
            verdict, cure, {"steps": len(steps)}, first_row=int(steps[1]),
        )  # fmt: skip


def _remade(log: Log) -> list[Remade]:
    read = training(log)
    alike: dict[tuple[int, frozenset[int]], list[Optimizer]] = {}
    for each in read.optimizers.values():
        if each.is_told and each.site and any(_keeps(each, name) for name in _REMEMBERING):
            alike.setdefault((each.site, each.tensors), []).append(each)
    found = (_of_line(read, group) for group in alike.values() if len(group) >= _LEAST)
    return [each for each in found if each is not None]


def _of_line(read: Training, optimizers: list[Optimizer]) -> Remade | None:
    steps = [read.rows("step", owner=each.number) for each in optimizers]
    if any(len(each) != 1 for each in steps) or any(_is_loaded(read, each) for each in optimizers):
        return None
    rows = np.concatenate(steps)
    written = parameter_rows(read.log).written.of(optimizers[0].tensors).rows
    written = written[(written > rows[0]) & (written < rows[-1])]
    ahead = rows[np.searchsorted(rows, written)]
    is_set_back = bool((written < read.begins(ahead)).any())
    return None if is_set_back or _modules_are_loaded(read, rows) else Remade(optimizers[0], rows)


def _is_loaded(read: Training, optimizer: Optimizer) -> bool:
    return bool(len(read.rows("load_state_dict", owner=optimizer.number)))


def _modules_are_loaded(read: Training, steps: np.ndarray) -> bool:
    loaded = read.rows("load_state_dict")
    return bool((last_before(loaded, steps[1:]) > steps[0]).any())


def _keeps(optimizer: Optimizer, name: str) -> bool:
    values: list[Any] = [group.settings.get(name) for group in optimizer.groups]
    return any(any(value) if isinstance(value, list | tuple) else bool(value) for value in values)
