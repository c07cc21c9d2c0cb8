"""A graph that breaks where the program runs most often, so that little is left of what torch.compile is for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.finding import Finding
from graphscope.eventlog.names import place_of
from graphscope.graph.compilation import Compilation, CompilerEvent, compilation
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.graph import Graph

_STEPS: Final = 3
"""So many training steps must have ended since."""
_TIMES: Final = 4
"""So often the program must come to the break in each of them."""
_IN_TORCH: Final = re.compile(r"[/\\]torch[/\\]")
_CURE: Final = "take this line out of what is compiled"


@check(
    "graph break in a loop",
    reads=("marks", "training", "rows"),
    shows="run",
    capture="compiled",
    sample="""
        import torch

        def layer(x):
            y = x.tanh()
            print(end="")
            return y * 2

        compiled = torch.compile(layer, backend="eager")
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for step in range(5):
            optimizer.zero_grad()
            loss = sum((compiled(weight) - target).square().sum() for target in (0.5, 1.0, 1.5, 2.0))
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        def layer(x):
            y = x.tanh()
            return y * 2

        compiled = torch.compile(layer, backend="eager")
        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        for step in range(5):
            optimizer.zero_grad()
            loss = sum((compiled(weight) - target).square().sum() for target in (0.5, 1.0, 1.5, 2.0))
            loss.backward()
            optimizer.step()
        """,
)
def graph_break(graph: Graph) -> Iterator[Finding]:
    """The graph of a compiled function breaks in a loop: it runs in many small pieces, or is not compiled at all.

    Nothing is said of breaks in PyTorch's own code, and of one that a step comes to but once.
    """
    log = graph.log
    found, ends = compilation(log), training(log).step_ends
    told = set()
    for event in found.of("break"):
        steps = len(ends) - int(np.searchsorted(ends, event.row))
        site = log.site(event.site)
        place = place_of(site)
        if steps < _STEPS or place in told or site is None or (site.caller and _IN_TORCH.search(site.file)):
            continue
        times = _runs(found, event) / steps
        is_skipped = any(each.compilation == event.compilation and each.row > event.row for each in found.of("skipped"))
        if not is_skipped and times < _TIMES:
            continue
        told.add(place)
        name = event.function or "a function"
        what = f"{name} is not compiled at all" if is_skipped else (
            f"{name} runs in pieces, {times:.3g} times in each training step"
        )  # fmt: skip
        verdict = f"{what}, because its graph breaks here: {event.title}"
        cure = event.hints[0].removesuffix(".") if event.hints else _CURE
        yield Finding(
            "graph_break", "warning", event.row, None, *place, (), "graph break", verdict, cure,
            {"training steps": steps, "breaks in each": times},
        )  # fmt: skip


def _runs(found: Compilation, event: CompilerEvent) -> int:
    """How often the piece ahead of a break ran, however often it was compiled."""
    own = [each for each in found.of("compiled") if each.number == event.number and each.function == event.function]
    return sum(len(region.rows) for each in own for region in found.regions_of(each))
